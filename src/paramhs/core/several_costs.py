"""Several costs of one run, such as the size of a file and the time to write it.

A run carries all of them; its cost is a tuple with one number for each, none more important than
the other. A search weighs them differently in each race (`search.front`), and its result is a
front: the configurations that no other beats in every cost. Bounds say which of these are of use.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramhs.core.costs import WORST, Cost, CostMetric, Runtime, Score, cost_of
from paramhs.core.errors import BadInput
from paramhs.core.runs import FAILURES, Run, Status
from paramhs.core.text.quoting import short

_BOUND = re.compile(r"\s*([^\W\d]\w*)\s*(<=|>=)\s*(\S+)\s*")
_PART = re.compile(r"(minimi[sz]e|maximi[sz]e)(?:\s+(\S+))?")
RUNTIME = "runtime"
"""Name of the cost that is a runtime."""


@dataclass(frozen=True)
class Reported(CostMetric):
    """One of several numbers that the target reports, minimised or maximised."""

    name: str
    position: int = 0
    maximise: bool = False

    @property
    def label(self) -> str:
        """Name of the number shown to people."""
        return f"mean {self.name}"

    def of(self, run: Run) -> Cost:
        """Return the number, negated if it is maximised; the worst if it is missing."""
        numbers = () if run.quality is None else (run.quality, *run.others)
        number = numbers[self.position] if self.position < len(numbers) else WORST
        if run.status in FAILURES or not math.isfinite(number):
            return (WORST,)
        return (-number if self.maximise else number,)

    def shown(self, score: Score) -> float:
        """Return the mean in the target's own sign."""
        return -score[1] if self.maximise else score[1]


@dataclass(frozen=True)
class Bound:
    """A bound on the mean of a cost, such as "gap <= 0.01"."""

    name: str
    limit: float
    at_most: bool = True

    def holds(self, number: float) -> bool:
        """Whether a mean is within the bound."""
        return number <= self.limit if self.at_most else number >= self.limit

    def __str__(self) -> str:
        return f"{self.name} {'<=' if self.at_most else '>='} {self.limit:g}"


@dataclass(frozen=True)
class Costs(CostMetric):
    """Several costs, each with a name, and bounds that the result must keep."""

    parts: tuple[CostMetric, ...]
    names: tuple[str, ...]
    bounds: tuple[Bound, ...] = ()

    def __post_init__(self) -> None:
        if len(self.parts) < 2 or len(self.parts) != len(self.names):
            raise BadInput("several costs need at least two, each with a name")
        twice = [name for name in self.names if self.names.count(name) > 1]
        if twice:
            raise BadInput(f"two costs are called {twice[0]!r}; name them, as in 'minimise size'")
        for bound in self.bounds:
            self.position(bound.name)
            if self.names.count(bound.name) and len(self.bounds) >= len(self.names):
                raise BadInput("subject_to bounds every cost, so that none is left to improve")

    def position(self, name: str) -> int:
        """Position of the cost with this name."""
        if name not in self.names:
            known = ", ".join(map(repr, self.names))
            raise BadInput(f"there is no cost {short(name)}; there are {known}")
        return self.names.index(name)

    @property
    def needs_quality(self) -> bool:
        """Whether the target must report a number."""
        return any(part.needs_quality for part in self.parts)

    @property
    def leading(self) -> CostMetric:
        """The first cost that has no bound."""
        bounded = {bound.name for bound in self.bounds}
        free = (p for p, name in zip(self.parts, self.names, strict=True) if name not in bounded)
        return next(free)

    @property
    def by_name(self) -> Mapping[str, CostMetric]:
        """The costs by their names."""
        return dict(zip(self.names, self.parts, strict=True))

    @property
    def reports(self) -> tuple[str, ...]:
        """Names of the numbers that a run reports."""
        return tuple(
            name
            for part, name in zip(self.parts, self.names, strict=True)
            if isinstance(part, Reported)
        )

    @property
    def maximise(self) -> bool:
        """Whether a larger number of the first cost is better."""
        return self.parts[0].maximise

    @property
    def needs_runtime(self) -> bool:
        """Whether the first cost is a runtime."""
        return self.parts[0].needs_runtime

    @property
    def label(self) -> str:
        """Name of the first cost."""
        return self.parts[0].label

    @property
    def unit(self) -> str:
        """Unit of the first cost."""
        return self.parts[0].unit

    def of(self, run: Run) -> Cost:
        """Return one number for each cost; the worst in all for a wrong answer."""
        if run.status is Status.WRONG:
            return (WORST,) * len(self.parts)
        return tuple(part.of(run)[0] for part in self.parts)

    def shown(self, score: Score) -> float:
        """Return the mean of the first cost."""
        return self.parts[0].shown(score[:2])

    def __str__(self) -> str:
        return " and ".join(self.names)


