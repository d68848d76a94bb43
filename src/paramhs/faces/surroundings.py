"""Whether anybody is looking, and where."""

import sys


def in_notebook() -> bool:
    """Whether there is a kernel that shows HTML; IPython is not imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def is_watched() -> bool:
    """Whether somebody sees what is drawn: in a notebook, or in a terminal."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
