"""What was made of a store's runs, kept beside them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from paramhs.world.store.lock import WriterLock
from paramhs.world.store.sqlite import connect_to_read, explained


def write_note(path: Path, name: str, text: str) -> None:
    """Keep a text in a store under a name, in place of one that is there; in one statement."""
    with explained(path):
        lock = WriterLock(path)
        try:
            with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db:
                db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, text))
        finally:
            lock.release()


def read_note(path: Path, name: str) -> str | None:
    """Read the text of this name; None if there is none."""
    with explained(path), closing(connect_to_read(path)) as db:
        row = db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])
