"""The test set: instances and seeds on which configurations are compared after a search."""

import math
from dataclasses import dataclass, replace
from itertools import islice

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import SEEDS
from paramhs.core.runs import NO_INSTANCE, Instance, Pair
from paramhs.core.scenario import endless_pairs
from paramhs.core.text.numbers import counted

USUAL_PAIRS = 50  # minimum for a random target
MIN_PAIRS = 6  # with fewer pairs no verdict can be significant


@dataclass(frozen=True)
class TestSet:
    """Instances and seeds for the final comparison."""

    __test__ = False  # keep pytest from collecting it

    instances: tuple[Instance, ...]
    held_out: bool | None
    """Whether the search never saw these instances; None where there was no search.

    The seeds of a random target are new in any case.
    """
    runs: int | None = None
    """Runs of each configuration, rounded up to the same number on every instance.

    None means one run per instance, or 50 runs if the target is random.
    """

    @property
    def text(self) -> str:
        """Short description for people."""
        if self.instances == (NO_INSTANCE,):
            return "new seeds"
        count = min(len(self.instances), self.runs or len(self.instances))
        if self.held_out:
            return counted(count, "held-out instance")
        instances = counted(count, "instance")
        return instances if self.held_out is None else f"{instances} of the search, with new seeds"

    def __post_init__(self) -> None:
        if not self.instances:
            raise BadInput("a verdict needs instances, and the list is empty")
        if len({instance.name for instance in self.instances}) < len(self.instances):
            raise BadInput("a verdict needs instances that differ, and one is listed twice")
        if self.runs is not None and (type(self.runs) is not int or self.runs < 1):
            raise BadInput(f"a verdict needs at least 1 run of each side, not {self.runs!r}")

    def pairs(self, deterministic: bool, seed: int) -> list[Pair]:
        """List the (instance, seed) pairs.

        The seeds lie 2^30 places after those of the search in the same sequence if the number of
        instances is the same, and start elsewhere otherwise: among 2^31 seeds a common one is very
        unlikely. A deterministic target keeps its fixed seed.
        """
        pairs = endless_pairs(self.instances, seed, SEEDS // 2, deterministic=deterministic)
        return list(islice(pairs, self.count(deterministic)))

    def count(self, deterministic: bool) -> int:
        """Number of pairs in the test set."""
        count = len(self.instances)
        if not deterministic:
            count = max(count, USUAL_PAIRS)
        if self.runs is not None:
            count = self.runs
        if deterministic:
            count = min(count, len(self.instances))
        if count > len(self.instances):  # the same number on each instance
            count = len(self.instances) * math.ceil(count / len(self.instances))
        return count

    def within(self, deterministic: bool, most: float, fewest: int = MIN_PAIRS) -> "TestSet":
        """Return the test set reduced to at most `most` runs of each side.

        A number of runs set by the user is kept. Repetitions on an instance are dropped first, then
        instances, but at least `fewest` pairs remain if there were that many.
        """
        usual, instances = self.count(deterministic), len(self.instances)
        if self.runs is not None or usual <= most:
            return self
        least = min(fewest, usual)
        runs = max(int(most), least)
        if runs > instances:
            runs = instances * max(runs // instances, math.ceil(least / instances))
        return replace(self, runs=runs)
