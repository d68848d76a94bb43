"""Errors about the file of a store, as one readable message."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paramhs.core.errors import BadInput, StoreError

DAMAGED = "the file is damaged; `sqlite3 FILE .recover` may rescue its runs"
# Errors for a text, number, parameter value or status that no store of ours contains.
DAMAGE = (ValueError, BadInput, KeyError, MemoryError)
# Further errors of rebuilding objects from facts of another kind, or nested without end.
_MISFITS = (TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
_CAUSES = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk cannot be written or read",
    "SQLITE_READONLY": "it cannot be written: the file or its folder is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened: check the folder and its permissions, and that no file"
    " beside it (-wal, -shm, -journal) is a link",
    "SQLITE_NOTADB": "it is not an SQLite file",
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_INTERRUPT": f"{DAMAGED} (reading it takes far longer than its size explains)",
    "SQLITE_TOOBIG": DAMAGED,
    "SQLITE_BUSY": "another program is using it",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Convert errors of the file system or SQLite into a readable message."""
    try:
        yield
    except (sqlite3.Error, OSError, *DAMAGE) as error:
        raise trouble(path, error) from error


@contextmanager
def believed(path: Path, *passed: type[Exception]) -> Iterator[None]:
    """Convert errors of code that builds objects from a store, whose content is arbitrary.

    Errors of the types in `passed` are left to the caller.
    """
    try:
        yield
    except passed:
        raise
    except (sqlite3.Error, OSError, *DAMAGE) as error:
        raise trouble(path, error) from error
    except _MISFITS as error:
        raise StoreError(f"{path}: {DAMAGED} ({_brief(error)}).") from error


def trouble(path: Path, error: Exception) -> StoreError:
    """Build the message about an error."""
    if isinstance(error, OSError):
        cause = f"it cannot be used: {error.strerror or error}"
    elif isinstance(error, DAMAGE):
        cause = f"{DAMAGED} ({_brief(error)})"
    else:
        name = getattr(error, "sqlite_errorname", "")
        known = next((text for code, text in _CAUSES.items() if name.startswith(code)), "")
        cause = f"{known} ({_brief(error)})" if known else _brief(error)
    safe = "" if DAMAGED in cause else " Runs already stored are safe."
    return StoreError(f"{path}: {cause}.{safe}")


def _brief(error: Exception, most: int = 300) -> str:
    """Text of an error, which may quote the content of the file."""
    text = str(error) or type(error).__name__
    return text if len(text) <= most else f"{text[:most]} ..."
