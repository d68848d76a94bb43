"""The collected runs as a target: the same answers, in the time that the work stands for."""

from dataclasses import dataclass, field

from benchmarks.studies.capping.collect import Family, read, text
from paramhs.core.capping import Capping
from paramhs.core.costs import Runtime
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Ordinal, Space


@dataclass(frozen=True)
class Replayed(Target):
    """A solver whose every run was made once."""

    family: Family
    seconds: dict[tuple[str, str], float] = field(repr=False)

    def __call__(self, task: Task) -> Run:
        """The run of a task."""
        seconds = self.seconds[text(task.config.as_dict()), task.instance.name]
        if seconds > task.cutoff:
            late = Status.TIMEOUT if task.cutoff == self.family.cutoff else Status.CAPPED
            return Run(task, late, task.cutoff)
        return Run(task, Status.OK, seconds)

    def cost(self, config: Config, numbers: range) -> float:
        """Its PAR10 on these instances."""
        words, cutoff = text(config.as_dict()), self.family.cutoff
        times = [self.seconds[words, str(number)] for number in numbers]
        return sum(t if t <= cutoff else 10 * cutoff for t in times) / len(times)


def replayed(family: Family) -> Replayed:
    """The target; what was not solved takes for ever."""
    return Replayed(
        family,
        {
            (row["config"], row["instance"]): int(row[family.work]) / family.second
            if row["solved"] == "1"
            else float("inf")
            for row in read(family)
        },
    )


def halves(family: Family) -> tuple[range, range]:
    """The instances to search on, and those to judge on."""
    middle = family.instances // 2
    return range(middle), range(middle, family.instances)


def space(family: Family, default: str = "") -> Space:
    """Its grid, numbers in their order; the default is the solver's own or that of this text."""
    given = dict(zip(family.values, default.split(), strict=True)) if default else {}
    parameters = {}
    for name, values in family.values.items():
        usual = next(v for v in values if str(v) == given.get(name, str(values[0])))
        parameters[name] = Ordinal(sorted(values), default=usual)  # type: ignore[type-var]
    return Space(parameters)


def scenario(family: Family, numbers: range, capping: Capping, default: str = "") -> Scenario:
    """Tuning for PAR10 on these instances."""
    instances = tuple(Instance(str(number)) for number in numbers)
    return Scenario(
        space(family, default), instances, Runtime(), family.cutoff, True, capping=capping
    )
