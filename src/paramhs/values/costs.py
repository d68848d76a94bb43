"""What a run costs, and what many runs cost together. Lower is better.

A cost is a tuple of numbers that matter in that order (nearly always one number). Together, runs
are scored by the mean of each number over the runs where it is finite, preceded by the share of
runs where it is not. So *a run without a usable cost is worse than any run with one*: fewer such
runs win first, whatever the mean of the others. Scores compare as tuples do.

| what happened | quality | runtime (PARk) | runtime, then quality |
|---|---|---|---|
| finished | its quality | its runtime | its runtime, 0 |
| reached the cutoff C | its quality | k C | k C, its quality |
| crashed | worst | k C | k C, worst |
| a wrong answer | worst | worst | worst |

A quality that is missing or not finite is the worst, wherever quality counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.runs import FAILURES, Run, Status

Cost = tuple[float, ...]
Score = tuple[float, ...]

WORST = math.inf


@runtime_checkable
class CostMetric(Protocol):
    """How a run is judged, and the facts that others need to know of it.

    A metric of one's own is a subclass (then these facts have the values below) with an `of`.
    """

    @property
    def needs_quality(self) -> bool:
        """Whether a run that ended without reporting a quality has failed."""
        return True

    @property
    def needs_runtime(self) -> bool:
        """Whether the first number of a cost is a runtime, for which a cutoff must be set."""
        return False

    @property
    def maximise(self) -> bool:
        """Whether more of the reported quality is better."""
        return False

    @property
    def label(self) -> str:
        """What the number that people see is called."""
        return "mean"

    @property
    def unit(self) -> str:
        """What the first number of a cost is measured in."""
        return ""

    def of(self, run: Run) -> Cost:
        """The cost of one run, which is not censored."""
        raise NotImplementedError

    def shown(self, score: Score) -> float:
        """The number a person expects to see for a score."""
        return score[1]


@dataclass(frozen=True)
class Quality(CostMetric):
    """The mean of what the target reports, to be minimised or maximised."""

    maximise: bool = False

    def of(self, run: Run) -> Cost:
        """The reported quality, its sign turned if it is to be maximised."""
        quality = _usable_quality(run)
        return (-quality if self.maximise and quality < WORST else quality,)

    def shown(self, score: Score) -> float:
        """The mean quality."""
        return -score[1] if self.maximise else score[1]


@dataclass(frozen=True)
class Runtime(CostMetric):
    """Penalised average runtime: a run that does not finish counts `penalty` times its cutoff.

    Source: PAR10 in Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009).
    """

    needs_quality = False
    needs_runtime = True
    unit = "s"
    penalty: float = 10.0

    def __post_init__(self) -> None:
        _check_penalty(self.penalty)

    @property
    def label(self) -> str:
        """Such as PAR10 in s."""
        return _par(self.penalty)

    def of(self, run: Run) -> Cost:
        """Seconds."""
        if run.status is Status.WRONG:
            return (WORST,)
        return (run.runtime if run.status is Status.OK else self.penalty * run.task.cutoff,)


@dataclass(frozen=True)
class RuntimeThenQuality(CostMetric):
    """Penalised average runtime; among runs that do not finish, how good their answers were."""

    needs_runtime = True
    unit = "s"
    penalty: float = 10.0
    maximise: bool = False

    def __post_init__(self) -> None:
        _check_penalty(self.penalty)

    @property
    def label(self) -> str:
        """Such as PAR10 in s."""
        return _par(self.penalty)

    def of(self, run: Run) -> Cost:
        """Seconds, then quality where the run was stopped."""
        (seconds,) = Runtime(self.penalty).of(run)
        if run.status is Status.OK:
            return (seconds, 0.0)
        return (seconds, *Quality(self.maximise).of(run))


_OURS: Mapping[str, type[CostMetric]] = {
    metric.__name__: metric for metric in (Quality, Runtime, RuntimeThenQuality)
}


def cost_of(described: Mapping[str, Any]) -> CostMetric:
    """The metric that describes itself so; `BadInput` for one that is not of this package."""
    facts = dict(described)
    kind = facts.pop("kind", "")
    if kind not in _OURS:
        raise BadInput(f"{short(kind)} is a cost that only the program which defines it can tell")
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
    """How good runs with these costs are together; compare only over the same pairs."""
    result: list[float] = []
    for numbers in zip(*costs, strict=True):
        finite = [x for x in numbers if x < WORST]
        result += (1 - len(finite) / len(numbers), mean(finite) if finite else WORST)
    return tuple(result)


def mean(numbers: Sequence[float]) -> float:
    """Correctly rounded sums, so that the order of runs does not matter."""
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:  # the sum has no float, the mean has
        return float(sum(map(Fraction, numbers)) / len(numbers))


def _usable_quality(run: Run) -> float:
    failed = run.status in FAILURES
    if failed or run.quality is None or not math.isfinite(run.quality):
        return WORST
    return run.quality
