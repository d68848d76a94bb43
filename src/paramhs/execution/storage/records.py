"""The records in a store: the search, its verdicts, its ablation."""

import json
import sqlite3
from array import array
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from paramhs.execution.storage.connections import limit, reading
from paramhs.execution.storage.lock import WriterLock
from paramhs.execution.storage.problems import explained
from paramhs.execution.storage.row_checks import (
    fact_of,
    is_count,
    is_duration,
    is_total,
    table_of,
)
from paramhs.execution.storage.schema import check_ours


def record_id(db: sqlite3.Connection, name: str) -> int | None:
    """Number of a record in its store; None if no record has this name."""
    row = db.execute("SELECT id FROM records WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def description_of(db: sqlite3.Connection, name: str) -> dict[str, Any] | None:
    """Description of what defines a record's runs; None if no record has this name."""
    row = db.execute("SELECT description FROM records WHERE name = ?", (name,)).fetchone()
    return None if row is None else table_of(row[0])


def run_counts(db: sqlite3.Connection) -> dict[str, int]:
    """Number of runs of each record."""
    rows = db.execute(
        "SELECT name, (SELECT count(*) FROM runs WHERE record = id) FROM records ORDER BY id"
    ).fetchall()
    if not all(type(name) is str and is_count(count) for name, count in rows):
        raise ValueError("a record has no name")
    return dict(rows)


ENDED = "ended"
"""Name of the fact that describes how a search ended; it holds until another run is stored."""


UNFINISHED = "unfinished seconds"
"""Name of the fact with the target time of runs that were ended without a result."""


FAMILIES = "families"
"""Name of the fact with the family of each instance, if the user has named families."""


class Times(NamedTuple):
    """Times at which the requested runs of a record were stored, over all sessions."""

    asked: Sequence[int]
    """Their numbers, in order."""
    elapsed: Sequence[float]
    """Seconds from the beginning for each of them."""
    wall_time: float
    """Seconds that all sessions took, each up to the last run it stored."""
    sessions: int


def times_of(db: sqlite3.Connection, record: int | None) -> Times:
    """Read when runs were stored, measured with a monotonic clock."""
    lasted = db.execute(
        "SELECT session, max(elapsed) FROM runs WHERE record = ? GROUP BY session ORDER BY session",
        (record,),
    ).fetchall()
    if not all(is_duration(seconds) for _, seconds in lasted):
        raise ValueError("a session has no length")
    began, total = {}, 0.0
    for session, seconds in lasted:
        began[session] = total
        total += seconds
    asked, elapsed = array("q"), array("d")
    for number, session, after in db.execute(
        "SELECT asked, session, elapsed FROM runs WHERE record = ? AND asked IS NOT NULL"
        " ORDER BY asked",
        (record,),
    ):
        if not is_count(number):
            raise ValueError(f"no run is the {number!r}th")
        asked.append(number)
        elapsed.append(began[session] + after)
    return Times(asked, elapsed, total, len(lasted))


def fact(db: sqlite3.Connection, record: str, name: str) -> Any:
    """Fact of a record, in JSON types; None if it is missing."""
    row = db.execute(
        "SELECT value FROM facts JOIN records ON id = record WHERE records.name = ?"
        " AND facts.name = ?",
        (record, name),
    ).fetchone()
    return None if row is None else fact_of(row[0])


def target_time_of(db: sqlite3.Connection, record: str) -> float:
    """Total runtime of a record, with that of runs ended without a result."""
    (seconds,) = db.execute(
        "SELECT total(runtime) FROM runs WHERE record = ?", (record_id(db, record),)
    ).fetchone()
    unfinished = fact(db, record, UNFINISHED) or 0.0
    if not is_total(seconds) or not is_total(unfinished):
        raise ValueError(f"its runs took {seconds!r} and {unfinished!r} s")
    return float(seconds) + float(unfinished)


def read_fact(path: Path, record: str, name: str) -> Any:
    """Read a fact from a store that is not open."""
    with reading(path) as db:
        return fact(db, record, name)


def forget_fact(db: sqlite3.Connection, record: str, name: str) -> None:
    """Remove a fact of a record."""
    db.execute("DELETE FROM facts WHERE record = ? AND name = ?", (record_id(db, record), name))


def put_fact(db: sqlite3.Connection, record: str, name: str, value: object) -> None:
    """Store a fact of a record, replacing an earlier value."""
    db.execute(
        "INSERT OR REPLACE INTO facts SELECT id, ?, ? FROM records WHERE name = ?",
        (name, json.dumps(value), record),
    )


def keep_fact(path: Path, record: str, name: str, value: object) -> None:
    """Store a fact in a store that is not open."""
    with explained(path):
        lock = WriterLock(path)
        try:
            with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as db:
                limit(db)
                check_ours(db, path)
                put_fact(db, record, name, value)
        finally:
            lock.release()
