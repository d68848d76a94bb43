"""What is to be tuned, without saying how: space, instances, cost, cutoff."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice

from paramhs.values.costs import CostMetric, Quality, Runtime, RuntimeThenQuality
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Instance, Task
from paramhs.values.seeds import shuffled, stream, target_seeds
from paramhs.values.space import Config, Space


@dataclass(frozen=True)
class Scenario:
    """The problem a search is given.

    A deterministic target gives the same answer for every seed, so each instance is worth one run.
    """

    space: Space
    instances: tuple[Instance, ...] = (NO_INSTANCE,)
    cost: CostMetric = Quality()
    cutoff: float = math.inf
    deterministic: bool = False

    def __post_init__(self) -> None:
        if not self.instances:
            raise BadInput("the list of instances is empty")
        names = [instance.name for instance in self.instances]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"instance {twice!r} is listed twice")
        if not isinstance(self.cutoff, int | float) or not self.cutoff > 0:
            raise BadInput(f"the cutoff must be a positive number, not {self.cutoff!r}")
        if isinstance(self.cost, Runtime | RuntimeThenQuality) and math.isinf(self.cutoff):
            raise BadInput("tuning for runtime needs a cutoff: what would a run that hangs cost?")

    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types."""
        return {
            "space": self.space.describe(),
            "instances": [instance.name for instance in self.instances],
            "cost": description(self.cost),
            "cutoff": None if math.isinf(self.cutoff) else self.cutoff,
            "deterministic": self.deterministic,
        }


class Pairs:
    """The fixed list of (instance, seed): every configuration's k-th run is on the k-th pair."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self._scenario = scenario
        self._known: list[tuple[Instance, int]] = []
        self._rest = endless_pairs(scenario.instances, seed)

    @property
    def count(self) -> float:
        """How many there are: one an instance if the target is deterministic, else no end."""
        return len(self._scenario.instances) if self._scenario.deterministic else math.inf

    def task(self, config: Config, k: int) -> Task:
        """The k-th run of a configuration, from 0."""
        if k >= len(self._known):
            self._known.extend(islice(self._rest, k + 1 - len(self._known)))
        instance, seed = self._known[k]
        return Task(config, instance, seed, self._scenario.cutoff)


def endless_pairs(
    instances: Sequence[Instance], seed: int, skip: int = 0
) -> Iterator[tuple[Instance, int]]:
    """Instances with seeds: each instance once before any comes again; no seed comes again.

    `skip` leaves out seeds, so that two parts of a study have none in common.
    """
    rng = stream(seed, "pairs")
    seeds = target_seeds(rng, skip)
    while True:
        for instance in shuffled(instances, rng):
            yield instance, next(seeds)


def description(thing: object) -> object:
    """A dataclass as JSON types, its class and its fields; other objects by their class."""
    if is_dataclass(thing) and not isinstance(thing, type):
        parts = {f.name: description(getattr(thing, f.name)) for f in fields(thing)}
        return {"kind": type(thing).__name__, **parts}
    if isinstance(thing, float) and math.isinf(thing):
        return None
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    return {"kind": f"{type(thing).__module__}.{type(thing).__qualname__}"}
