"""Connections to the file of a store, with limits.

The file may come from anywhere, so SQLite is told to trust nothing in it: no functions from its
schema, no values larger than ours, and no more work than its size explains.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from paramhs.core.errors import StoreError
from paramhs.execution.storage.problems import believed
from paramhs.execution.storage.schema import check_ours, check_pages

_MAX_BYTES = 100_000_000  # of one value: the description of a space with very many parameters
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
_SETTINGS = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
# Instructions of SQLite's machine for all that is done with a connection. Reading takes about 30
# for a run of 60 bytes or more, a few times over.
_MIN_WORK = 20_000_000
_WORK_PER_BYTE = 100
_CHECK_INSTRUCTIONS = 1_000_000  # between two checks


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Read-only connection; only values of the expected types are accepted."""
    with believed(path), closing(connect_to_read(path)) as db:
        yield db


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a store without changing anything."""
    if os.path.isdir(path):
        raise StoreError(f"{path} is a folder, not a store")
    if not os.path.exists(path):
        raise StoreError(f"there is no store {path}")
    if not os.path.isfile(path):
        raise StoreError(f"{path} is not a file")
    if os.path.getsize(path) == 0:
        raise StoreError(f"{path} is empty: no search has begun in it")
    uri = path.absolute().as_uri()
    try:
        return _checked(sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=10), path)
    except sqlite3.OperationalError:  # in a read-only folder, where no process can write the file
        if os.path.lexists(path.with_name(path.name + "-wal")):
            raise
        return _checked(sqlite3.connect(f"{uri}?immutable=1", uri=True), path)


def _checked(db: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    try:
        limit(db)
        bound_work(db, path)
        check_ours(db, path)
        check_pages(db, path)
    except BaseException:
        db.close()
        raise
    return db


def limit(db: sqlite3.Connection) -> None:
    """Distrust everything in the file."""
    for what, most in _LIMITS.items():
        db.setlimit(what, most)
    db.executescript(_SETTINGS)


def bound_work(db: sqlite3.Connection, path: Path) -> None:
    """Interrupt queries that take longer than the size of the file explains."""
    wal = path.with_name(path.name + "-wal")
    size = sum(os.path.getsize(file) for file in (path, wal) if os.path.exists(file))
    left = (_MIN_WORK + _WORK_PER_BYTE * size) // _CHECK_INSTRUCTIONS

    def look() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(look, _CHECK_INSTRUCTIONS)
