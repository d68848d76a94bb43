"""Detection of notebooks and terminals."""

import sys


def in_notebook() -> bool:
    """Whether this is a notebook kernel that displays HTML; does not import IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def is_watched() -> bool:
    """Whether a person can see progress: in a notebook or a terminal."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
