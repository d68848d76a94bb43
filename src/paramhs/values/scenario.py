"""What is to be tuned, without saying how: space, instances, cost, cutoff, what is known before."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, repeat

from paramhs.values.capping import Capping
from paramhs.values.costs import Cost, CostMetric, Quality
from paramhs.values.describing import description, digest
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Instance, Pair, Run
from paramhs.values.seeds import shuffled, stream, target_seeds
from paramhs.values.space import Config, Space

FIXED_SEED = 1
"""What a deterministic target is given. (Not 0, which asks some solvers to take the clock and which
others refuse; nor -1, which is no unsigned number.)"""


@dataclass(frozen=True)
class Scenario:
    """The problem a search is given.

    A deterministic target gives the same answer for every seed, so each instance is worth one run,
    which is made with a fixed seed.
    """

    space: Space
    instances: tuple[Instance, ...] = (NO_INSTANCE,)
    cost: CostMetric = Quality()
    cutoff: float = math.inf
    deterministic: bool = False
    initial: tuple[Config, ...] = ()
    """Configurations that challenge the default first, in this order."""
    known: tuple[Run, ...] = ()
    """Runs made before the search, on its instances: it asks for none of them again."""
    capping: Capping = Capping()
    """Whether challengers' runs are cut short once they can no longer win."""

    def __post_init__(self) -> None:
        if not self.instances:
            raise BadInput("the list of instances is empty")
        names = [instance.name for instance in self.instances]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput(f"instance {twice!r} is listed twice")
        if not isinstance(self.cutoff, int | float) or not self.cutoff > 0:
            raise BadInput(f"the cutoff must be a positive number, not {self.cutoff!r}")
        if self.cost.needs_runtime and math.isinf(self.cutoff):
            raise BadInput("tuning for runtime needs a cutoff: what would a run that hangs cost?")
        if self.capping.kind != "none" and not self.cost.grows_with_time:
            raise BadInput(
                f"{self.capping.kind} capping makes no sense here: a run whose quality counts"
                " cannot be known to have lost before it ends. It is for costs that are runtimes."
            )

    def cost_of(self, run: Run) -> Cost:
        """What a run costs that is not censored: by this cutoff, whatever smaller one it had."""
        if run.task.cutoff < self.cutoff:
            run = run._replace(task=run.task._replace(cutoff=self.cutoff))
        return self.cost.of(run)

    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types; `BadInput` where something cannot say what it is."""
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
        return {
            "space": self.space.describe(),
            "instances": [instance.name for instance in self.instances],
            "cost": description(self.cost, "the cost"),
            "cutoff": None if math.isinf(self.cutoff) else self.cutoff,
            "deterministic": self.deterministic,
            **more,
        }


def _facts(run: Run) -> tuple[object, ...]:
    """What of a run a search can see; the same in every process."""
    config, instance, seed, cutoff = run.task
    return config.key, instance.name, seed, cutoff, run.status.value, run.runtime, run.quality


def instance_values(instances: Sequence[Instance]) -> dict[str, object]:
    """What instances are, where their names do not say it, in JSON types."""
    values = {instance.name: _beside_name(instance) for instance in instances}
    return {name: value for name, value in values.items() if value}


def _beside_name(instance: Instance) -> object:
    """What defines an instance beside its name; nothing of a path, a number, a plain list."""
    value = instance.value
    if callable(getattr(value, "describe", None)):
        return value.describe()
    more = description(value, f"instance {instance.name!r}")
    return None if more is None or instance.name in (more, str(more), json.dumps(more)) else more


def told_apart(instance: Instance) -> Instance:
    """The same under a name that says all that defines it, where no list of instances does."""
    more = _beside_name(instance)
    return Instance(f"{instance.name} {json.dumps(more)}", instance.value) if more else instance


def plain_name(name: str) -> str:
    """The name without what `told_apart` added to it; a number may be part of the name itself."""
    for mark in re.finditer(r' (?=["{\[])', name):
        try:
            json.loads(name[mark.end() :])
        except ValueError:
            continue
        return name[: mark.start()]
    return name


def known_seeds(runs: Sequence[Run]) -> Mapping[Instance, Sequence[int]]:
    """For each instance, the seeds it was run with, the most used first."""
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
) -> Iterator[Pair]:
    """Instances with seeds: each instance once before any comes again; no seed comes again, unless
    the target is deterministic and has only one.

    `skip` leaves out seeds, so that two parts of a study have none in common. The `known` seeds of
    an instance come before new ones.
    """
    rng = stream(seed, "pairs")
    first = known or {}
    used = {number for numbers in first.values() for number in numbers}
    new = (number for number in target_seeds(rng, skip) if number not in used)
    seeds = repeat(FIXED_SEED) if deterministic else new
    for turn in count():
        for instance in shuffled(instances, rng):
            numbers = first.get(instance, ())
            yield Pair(instance, numbers[turn] if turn < len(numbers) else next(seeds))
