"""Small facts kept in a store beside its runs, in JSON types."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from paramhs.world.store.lock import WriterLock
from paramhs.world.store.sqlite import connect_to_read, explained


def keep_note(path: Path, name: str, fact: object) -> None:
    """Keep a fact under a name in a store that exists, in place of what was there."""
    with explained(path):
        lock = WriterLock(path)
        try:
            with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db:
                db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(fact)))
        finally:
            lock.release()


def read_note(path: Path, name: str) -> object:
    """The fact of this name; None if there is none."""
    with explained(path), closing(connect_to_read(path)) as db:
        row = db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])
