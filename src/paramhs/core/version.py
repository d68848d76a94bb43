"""Version of the installed package."""

__version__ = "0.2.0"
