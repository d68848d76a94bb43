"""Summary of a store for its users."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paramhs.core.runs import FAILURES, Status
from paramhs.core.text.numbers import finite
from paramhs.execution.storage import SEARCH
from paramhs.execution.storage.connections import reading
from paramhs.execution.storage.records import (
    description_of,
    record_id,
    run_counts,
    target_time_of,
)
from paramhs.execution.storage.row_checks import check_point, is_count, key_of

_POINT = ("runs", "target_time", "cost", "evidence")
_MEANS = ("runs", "mean_quality", "mean_runtime", "failures")


def summary(path: Path, top: int = 10) -> dict[str, Any]:
    """Scenario, counts, trajectory and the configurations with the most runs, in JSON types.

    They are those of the search, or of the first record if there is no search. `statuses` count
    requested runs; the search's answers judge no others.
    """
    with reading(path) as db:
        counts = run_counts(db)
        record = SEARCH if SEARCH in counts else next(iter(counts), SEARCH)
        return {"store": str(path), "records": counts, **_summary(db, record, top)}


def _summary(db: sqlite3.Connection, name: str, top: int) -> dict[str, Any]:
    record = record_id(db, name)
    statuses = {
        Status(status).value: count
        for status, count in db.execute(
            "SELECT status, count(*) FROM runs WHERE record = ? AND asked IS NOT NULL"
            " GROUP BY status",
            (record,),
        )
    }
    speculative, configs = db.execute(
        "SELECT count(*) - count(asked), count(DISTINCT config) FROM runs WHERE record = ?",
        (record,),
    ).fetchone()
    (sessions,) = db.execute("SELECT count(*) FROM sessions WHERE record = ?", (record,)).fetchone()
    return {
        "scenario": description_of(db, name) or {},
        "runs": sum(statuses.values()) + speculative,
        "statuses": statuses,
        "speculative": speculative,
        "configurations": configs,
        "target_time": target_time_of(db, name),
        "sessions": sessions,
        "trajectory": _trajectory(db, record),
        "most_run": _most_run(db, record, top),
    }


def _trajectory(db: sqlite3.Connection, record: int | None) -> list[dict[str, Any]]:
    rows = db.execute(
        "SELECT key, runs, target_time, cost, evidence"
        " FROM trajectory JOIN configs ON configs.id = config WHERE record = ? ORDER BY position",
        (record,),
    ).fetchall()
    for _, *point in rows:
        check_point(point)
    return [_row(key, _POINT, point) for key, *point in rows]


def _most_run(db: sqlite3.Connection, record: int | None, top: int) -> list[dict[str, Any]]:
    failures = ", ".join(f"'{status.value}'" for status in FAILURES)
    rows = db.execute(
        "SELECT key, count(*) AS n, avg(quality), avg(runtime),"  # noqa: S608
        f" sum(status IN ({failures}))"
        " FROM runs JOIN configs ON configs.id = config WHERE record = ?"
        " GROUP BY config ORDER BY n DESC LIMIT ?",
        (record, top),
    )
    return [_row(key, _MEANS, row) for key, *row in rows]


def _row(key: object, names: Iterable[str], row: Iterable[Any]) -> dict[str, Any]:
    """Row as a dictionary; infinity becomes null, because JSON has none."""
    numbers = {n: x if is_count(x) else finite(x) for n, x in zip(names, row, strict=True)}
    return {"config": key_of(key), **numbers}
