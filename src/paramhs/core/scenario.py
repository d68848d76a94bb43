"""The tuning problem: space, instances, cost, cutoff, and runs known before the search."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat

from paramhs.core.answers import TOLERANCE, Answer
from paramhs.core.capping import Capping
from paramhs.core.costs import Cost, CostMetric, Quality
from paramhs.core.description import description, digest, outline
from paramhs.core.errors import BadInput
from paramhs.core.families import Families, in_blocks
from paramhs.core.identity.walk import said
from paramhs.core.random_streams import shuffled, stream, target_seeds
from paramhs.core.runs import NO_INSTANCE, Instance, Pair, Run
from paramhs.core.space import Config, Space

FIXED_SEED = 1
"""Seed of every run of a deterministic target.

Not 0, which makes some solvers seed from the clock and which others reject; not -1, which is no
unsigned number.
"""


@dataclass(frozen=True)
class Scenario:
    """The problem that a search is given.

    A deterministic target gives the same answer for every seed, so each instance is run once, with
    a fixed seed.

    Args:
        space: Space of configurations.
        instances: Problems to run on.
        cost: Metric that is minimised.
        cutoff: Seconds after which a run is stopped.
        deterministic: Whether the seed of a run does not matter.
        initial: Configurations that challenge the default first.
        known: Runs made before the search.
        capping: Whether runs are stopped once they can no longer win.
        answer_tolerance: Largest relative difference between equal answers.
        expected: Right answers by instance name.
        families: Family by instance name.
        balanced: Whether all families count alike.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.core import Instance, Scenario
        >>> len(Scenario(Space({"x": range(3)}), (Instance("a"), Instance("b"))).instances)
        2
    """

    space: Space
    instances: tuple[Instance, ...] = (NO_INSTANCE,)
    cost: CostMetric = Quality()
    cutoff: float = math.inf
    deterministic: bool = False
    initial: tuple[Config, ...] = ()
    """Configurations that challenge the default first, in this order."""
    known: tuple[Run, ...] = ()
    """Runs made before the search, on its instances; the search does not repeat them."""
    capping: Capping = Capping()
    """Whether runs of challengers are stopped once they can no longer win."""
    answer_tolerance: float = TOLERANCE
    """Largest relative difference between two numbers that count as the same answer."""
    expected: Mapping[str, Answer] = field(default_factory=dict)
    """Known right answers by instance name, for targets that do not know them themselves."""
    families: Families = field(default_factory=dict)
    """Family by instance name, test instances included; empty to infer families from the names."""
    balanced: bool = False
    """Whether all families count alike in every comparison, however many instances they have."""

    def __post_init__(self) -> None:
        if not self.instances:
            raise BadInput("the list of instances is empty")
        names = [instance.name for instance in self.instances]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"instance {twice!r} is listed twice")
        if not isinstance(self.cutoff, int | float) or not self.cutoff > 0:
            raise BadInput(f"the cutoff must be a positive number, not {self.cutoff!r}")
        if not 0 <= self.answer_tolerance < math.inf:
            what = "answer_tolerance must be a number that is not negative"
            raise BadInput(f"{what}, not {self.answer_tolerance!r}")
        if self.balanced and len({self.families.get(name) for name in names}) < 2:
            raise BadInput("families: balanced comparisons need at least two families of instances")
        if self.cost.needs_runtime and math.isinf(self.cutoff):
            raise BadInput("tuning for runtime needs a cutoff: what would a run that hangs cost?")
        if self.capping.kind != "none" and not self.cost.grows_with_time:
            raise BadInput(
                f"{self.capping.kind} capping makes no sense here: a run whose quality counts"
                " cannot be known to have lost before it ends. It is for costs that are runtimes."
            )

    def cost_of(self, run: Run) -> Cost:
        """Return the cost of an uncensored run, judged by the scenario's cutoff.

        Args:
            run: A run that was not capped.

        Returns:
            A tuple of numbers; lower is better.
        """
        if run.task.cutoff < self.cutoff:
            run = run._replace(task=run.task._replace(cutoff=self.cutoff))
        return self.cost.of(run)

    def describe(self) -> dict[str, object]:
        """Describe the scenario in JSON types.

        Raises:
            BadInput: A part cannot describe itself.
        """
        more: dict[str, object] = {}
        values = instance_values(self.instances)
        if values:
            more["instance_values"] = values
        if self.initial:
            more["initial"] = [config.key for config in self.initial]
        if self.known:
            more["known"] = digest(repr([_facts(run) for run in self.known]))
        if self.capping.kind != "none":
            more["capping"] = self.capping.describe()
        if self.answer_tolerance != TOLERANCE:
            more["answer_tolerance"] = self.answer_tolerance
        if self.expected:
            more["expected"] = dict(self.expected)
        if self.balanced:
            more["families"] = {i.name: self.families[i.name] for i in self.instances}
        return {
            "space": self.space.describe(),
            "instances": [instance.name for instance in self.instances],
            "cost": description(self.cost, "the cost"),
            "cutoff": None if math.isinf(self.cutoff) else self.cutoff,
            "deterministic": self.deterministic,
            **more,
        }


def _facts(run: Run) -> tuple[object, ...]:
    """Everything a search can see of a run; equal in every process."""
    config, instance, seed, cutoff = run.task
    facts = (run.status.value, run.runtime, run.quality, run.answer, *run.others)
    return config.key, instance.name, seed, cutoff, *facts


def instance_values(instances: Sequence[Instance]) -> dict[str, object]:
    """Describe in JSON types the instances whose names do not define them."""
    values = {instance.name: _beside_name(instance) for instance in instances}
    return {name: value for name, value in values.items() if value}


def _beside_name(instance: Instance) -> object:
    """Describe what defines an instance apart from its name; None for a plain value."""
    value = instance.value
    told = said(value)
    if told is not None:
        return dict(told)
    more = outline(value, f"instance {instance.name!r}")
    return None if more is None or instance.name in (more, str(more), json.dumps(more)) else more


def told_apart(instance: Instance) -> Instance:
    """Return the instance under a name that includes everything that defines it.

    Used where no list of instances is stored beside the runs.
    """
    more = _beside_name(instance)
    return Instance(f"{instance.name} {json.dumps(more)}", instance.value) if more else instance


def plain_name(name: str) -> str:
    """Remove from a name what `told_apart` appended; numbers may be part of the name itself."""
    for mark in re.finditer(r' (?=["{\[])', name):
        try:
            json.loads(name[mark.end() :])
        except ValueError:
            continue
        return name[: mark.start()]
    return name


def known_seeds(runs: Sequence[Run]) -> Mapping[Instance, Sequence[int]]:
    """Seeds with which each instance was run, the most frequent first."""
    often = Counter(run.task.pair for run in runs)
    seeds: dict[Instance, list[int]] = defaultdict(list)
    for (instance, seed), _ in often.most_common():
        seeds[instance].append(seed)
    return seeds


def endless_pairs(
    instances: Sequence[Instance],
    seed: int,
    skip: int = 0,
    known: Mapping[Instance, Sequence[int]] | None = None,
    deterministic: bool = False,
    families: Families | None = None,
) -> Iterator[Pair]:
    """Yield (instance, seed) pairs without end.

    Every instance comes once before any comes again; with `families`, in blocks of one instance of
    each family, among which the instances of small families come more often. Seeds never repeat,
    unless the target is deterministic and has only one. `skip` leaves out seeds, so that two parts
    of a study share none. The `known` seeds of an instance come before new ones.
    """
    # Each round visits the instances in a new random order, so any prefix of the pairs is balanced
    # over the instances up to one run. Seeds come from one stream for all instances: a seed belongs
    # to a single pair, and two configurations share pairs, not just seeds.
    rng = stream(seed, "pairs")
    first = known or {}
    used = {number for numbers in first.values() for number in numbers}
    new = (number for number in target_seeds(rng, skip) if number not in used)
    seeds = repeat(FIXED_SEED) if deterministic else new
    met: Counter[Instance] = Counter()
    for turn in count():
        listed = in_blocks(instances, families, rng, deterministic) if families else ()
        for instance in listed or shuffled(instances, rng):
            numbers = first.get(instance, ())
            used_here = turn if not listed else met[instance]
            met[instance] += bool(listed)
            yield Pair(instance, numbers[used_here] if used_here < len(numbers) else next(seeds))
