"""Costs of single runs and scores of many runs. Lower is better.

A cost is a tuple of numbers in order of importance (nearly always one number). The score of several
runs consists, for each of these numbers, of the share of runs where it is infinite and of its mean
over the other runs. Scores compare as tuples, so *a run without a usable cost is worse than any run
with one*: fewer such runs win first, whatever the mean of the others.

| what happened | quality | runtime (PARk) | runtime, then quality |
|---|---|---|---|
| finished | its quality | its runtime | its runtime, 0 |
| reached the cutoff C | its quality | k C | k C, its quality |
| ended without an answer (unsolved) | its quality | k C | k C, its quality |
| crashed, or gave no number | worst | k C | k C, worst |
| a wrong answer | worst | worst | worst |

Counted work is a quality, except that it is the worst unless the run finished with an answer.
Where quality counts, a quality that is missing or not finite is the worst. C is the cutoff of the
scenario, even for a run that was given a smaller one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from paramhs.core.answers import NO_ANSWERS
from paramhs.core.errors import BadInput
from paramhs.core.runs import FAILURES, Run, Status
from paramhs.core.text.quoting import short

Cost = tuple[float, ...]
Score = tuple[float, ...]

WORST = math.inf


@runtime_checkable
class CostMetric(Protocol):
    """Cost of a run, together with the properties of that cost which other modules need.

    A custom metric is a subclass with a method `of`; the properties below have default values.

    Examples:
        >>> from paramhs.core import CostMetric
        >>> class Length(CostMetric):
        ...     def of(self, run):
        ...         return (float(len(run.detail)),)
        >>> Length().maximise
        False
    """

    @property
    def needs_quality(self) -> bool:
        """Whether a run that ends without reporting a quality has failed."""
        return True

    @property
    def needs_runtime(self) -> bool:
        """Whether the first number of a cost is a runtime, which requires a cutoff."""
        return False

    @property
    def grows_with_time(self) -> bool:
        """Whether the first number of a cost is at least the runtime in seconds.

        If so, a run that has taken too long can no longer win, however it ends, and may be capped.
        """
        return False

    @property
    def maximise(self) -> bool:
        """Whether a larger quality is better."""
        return False

    @property
    def leading(self) -> "CostMetric":
        """The cost by which two configurations are compared where only one can be shown."""
        return self

    @property
    def by_name(self) -> "Mapping[str, CostMetric]":
        """Each of several costs by its name; one without a name otherwise."""
        return {"": self}

    @property
    def reports(self) -> tuple[str, ...]:
        """Names of the numbers that a run reports, where there are several costs."""
        return ()

    @property
    def label(self) -> str:
        """Name of the number shown to people."""
        return "mean"

    @property
    def unit(self) -> str:
        """Unit of the first number of a cost."""
        return ""

    def of(self, run: Run) -> Cost:
        """Return the cost of one uncensored run.

        Args:
            run: A run that was not capped.

        Returns:
            A tuple of numbers, the most important first; lower is better.
        """
        raise NotImplementedError

    def shown(self, score: Score) -> float:
        """Convert a score into the number shown to people.

        Args:
            score: Share of failures and mean, for each number of a cost.

        Returns:
            The number to print.
        """
        return score[1]


@dataclass(frozen=True)
class Quality(CostMetric):
    """Mean quality reported by the target, minimised or maximised.

    Args:
        maximise: Whether a larger quality is better.

    Examples:
        >>> from paramhs.core import Quality
        >>> Quality(maximise=True).shown((0.0, -3.0))
        3.0
    """

    maximise: bool = False

    def of(self, run: Run) -> Cost:
        """Return the reported quality, negated if it is maximised.

        Args:
            run: A run that was not capped.

        Returns:
            One number.
        """
        quality = _usable_quality(run)
        return (-quality if self.maximise and quality < WORST else quality,)

    def shown(self, score: Score) -> float:
        """Return the mean quality in the target's own sign.

        Args:
            score: Share of failures, and mean cost.

        Returns:
            The mean quality.
        """
        return -score[1] if self.maximise else score[1]


@dataclass(frozen=True)
class CountedWork(Quality):
    """Mean work that the target counts, such as propagations; less is better.

    Work of a run that was stopped, or that ended without an answer, is no cost: a run that gives up
    early has done little. It is worse than any run with an answer.

    Args:
        maximise: Whether more is better, as for any quality.

    Examples:
        >>> from paramhs.core import CountedWork
        >>> CountedWork().needs_runtime
        False
    """

    def of(self, run: Run) -> Cost:
        """Return the work of a run that has an answer.

        Args:
            run: A run that was not capped.

        Returns:
            One number.
        """
        if run.status is not Status.OK or run.answer in NO_ANSWERS:
            return (WORST,)
        return super().of(run)


@dataclass(frozen=True)
class Runtime(CostMetric):
    """Penalised average runtime: a run that does not finish counts `penalty` times its cutoff.

    Args:
        penalty: Factor of the cutoff that an unfinished run costs.

    Examples:
        >>> from paramhs.core import Runtime
        >>> Runtime().label
        'PAR10 in s'

    Source: PAR10 in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009).
    """

    needs_quality = False
    needs_runtime = True
    grows_with_time = True
    unit = "s"
    penalty: float = 10.0

    def __post_init__(self) -> None:
        _check_penalty(self.penalty)

    @property
    def label(self) -> str:
        """Name of the number shown to people, such as "PAR10 in s"."""
        return _par(self.penalty)

    def of(self, run: Run) -> Cost:
        """Return the runtime in seconds, penalised unless the run finished.

        Args:
            run: A run that was not capped.

        Returns:
            One number, in seconds.
        """
        if run.status is Status.WRONG:
            return (WORST,)
        return (run.runtime if run.status is Status.OK else self.penalty * run.task.cutoff,)


@dataclass(frozen=True)
class RuntimeThenQuality(CostMetric):
    """Penalised average runtime; runs that do not finish are compared by their quality.

    Args:
        penalty: Factor of the cutoff that an unfinished run costs.
        maximise: Whether a larger quality is better.

    Examples:
        >>> from paramhs.core import RuntimeThenQuality
        >>> RuntimeThenQuality(penalty=2.0).needs_runtime
        True
    """

    needs_runtime = True
    grows_with_time = True
    unit = "s"
    penalty: float = 10.0
    maximise: bool = False

    def __post_init__(self) -> None:
        _check_penalty(self.penalty)

    @property
    def label(self) -> str:
        """Name of the number shown to people, such as "PAR10 in s"."""
        return _par(self.penalty)

    def of(self, run: Run) -> Cost:
        """Return the penalised runtime in seconds, then the quality of a stopped run.

        Args:
            run: A run that was not capped.

        Returns:
            Seconds, and a quality.
        """
        (seconds,) = Runtime(self.penalty).of(run)
        if run.status is Status.OK:
            return (seconds, 0.0)
        return (seconds, *Quality(self.maximise).of(run))


_OURS: Mapping[str, type[CostMetric]] = {
    metric.__name__: metric for metric in (Quality, CountedWork, Runtime, RuntimeThenQuality)
}


def cost_of(described: Mapping[str, Any]) -> CostMetric:
    """Rebuild a metric from its description.

    Raises:
        BadInput: The metric is not one of this package.
    """
    facts = dict(described)
    kind = facts.pop("kind", "")
    if kind not in _OURS:
        raise BadInput(
            f"{short(kind)} is a custom cost, which only the program that defines it can rebuild"
        )
    try:
        return _OURS[kind](**facts)
    except TypeError:
        raise BadInput(f"{short(described)} describes no cost") from None


def _par(penalty: float) -> str:
    return f"PAR{penalty:g} in s"


def _check_penalty(penalty: object) -> None:
    if not isinstance(penalty, int | float) or not 1 <= penalty < math.inf:
        raise BadInput(f"a penalty must be a number of at least 1, not {penalty!r}")


def score(costs: Sequence[Cost]) -> Score:
    """Aggregate the costs of several runs; scores compare only over the same pairs."""
    result: list[float] = []
    for numbers in zip(*costs, strict=True):
        finite = [x for x in numbers if x < WORST]
        result += (1 - len(finite) / len(numbers), mean(finite) if finite else WORST)
    return tuple(result)


def mean(numbers: Sequence[float]) -> float:
    """Mean by a correctly rounded sum, so that the order of the runs does not matter."""
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:  # the sum overflows, the mean does not
        return float(sum(map(Fraction, numbers)) / len(numbers))


def _usable_quality(run: Run) -> float:
    failed = run.status in FAILURES
    if failed or run.quality is None or not math.isfinite(run.quality):
        return WORST
    return run.quality
