"""Warm start: runs and initial configurations from earlier searches of the same target.

A run is taken if the new search could have made it: of a configuration of its space (which may have
gained parameters, at their defaults, and values), on one of its instances, under the same limits,
by the same target, judged by the same cost. "The same" is by content: a changed program contributes
nothing, a changed instance no run on it. Of a search that was imported from another program,
nothing is known of its target, and the user says that it is the same. The new store keeps the taken
runs, so that the search can be resumed whatever happens to the old stores.
"""

import json
import math
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paramhs.core.description import IMPORTED
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Run, Target, Task
from paramhs.core.scenario import FIXED_SEED, Scenario, instance_values
from paramhs.core.space import Config, Space
from paramhs.core.space.nearest import rounded
from paramhs.core.text.numbers import counted
from paramhs.execution.storage import SEARCH, Known
from paramhs.execution.storage.connections import reading
from paramhs.execution.storage.diff import differences
from paramhs.execution.storage.identities import Comparison, compare
from paramhs.execution.storage.records import description_of, fact, record_id
from paramhs.execution.storage.row_checks import RESULT, instance_of, key_of, run_of
from paramhs.execution.subject import INSTANCE, TARGET, Subject

_MAX_INCUMBENTS = 3  # last incumbents of each store to try first


def read_known(path: Path, scenario: Scenario) -> Known | None:
    """Read what the search in this store started with; None if there is none."""
    space = scenario.space
    instances = {instance.name: instance for instance in scenario.instances}
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return None
    with reading(path) as db:
        record = record_id(db, SEARCH)
        if record is None:
            return None
        rows = db.execute(
            f"SELECT config, instance, seed, cutoff, {RESULT} FROM known"  # noqa: S608
            " WHERE record = ? ORDER BY position",
            (record,),
        ).fetchall()
        keys = fact(db, SEARCH, "initial") or []
        configs = {key: _meant(space, key_of(key)) for key in {*keys, *(row[0] for row in rows)}}
        # What is outside a space that has changed is left out here: the store refuses that space.
        runs = []
        for key, name, seed, cutoff, *result in rows:
            if (config := configs[key]) is not None:
                instance = instances.get(name) or instance_of(name)
                runs.append(run_of(config, instance, seed, cutoff, result))
    return Known(tuple(runs), tuple(c for key in keys if (c := configs[key]) is not None))


def collect(
    paths: Iterable[Path], scenario: Scenario, target: Target, subject: Subject
) -> tuple[Known, Sequence[tuple[str, bool]]]:
    """Collect what is usable from these stores.

    Also returns a line about each, and whether all of its runs were taken.
    """
    runs: dict[Task, Run] = {}
    initial: dict[Config, None] = {}
    lines = []
    for path in paths:
        earlier = _EarlierStore(path, scenario, target, subject)
        found, line = earlier.collect()
        runs = {**{run.task: run for run in found.runs}, **runs}
        initial.update(dict.fromkeys(found.initial))
        lines.append((line, bool(found.runs) and not earlier.left))
    return Known(tuple(runs.values()), tuple(initial)), lines