def costs_named(entries: Sequence[object], bounds: object = ()) -> Costs:
    """Return several costs from their names.

    Args:
        entries: Names such as "minimise", "maximise accuracy", "runtime" and "PAR2".
        bounds: Bounds such as "gap <= 0.01"; one text or several.
    """
    parts: list[CostMetric] = []
    names: list[str] = []
    reported = 0
    for entry in entries:
        part, name = _part(entry, reported)
        reported += isinstance(part, Reported)
        parts.append(part)
        names.append(name)
    if sum(isinstance(part, Runtime) for part in parts) > 1:
        raise BadInput("cost lists two runtimes, and a run has one")
    return Costs(tuple(parts), tuple(names), bounds_of(bounds))


def _part(entry: object, reported: int) -> tuple[CostMetric, str]:
    if isinstance(entry, str):
        penalty = re.fullmatch(r"PAR(\d+(?:\.\d+)?)", entry)
        if entry == RUNTIME or penalty:
            return Runtime(float(penalty[1])) if penalty else Runtime(), RUNTIME
        found = _PART.fullmatch(entry)
        name = (
            (found[2] or ("quality" if not reported else f"quality{reported + 1}")) if found else ""
        )
        if found and name.isidentifier():
            return Reported(name, reported, found[1].startswith("max")), name
    raise BadInput(
        f"{short(entry)} is none of several costs; write 'minimise', 'maximise', each with a name"
        " if there are several, such as 'minimise size', or 'runtime', 'PAR2'"
    )


def bounds_of(said: object) -> tuple[Bound, ...]:
    """Read bounds: one text such as "gap <= 0.01 and size <= 3", or several."""
    texts = [said] if isinstance(said, str) else said
    if not isinstance(texts, list | tuple):
        raise BadInput(f"a bound must be a text such as 'gap <= 0.01', not {short(said)}")
    found = []
    for text in texts:
        for one in text.split(" and ") if isinstance(text, str) else (text,):
            found.append(one if isinstance(one, Bound) else _bound(one))
    return tuple(found)


def _bound(text: object) -> Bound:
    match = _BOUND.fullmatch(text) if isinstance(text, str) else None
    try:
        if match and math.isfinite(limit := float(match[3])):
            return Bound(match[1], limit, match[2] == "<=")
    except ValueError:
        pass
    raise BadInput(f"{short(text)} is no bound; expected a cost and a number: 'gap <= 0.01'")


def described_cost(described: Mapping[str, Any]) -> CostMetric:
    """Rebuild a metric from its description, also one of several costs.

    Raises:
        BadInput: The metric is not one of this package.
    """
    if described.get("kind") != Costs.__name__:
        return cost_of(described)
    try:
        return Costs(
            tuple(_rebuilt_part(part) for part in described["parts"]),
            tuple(map(str, described["names"])),
            tuple(_rebuilt_bound(bound) for bound in described["bounds"]),
        )
    except (KeyError, TypeError, AttributeError):
        raise BadInput(f"{short(described)} describes no cost") from None


def _rebuilt_part(described: Mapping[str, Any]) -> CostMetric:
    facts = {name: value for name, value in described.items() if name != "kind"}
    return Reported(**facts) if described["kind"] == Reported.__name__ else cost_of(described)


def _rebuilt_bound(described: Mapping[str, Any]) -> Bound:
    return Bound(**{name: value for name, value in described.items() if name != "kind"})
