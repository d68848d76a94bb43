"""A search as its store tells of it: nothing but the file is needed, and nothing is changed.

The description that a store holds says what its space, instances and cost were, so the target need
not be there any more. Everything is read in one transaction, which sees one moment of a store that
a search is writing.
"""

import json
import math
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from paramhs.search.history import History
from paramhs.values.costs import cost_of
from paramhs.values.errors import BadInput, StoreError
from paramhs.values.runs import Instance, Point, Run, Status, Task
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config, Space
from paramhs.values.space.rebuilding import space_of
from paramhs.world.store.lock import is_held
from paramhs.world.store.sqlite import connect_to_read, explained

_STATUS = {status.value: status for status in Status}


@dataclass(frozen=True)
class StoredSearch:
    """What a search has done so far."""

    path: Path
    description: Mapping[str, Any]
    """What the store says that it is of, in JSON types."""
    history: History
    """The runs that the search asked for, in order. Races are not stored: it has none."""
    trajectory: tuple[Point, ...]
    elapsed: Sequence[float]
    """For each run asked for, how many seconds had passed when it was stored, over all sessions."""
    speculative: int
    """How many runs were made that nobody has asked for."""
    target_time: float
    """Seconds that the target ran, speculative runs included."""
    wall_time: float
    sessions: int
    writing: bool
    """Whether somebody is writing it now."""

    @property
    def scenario(self) -> Scenario:
        """What was tuned; instances have names only."""
        return self.history.scenario

    @property
    def default(self) -> Config:
        """Where it began."""
        return self.scenario.space.default

    @property
    def best(self) -> Config:
        """The last incumbent; the default while there is none."""
        return self.trajectory[-1].config if self.trajectory else self.default


def read_search(path: str | Path) -> StoredSearch:
    """Read all of a store; `StoreError` where it is of something else."""
    path = Path(path)
    writing = is_held(path)
    with explained(path), closing(connect_to_read(path)) as db:
        db.execute("BEGIN")
        described = _description(db, path)
        reader = _Reader(db, _scenario(described, db, path))
        history, elapsed = reader.asked(described["seed"])
        count, seconds = db.execute("SELECT count(*), total(runtime) FROM runs").fetchone()
        return StoredSearch(
            path,
            described,
            history,
            reader.trajectory(),
            elapsed,
            int(count) - len(elapsed),
            float(seconds),
            reader.wall_time,
            len(reader.began),
            writing,
        )


def _description(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    row = db.execute("SELECT value FROM about WHERE name = 'scenario'").fetchone()
    described: dict[str, Any] = json.loads(row[0]) if row else {}
    if "scenario" not in described:
        what = "the runs of a verdict" if "verdict" in described else "no search yet"
        raise StoreError(f"{path} holds {what}, not a search")
    return described


def _scenario(described: Mapping[str, Any], db: sqlite3.Connection, path: Path) -> Scenario:
    """The scenario, without what it knew before."""
    facts = described["scenario"]
    try:
        cost = cost_of(facts["cost"])
    except BadInput as error:
        raise StoreError(f"{path}: {error}") from None
    space = space_of(facts["space"])
    return Scenario(
        space,
        tuple(Instance(name) for name in facts["instances"]),
        cost,
        math.inf if facts["cutoff"] is None else facts["cutoff"],
        facts["deterministic"],
        tuple(space.from_key(key) for key in facts.get("initial", ())),
        tuple(_known(db, space)),
    )


def _known(db: sqlite3.Connection, space: Space) -> list[Run]:
    rows = db.execute(
        "SELECT config, instance, seed, cutoff, status, runtime, quality, detail"
        " FROM known ORDER BY position"
    ).fetchall()
    configs = {key: space.from_key(key) for key in {row[0] for row in rows}}
    names = {name: Instance(name) for name in {row[1] for row in rows}}
    return [
        Run(Task(configs[key], names[name], seed, cutoff), _STATUS[status], *answer)
        for key, name, seed, cutoff, status, *answer in rows
    ]


class _Reader:
    """Reading the tables of one store."""

    def __init__(self, db: sqlite3.Connection, scenario: Scenario) -> None:
        self.db = db
        self.scenario = scenario
        from_key = scenario.space.from_key
        used = "SELECT DISTINCT config FROM runs UNION SELECT config FROM trajectory"
        self.configs = {
            number: from_key(key)
            for number, key in db.execute(
                f"SELECT id, key FROM configs WHERE id IN ({used})"  # noqa: S608
            )
        }
        lasted = db.execute(
            "SELECT session, max(elapsed) FROM runs GROUP BY session ORDER BY session"
        ).fetchall()
        ends = list(accumulate(seconds for _, seconds in lasted))
        self.began = {
            session: end - seconds for (session, seconds), end in zip(lasted, ends, strict=True)
        }
        """At how many seconds each session began."""
        self.wall_time = ends[-1] if ends else 0.0

    def asked(self, seed: int) -> tuple[History, Sequence[float]]:
        """The runs that the search asked for, and when each was stored."""
        history, elapsed = History(self.scenario, seed), array("d")
        configs, began = self.configs, self.began
        instances = {
            number: Instance(name)
            for number, name in self.db.execute("SELECT id, name FROM instances")
        }
        for config, instance, number, cutoff, status, *answer, session, after in self.db.execute(
            "SELECT config, instance, seed, cutoff, status, runtime, quality, detail,"
            " session, elapsed FROM runs WHERE asked IS NOT NULL ORDER BY asked"
        ):
            task = Task(configs[config], instances[instance], number, cutoff)
            history.add(Run(task, _STATUS[status], *answer))
            elapsed.append(began[session] + after)
        history.asked = len(elapsed)
        return history, elapsed

    def trajectory(self) -> tuple[Point, ...]:
        """The incumbents."""
        return tuple(
            Point(self.configs[config], *facts)
            for config, *facts in self.db.execute(
                "SELECT config, runs, target_time, cost, evidence FROM trajectory ORDER BY position"
            )
        )