class _EarlierStore:
    """One earlier store, and its usable part."""

    def __init__(self, path: Path, scenario: Scenario, target: Target, subject: Subject) -> None:
        self.path = path
        self.subject = subject
        self.first = 0
        """First session whose runs were made by the current target."""
        self.changed: frozenset[str] = frozenset()
        self.since: Mapping[str, int] = {}
        """First session of each instance that has a content."""
        self.scenario = scenario
        self.target = target
        self.configs: dict[str, Config | None] = {}
        self.left: Counter[str] = Counter()
        self.imported = False
        self.cutoff = math.inf
        """Cutoff of the earlier scenario; its capped runs have smaller ones."""

    def collect(self) -> tuple[Known, str]:
        with reading(self.path) as db:
            return self._collect(db)

    def _collect(self, db: sqlite3.Connection) -> tuple[Known, str]:
        described = description_of(db, SEARCH) or {}
        self.imported = IMPORTED in described.get("target", {})
        told = described.get("scenario", {}).get("cutoff")
        self.cutoff = math.inf if told is None else told
        other = self._other(described)
        if other:
            return Known(), f"{self.path}: nothing is taken, it is of another {other}"
        compared, _ = compare(db, SEARCH, self.subject)
        changed = "" if self.imported else self._changed(compared)
        if changed:
            return Known(), f"{self.path}: nothing is taken, {changed}"
        runs = db.execute(
            f"SELECT session, key, name, seed, cutoff, {RESULT} FROM runs"  # noqa: S608
            " JOIN configs ON configs.id = config JOIN instances ON instances.id = instance"
            " WHERE record = ? ORDER BY asked IS NULL, asked, key, name, seed",
            (record_id(db, SEARCH),),
        ).fetchall()
        keys = db.execute(
            "SELECT key FROM trajectory JOIN configs ON configs.id = config"
            " WHERE record = ? ORDER BY position DESC LIMIT ?",
            (record_id(db, SEARCH), _MAX_INCUMBENTS),
        ).fetchall()
        instances = self._same_instances(described["scenario"])
        taken = [run for row in runs if (run := self._take(row, instances))]
        meant = self._near if self.imported else self._config
        best = [config for (key,) in keys if (config := meant(key)) is not None]
        return Known(tuple(taken), tuple(best)), self._summary(len(taken), len(best))

    def _other(self, described: Mapping[str, Any]) -> str:
        """Difference that makes a whole store unusable; empty if there is none."""
        if "scenario" not in described:
            return "kind: it holds no search"
        now = {"target": self.target.describe(), "cost": self.scenario.describe()["cost"]}
        then = {"target": described["target"], "cost": described["scenario"]["cost"]}
        if self.imported:
            then["target"], now["target"] = {}, {}
        changed = differences(then, json.loads(json.dumps(now)))
        return f"target or cost: {changed[0]}" if changed else ""

    def _changed(self, compared: Comparison) -> str:
        """Reason why no run of a store with a changed or unknown target is usable."""
        if not compared.rows:
            return "it does not know which program and which instances its runs were made with"
        self.first = max(r.session for (kind, _), r in compared.rows.items() if kind == TARGET)
        self.changed = compared.instances
        self.since = {n: r.session for (kind, n), r in compared.rows.items() if kind == INSTANCE}
        changes = [change.text for change in compared.of_target]
        return f"the target changed: {changes[0]}" if changes else ""

    def _same_instances(self, then: Mapping[str, Any]) -> Mapping[str, Instance]:
        """Current instances with the same meaning as in the store."""
        if self.imported:
            return {instance.name: instance for instance in self.scenario.instances}
        before = then.get("instance_values", {})
        now = json.loads(json.dumps(instance_values(self.scenario.instances)))
        same = (i for i in self.scenario.instances if now.get(i.name) == before.get(i.name))
        return {instance.name: instance for instance in same}

    def _take(self, row: tuple[Any, ...], instances: Mapping[str, Instance]) -> Run | None:
        session, key, name, seed, cutoff, *result = row
        config = self._config(key_of(key))
        if name in self.changed:
            self.left["on instances that changed"] += 1
        elif session < max(self.first, self.since.get(name, 0)):
            self.left["made before a change that was accepted"] += 1
        elif config is None:
            self.left["of configurations outside the space"] += 1
        elif name not in instances:
            self.left["on other instances"] += 1
        elif self.imported and self.scenario.deterministic and seed != FIXED_SEED:
            self.left["of a target with seeds"] += 1
        elif self.cutoff != self.scenario.cutoff:
            self.left["with another cutoff"] += 1
        else:
            return run_of(config, instances[name], seed, cutoff, result)
        return None

    def _config(self, key: str) -> Config | None:
        if key not in self.configs:
            self.configs[key] = _meant(self.scenario.space, key)
        return self.configs[key]

    def _near(self, key: str) -> Config | None:
        """The configuration next to one of another program, which need not be on our levels."""
        space = self.scenario.space
        try:
            values, _ = rounded(space, space.values_in(key))
            return space.config(values)
        except BadInput:
            return None

    def _summary(self, taken: int, best: int) -> str:
        left = ", ".join(f"{count:,} {why}" for why, count in self.left.items())
        begin = f" and {counted(best, 'configuration')} to begin with" if best else ""
        rest = f"; not taken: {left}" if left else ""
        return f"{self.path}: {counted(taken, 'run')} taken{begin}{rest}"


def _meant(space: Space, key: str) -> Config | None:
    """Counterpart of a configuration in another space; None if there is none."""
    try:
        values = space.values_in(key)
        config = space.config(values)
    except BadInput:
        return None
    return config if all(name in config for name in values) else None
