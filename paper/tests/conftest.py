"""Properties are tried on the same examples every time, however slow the machine."""

from hypothesis import settings

settings.register_profile("paramhs", deadline=None, derandomize=True)
settings.load_profile("paramhs")
