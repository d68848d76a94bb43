"""What is in a store, for people who look at it from outside."""

import json
import math
from contextlib import closing
from pathlib import Path
from typing import Any

from paramhs.world.store.sqlite import connect_to_read, explained


def summary(path: Path, top: int = 10) -> dict[str, Any]:
    """Scenario, counts, trajectory and the most-run configurations, in JSON types."""
    with explained(path), closing(connect_to_read(path)) as db:
        about = dict(db.execute("SELECT name, value FROM about"))
        statuses = dict(db.execute("SELECT status, count(*) FROM runs GROUP BY status"))
        (seconds,) = db.execute("SELECT total(runtime) FROM runs").fetchone()
        (configs,) = db.execute("SELECT count(DISTINCT config) FROM runs").fetchone()
        (sessions,) = db.execute("SELECT count(*) FROM sessions").fetchone()
        trajectory = db.execute(
            "SELECT key, runs, target_time, cost, evidence"
            " FROM trajectory JOIN configs ON configs.id = config ORDER BY position"
        )
        names = ("config", "runs", "target_time", "cost", "evidence")
        most_run = db.execute(
            "SELECT key, count(*) AS n, avg(quality), avg(runtime), sum(status != 'ok')"
            " FROM runs JOIN configs ON configs.id = config"
            " GROUP BY config ORDER BY n DESC LIMIT ?",
            (top,),
        )
        columns = ("config", "runs", "mean_quality", "mean_runtime", "failures")
        return {
            "store": str(path),
            "scenario": json.loads(about.get("scenario", "{}")),
            "runs": sum(statuses.values()),
            "statuses": statuses,
            "configurations": configs,
            "target_time": seconds,
            "sessions": sessions,
            "trajectory": [_row(names, row) for row in trajectory],
            "most_run": [_row(columns, row) for row in most_run],
        }


def _row(names: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    """A row by names; JSON has no infinity, so there it is null."""
    infinite = (math.inf, -math.inf)
    return {name: None if x in infinite else x for name, x in zip(names, row, strict=True)}
