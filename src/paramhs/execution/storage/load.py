"""A search read from its store alone, without changing it.

The stored description defines the space, instances and cost, so the target need not exist any more.
Everything is read in one transaction, which sees one moment of a store that a search is writing.
"""

import gc
import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from paramhs.core.answers import TOLERANCE
from paramhs.core.capping import Capping
from paramhs.core.errors import BadInput, StoreError
from paramhs.core.runs import Instance, Point, Run
from paramhs.core.scenario import Scenario
from paramhs.core.several_costs import described_cost
from paramhs.core.space import Config, Space
from paramhs.core.space.from_description import space_of
from paramhs.core.text.quoting import short
from paramhs.execution.storage import SEARCH
from paramhs.execution.storage.connections import connect_to_read, reading
from paramhs.execution.storage.problems import DAMAGED, believed
from paramhs.execution.storage.records import (
    ENDED,
    FAMILIES,
    Times,
    description_of,
    fact,
    record_id,
    run_counts,
    target_time_of,
    times_of,
)
from paramhs.execution.storage.row_checks import (
    RESULT,
    instance_of,
    is_count,
    key_of,
    point_of,
    race_of,
    run_of,
)
from paramhs.search.history import History, Race
from paramhs.search.proposal_law import UNKNOWN_LAW, ProposalLaw, proposal_law
from paramhs.search.record import UNKNOWN, Ending, Record
from paramhs.search.registry import rebuilt

_CACHED_CONFIGS = 1_000  # while runs are read one by one
_USED = """
SELECT id, key FROM configs WHERE id IN (
  SELECT DISTINCT config FROM runs WHERE record = :record
  UNION SELECT config FROM trajectory WHERE record = :record
  UNION SELECT challenger FROM races WHERE record = :record
  UNION SELECT incumbent FROM races WHERE record = :record)
"""


def read_record(path: str | Path, space: Space | None = None) -> Record:
    """Read the record of the search in a store; `StoreError` where there is none.

    A `space` must be that of the store; it has the objects that the store has names of.
    """
    path = Path(path)
    with reading(path) as db, uncollected():
        # One transaction, because a search may be writing: all tables are read as of the same
        # moment.
        db.execute("BEGIN")
        described = _description(db, path)
        reader = _Reader(db, _scenario(described, db, path, space))
        times = times_of(db, reader.record)
        (count,) = db.execute(
            "SELECT count(*) FROM runs WHERE record = ?", (reader.record,)
        ).fetchone()
        return Record(
            reader.history(described["seed"], times),
            described["target"],
            reader.trajectory(),
            list(times.elapsed),
            int(count) - len(times.asked),
            times.sessions,
            target_time_of(db, SEARCH),
            times.wall_time,
            _ending(fact(db, SEARCH, ENDED)),
            _law(described["configurator"]),
        )


def _law(described: object) -> ProposalLaw:
    """Law of the proposals of a described configurator; unknown for parts that are not here."""
    try:
        return proposal_law(rebuilt(described))
    except BadInput:
        return UNKNOWN_LAW


def _ending(told: object) -> Ending:
    if not isinstance(told, dict):
        return UNKNOWN
    return Ending(*(str(told.get(name, "")) for name in ("stopped", "no_test_set", "mixed")))


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable garbage collection, which would take a third of the time and find nothing."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _description(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    described = description_of(db, SEARCH) or {}
    missing = {"target", "configurator", "seed"} - described.keys()
    if "scenario" in described and missing:
        raise StoreError(f"{path}: {DAMAGED} (it says nothing of {', '.join(sorted(missing))})")
    if "scenario" not in described:
        others = " and ".join(run_counts(db))
        raise StoreError(
            f"{path} holds {f'only the runs of {others}' if others else 'no search yet'}"
        )
    if not isinstance(described["target"], dict) or type(described["seed"]) is not int:
        raise ValueError("its target or its seed is of another kind")
    return described


def _scenario(
    described: Mapping[str, Any],
    db: sqlite3.Connection,
    path: Path,
    given: Space | None = None,
    *,
    known: bool = True,
) -> Scenario:
    """Rebuild the scenario, with or without the runs known before."""
    facts = described["scenario"]
    try:
        cost = described_cost(facts["cost"])
    except BadInput as error:
        raise StoreError(f"{path}: {error}") from None
    space = space_of(facts["space"])
    if given is not None and given != space:
        raise StoreError(f"{path} has another space{_first_difference(space, given)}")
    space = given or space
    return Scenario(
        space,
        tuple(Instance(name) for name in facts["instances"]),
        cost,
        math.inf if facts["cutoff"] is None else facts["cutoff"],
        facts["deterministic"],
        tuple(space.from_key(key) for key in facts.get("initial", ())),
        tuple(_known(db, space)) if known else (),
        _capping(facts.get("capping")),
        facts.get("answer_tolerance", TOLERANCE),
        facts.get("expected", {}),
        _families(facts.get("families") or fact(db, SEARCH, FAMILIES)),
        "families" in facts,
    )


def _first_difference(stored: Space, given: Space) -> str:
    """The first parameter that differs, in words."""
    for name in (*stored.parameters, *given.parameters):
        if stored.parameters.get(name) != given.parameters.get(name):
            return f": {short(name)} differs"
    return ": its conditions or forbidden clauses differ"


def _families(told: object) -> dict[str, str]:
    """Families by instance name; empty unless every entry is a text."""
    if not isinstance(told, dict) or not all(isinstance(one, str) for one in told.values()):
        return {}
    return told


