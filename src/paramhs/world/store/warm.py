"""What earlier searches of the same target leave to a new one: runs, and where to begin.

A run is taken if it is one that the new search could have made itself: of a configuration of its
space (which may have gained parameters, at their defaults, and values), on one of its instances,
under the same limits, by the same target, judged by the same cost. The new store keeps what was
taken, so that the search can be resumed whatever becomes of the old ones.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from paramhs.values.errors import BadInput
from paramhs.values.runs import Instance, Run, Status, Target, Task
from paramhs.values.scenario import Scenario, instance_values
from paramhs.values.space import Config, Space
from paramhs.values.wording import counted
from paramhs.world.store import Known
from paramhs.world.store.differences import differences
from paramhs.world.store.sqlite import connect_to_read, explained

_INCUMBENTS = 3  # the last so many of each store are tried first


def read_known(path: Path, scenario: Scenario) -> Known | None:
    """Read what the search in this store began with; None if none has begun there."""
    space = scenario.space
    instances = {instance.name: instance for instance in scenario.instances}
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return None
    with explained(path), closing(connect_to_read(path)) as db:
        rows = db.execute(
            "SELECT config, instance, seed, cutoff, status, runtime, quality, detail"
            " FROM known ORDER BY position"
        ).fetchall()
        first = db.execute("SELECT value FROM about WHERE name = 'initial'").fetchone()
        keys = json.loads(first[0] if first else "[]")
        configs = {key: _meant(space, key) for key in {*keys, *(row[0] for row in rows)}}
    # What is outside a space that has changed is left out here: the store refuses that space.
    runs = []
    for key, name, seed, cutoff, status, *answer in rows:
        if (config := configs[key]) is not None:
            task = Task(config, instances.get(name, Instance(name)), seed, cutoff)
            runs.append(Run(task, Status(status), *answer))
    return Known(tuple(runs), tuple(c for key in keys if (c := configs[key]) is not None))


def collect(
    paths: Iterable[Path], scenario: Scenario, target: Target
) -> tuple[Known, Sequence[str]]:
    """Collect what can be used of these stores, and a line on each that says so."""
    runs: dict[Task, Run] = {}
    initial: dict[Config, None] = {}
    lines = []
    for path in paths:
        found, line = _EarlierStore(path, scenario, target).collect()
        runs = {**{run.task: run for run in found.runs}, **runs}
        initial.update(dict.fromkeys(found.initial))
        lines.append(line)
    return Known(tuple(runs.values()), tuple(initial)), lines


class _EarlierStore:
    """One store, and what of it can be used now."""

    def __init__(self, path: Path, scenario: Scenario, target: Target) -> None:
        self.path = path
        self.scenario = scenario
        self.target = target
        self.configs: dict[str, Config | None] = {}
        self.left: Counter[str] = Counter()
        self.cutoff = math.inf
        """Their scenario's: runs that it cut short have smaller ones."""

    def collect(self) -> tuple[Known, str]:
        with explained(self.path), closing(connect_to_read(self.path)) as db:
            row = db.execute("SELECT value FROM about WHERE name = 'scenario'").fetchone()
            described = json.loads(row[0])
            told = described.get("scenario", {}).get("cutoff")
            self.cutoff = math.inf if told is None else told
            other = self._other(described)
            if other:
                return Known(), f"{self.path}: nothing is taken, it is of another {other}"
            runs = db.execute(
                "SELECT config, instance, seed, cutoff, status, runtime, quality, detail"
                " FROM readable ORDER BY asked IS NULL, asked, config, instance, seed"
            ).fetchall()
            keys = db.execute(
                "SELECT key FROM trajectory JOIN configs ON configs.id = config"
                " ORDER BY position DESC LIMIT ?",
                (_INCUMBENTS,),
            ).fetchall()
        instances = self._same_instances(described["scenario"])
        taken = [run for row in runs if (run := self._take(row, instances))]
        best = [config for (key,) in keys if (config := self._config(key)) is not None]
        return Known(tuple(taken), tuple(best)), self._summary(len(taken), len(best))

    def _other(self, described: Mapping[str, Any]) -> str:
        """What is not the same about a store, if nothing of it can be used."""
        if "scenario" not in described:
            return "kind: it holds the runs of a verdict"
        now = {"target": self.target.describe(), "cost": self.scenario.describe()["cost"]}
        then = {"target": described["target"], "cost": described["scenario"]["cost"]}
        changed = differences(then, json.loads(json.dumps(now)))
        return f"target or cost: {changed[0]}" if changed else ""

    def _same_instances(self, then: Mapping[str, Any]) -> Mapping[str, Instance]:
        """Those of today that mean what they meant then."""
        before = then.get("instance_values", {})
        now = json.loads(json.dumps(instance_values(self.scenario.instances)))
        same = (i for i in self.scenario.instances if now.get(i.name) == before.get(i.name))
        return {instance.name: instance for instance in same}

    def _take(self, row: tuple[Any, ...], instances: Mapping[str, Instance]) -> Run | None:
        key, name, seed, cutoff, status, *answer = row
        config = self._config(key)
        if config is None:
            self.left["of configurations outside the space"] += 1
        elif name not in instances:
            self.left["on other instances"] += 1
        elif self.cutoff != self.scenario.cutoff:
            self.left["with another cutoff"] += 1
        else:
            task = Task(config, instances[name], seed, cutoff)
            return Run(task, Status(status), *answer)
        return None

    def _config(self, key: str) -> Config | None:
        if key not in self.configs:
            self.configs[key] = _meant(self.scenario.space, key)
        return self.configs[key]

    def _summary(self, taken: int, best: int) -> str:
        left = ", ".join(f"{count:,} {why}" for why, count in self.left.items())
        begin = f" and {counted(best, 'configuration')} to begin with" if best else ""
        rest = f"; not taken: {left}" if left else ""
        return f"{self.path}: {counted(taken, 'run')} taken{begin}{rest}"


def _meant(space: Space, key: str) -> Config | None:
    """The same configuration in another space; None where it has none."""
    try:
        values = space.values_in(key)
        config = space.config(values)
    except BadInput:
        return None
    return config if all(name in config for name in values) else None