def _capping(described: Mapping[str, Any] | None) -> Capping:
    return Capping(described["name"], described.get("factor")) if described else Capping()


def _known(db: sqlite3.Connection, space: Space) -> list[Run]:
    rows = db.execute(
        f"SELECT config, instance, seed, cutoff, {RESULT} FROM known"  # noqa: S608
        " WHERE record = ? ORDER BY position",
        (record_id(db, SEARCH),),
    ).fetchall()
    configs = {key: space.from_key(key_of(key)) for key in {row[0] for row in rows}}
    names = {name: instance_of(name) for name in {row[1] for row in rows}}
    return [
        run_of(configs[key], names[name], seed, cutoff, result)
        for key, name, seed, cutoff, *result in rows
    ]


@dataclass(frozen=True)
class StreamedRuns:
    """Runs of a store read one by one, not yet judged."""

    path: Path
    scenario: Scenario
    """The tuning problem, without the runs known before."""
    db: sqlite3.Connection

    def asked(self) -> Iterator[Run]:
        """Requested runs, in order."""
        return self._read("asked IS NOT NULL ORDER BY asked")

    def speculative(self) -> Iterator[Run]:
        """Runs that idle workers made and that were never requested."""
        return self._read("asked IS NULL")

    def of(self, record: str) -> Iterator[Run]:
        """All runs of another record, such as the verdict."""
        return self._read("TRUE", record)

    def _read(self, which: str, record: str = SEARCH) -> Iterator[Run]:
        # The runs of a race follow each other, so a small cache saves most of the parsing, and
        # memory does not grow with the store.
        config_of = lru_cache(_CACHED_CONFIGS)(_Keys(self.scenario.space).config)
        with believed(self.path):
            for key, name, seed, cutoff, *result in self.db.execute(
                f"SELECT key, name, seed, cutoff, {RESULT} FROM runs"  # noqa: S608
                " JOIN configs ON configs.id = config JOIN instances ON instances.id = instance"
                f" WHERE record = ? AND {which}",
                (record_id(self.db, record),),
            ):
                yield run_of(config_of(key_of(key)), instance_of(name), seed, cutoff, result)


@contextmanager
def streamed(path: Path) -> Iterator[StreamedRuns]:
    """Open a store to read its runs one by one, all from this moment.

    Errors of the code that consumes the runs are not attributed to the store.
    """
    with believed(path):
        db = connect_to_read(path)
    with closing(db):
        with believed(path):
            db.execute("PRAGMA temp_store = FILE")  # sorting a million runs takes no memory, either
            db.execute("BEGIN")
            scenario = _scenario(_description(db, path), db, path, known=False)
        yield StreamedRuns(path, scenario, db)


class _Keys:
    """Parser of configuration keys that caches repeated words."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.defaults = [parameter.default_index for parameter in space.listed]
        self.known: dict[str, tuple[int, int]] = {}

    def config(self, key: str) -> Config:
        if '"' in key:  # blanks may be part of a text
            return self.space.from_key(key)
        # A parameter that the key does not name has its default.
        indices = self.defaults.copy()
        for word in key.split(" "):
            position, index = self.known.get(word) or self._learn(word)
            indices[position] = index
        return self.space.configured(indices)

    def _learn(self, word: str) -> tuple[int, int]:
        ((name, value),) = self.space.values_in(word).items()
        meant = self.space.position[name], self.space.parameters[name].index(value)
        self.known[word] = meant
        return meant


class _Reader:
    """Reader of the tables of one store."""

    def __init__(self, db: sqlite3.Connection, scenario: Scenario) -> None:
        self.db = db
        self.scenario = scenario
        self.record = record_id(db, SEARCH)
        from_key = _Keys(scenario.space).config
        self.configs = {
            number: from_key(key_of(key))
            for number, key in db.execute(_USED, {"record": self.record})
        }

    def history(self, seed: int, times: Times) -> History:
        """The runs that the search asked for, in order, and its decided races."""
        history, configs = History(self.scenario, seed), self.configs
        instances = {
            number: instance_of(name)
            for number, name in self.db.execute("SELECT id, name FROM instances")
        }
        for config, instance, number, cutoff, *result in self.db.execute(
            f"SELECT config, instance, seed, cutoff, {RESULT}"  # noqa: S608
            " FROM runs WHERE record = ? AND asked IS NOT NULL ORDER BY asked",
            (self.record,),
        ):
            history.add(run_of(configs[config], instances[instance], number, cutoff, result))
        asked = times.asked[-1] + 1 if times.asked else 0  # a run may answer it twice
        history.restore(asked, self.races(), self.references())
        return history

    def references(self) -> int:
        """Number of runs of the default made only for reference answers."""
        count = fact(self.db, SEARCH, "references") or 0
        if not is_count(count):
            raise ValueError(f"the default cannot have had {count!r} more runs")
        return int(count)

    def races(self) -> Iterator[Race]:
        """Decided races, in order."""
        for row in self.db.execute(
            "SELECT challenger, incumbent, won, asked FROM races WHERE record = ?"
            " ORDER BY position",
            (self.record,),
        ):
            yield race_of(self.configs, row)

    def trajectory(self) -> list[Point]:
        """Read the incumbents in order."""
        return [
            point_of(self.configs[config], facts)
            for config, *facts in self.db.execute(
                "SELECT config, runs, target_time, cost, evidence FROM trajectory"
                " WHERE record = ? ORDER BY position",
                (self.record,),
            )
        ]
