"""Failed runs, grouped by what their configurations have in common.

A typo in one value makes every run with it crash, and a search only learns to avoid it. Here the
failures are explained by an instance, by the value of one parameter (or, where it is ordered, by
its values from one on), or by those of two: the *clause* that says it best is taken, then the best
for what is left.

What counts is configurations, not runs: a configuration that crashes does so on every instance, so
its runs are no independent witnesses. A clause is tested by Fisher's exact test on configurations
with and without it that failed and did not. Each parameter has the same share of the error allowed,
and each of its clauses the same share of that (Bonferroni's correction, by parts), so that a
parameter with two values is not drowned by one with a hundred; and so for pairs. A clause
*explains* if nine tenths of the runs with it failed.

Source: Fisher, Statistical Methods for Research Workers (1934), section 21.02.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from paramhs.values.errors import BadInput
from paramhs.values.runs import FAILURES, Run
from paramhs.values.space import INACTIVE, Compare, Config, Space
from paramhs.values.wording import counted, printable

_ALWAYS = 0.9  # the share of failed runs from which on a clause explains them
_SIGNIFICANT = 0.05
_FAMILIES = 3  # clauses of instances, of one parameter, of two: each has a third of the error
_MOST_PAIRED = 100  # clauses of one parameter of which all pairs are tried, the likeliest
_MOST_CUTS = 64  # values of an ordered parameter from which on the others are tried
_FEW_LEVELS = 5  # up to so many values of an ordered parameter are also taken one by one


@dataclass(frozen=True)
class FailureGroup:
    """Failed runs with something in common."""

    clause: str
    """What their configurations have in common; empty of those that nothing explains."""
    failed: int
    runs: int
    """How many there are under the clause, failed or not."""
    others_failed: int
    others: int
    statuses: Mapping[str, int]
    """How they ended, and how often."""
    message: str
    """What the last of them said, on one line."""
    p_value: float
    """How likely chance would do as much, given how many clauses were tried."""
    forbid: str = ""
    """The clause to forbid; empty where that is not the way out."""
    forbidden: tuple[str, ...] = field(default=(), repr=False)
    """The clauses that the space has already."""

    @property
    def text(self) -> str:
        """A sentence."""
        how = " or ".join(_VERBS.get(status, status) for status in self.statuses)
        if not self.clause:
            what = f"{counted(self.failed, 'run')} {how}, and no value explains"
            return f"{what} {'it' if self.failed == 1 else 'them'}{self._said}"
        with_it = f"{self.failed:,} of {counted(self.runs, 'run')} with {self.clause} {how}"
        return f"{with_it}, {self.others_failed:,} of {self.others:,} others{self._said}"

    @property
    def _said(self) -> str:
        return f": {self.message}" if self.message else ""

    @property
    def toml(self) -> str:
        """The line for a scenario file that forbids it, beside what is forbidden already."""
        return f"forbidden = {self._list}" if self.forbid else ""

    @property
    def python(self) -> str:
        """The argument of `Space` that forbids it."""
        return f"forbidden={self._list}" if self.forbid else ""

    @property
    def _list(self) -> str:
        return json.dumps([*self.forbidden, self.forbid], ensure_ascii=False)

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {**asdict(self), "text": self.text, "toml": self.toml, "python": self.python}


_VERBS = {"crashed": "crashed", "wrong": "gave a wrong answer"}

Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""Of each configuration, whether something holds."""


def failure_groups(runs: Iterable[Run], space: Space) -> tuple[FailureGroup, ...]:
    """Failed runs by what explains them, the largest group first; what nothing explains last."""
    kept = list(runs)
    if not any(run.status in FAILURES for run in kept):
        return ()
    groups = []
    for name, p_value in _bad_instances(kept):
        here = [run for run in kept if run.task.instance.name == name]
        kept = [run for run in kept if run.task.instance.name != name]
        groups.append(_group(f"instance {printable(name)}", p_value, here, kept))
    for clause, p_value in _explanations(_Table(kept, space)):
        here = [run for run in kept if clause.holds(run.task.config)]
        kept = [run for run in kept if not clause.holds(run.task.config)]
        group = _group(clause.text, p_value, here, kept)
        groups.append(_with_way_out(group, clause, space))
    groups.sort(key=lambda group: -group.failed)
    return (*groups, *_unexplained(kept))


def _group(clause: str, p_value: float, here: Sequence[Run], others: Sequence[Run]) -> FailureGroup:
    failed = [run for run in here if run.status in FAILURES]
    return FailureGroup(
        clause,
        len(failed),
        len(here),
        sum(run.status in FAILURES for run in others),
        len(others),
        dict(Counter(run.status.value for run in failed)),
        failed[-1].reason,
        p_value,
    )


def _unexplained(runs: Sequence[Run]) -> Iterator[FailureGroup]:
    failed = [run for run in runs if run.status in FAILURES]
    if failed:
        yield replace(_group("", 1.0, failed, ()), runs=len(runs))


def _with_way_out(group: FailureGroup, clause: "_Clause", space: Space) -> FailureGroup:
    """With the clause to forbid, if that leaves the default and loses little else."""
    already = tuple(map(str, space.forbidden))
    if group.failed < _ALWAYS * group.runs:
        return group
    try:
        Space(space.parameters, conditions=space.conditions, forbidden=[*already, clause.text])
    except BadInput:  # the default itself
        return group
    return replace(group, forbid=clause.text, forbidden=already)


# Instances.


def _bad_instances(runs: Sequence[Run]) -> Iterator[tuple[str, float]]:
    """Those on which nearly everything fails and elsewhere little does."""
    made = Counter(run.task.instance.name for run in runs)
    failed = Counter(run.task.instance.name for run in runs if run.status in FAILURES)
    for name, count in failed.items():
        log_p = log_fisher(count, made[name], failed.total(), len(runs))
        corrected = min(1.0, math.exp(log_p) * len(made) * _FAMILIES)
        if count >= _ALWAYS * made[name] and corrected <= _SIGNIFICANT:
            yield name, corrected


# Clauses of parameters.


class _Range(NamedTuple):
    """A parameter has an index from one to another."""

    position: int
    low: int
    high: int
    text: str


class _Clause(NamedTuple):
    """What configurations may have in common."""

    ranges: tuple[_Range, ...]

    @property
    def text(self) -> str:
        return " and ".join(part.text for part in self.ranges)

    def holds(self, config: Config) -> bool:
        return all(low <= config.indices[at] <= high for at, low, high, _ in self.ranges)


class _Table:
    """Configurations with the number of their runs and of those that failed."""

    def __init__(self, runs: Sequence[Run], space: Space) -> None:
        made = Counter(run.task.config for run in runs)
        failed = Counter(run.task.config for run in runs if run.status in FAILURES)
        self.space = space
        self.indices = np.array([config.indices for config in made], np.int64)
        self.runs = np.fromiter(made.values(), np.int64, len(made))
        self.failed = np.array([failed[config] for config in made], np.int64)

    def without(self, mask: Mask) -> "_Table":
        """The configurations of which something does not hold."""
        less = copy(self)
        for name in ("indices", "runs", "failed"):
            setattr(less, name, getattr(self, name)[~mask])
        return less

    def mask(self, clause: _Clause) -> Mask:
        """The configurations of which a clause holds."""
        result = np.ones(len(self.runs), np.bool_)
        for position, low, high, _ in clause.ranges:
            column = self.indices[:, position]
            result &= (low <= column) & (column <= high)
        return result

    def judged(self, clause: _Clause, tried: int) -> "_Judged":
        """How well a clause explains, one of so many in its family."""
        mask, failing = self.mask(clause), self.failed > 0
        hits, drawn, marked = (int(m.sum()) for m in (mask & failing, mask, failing))
        log_p = log_fisher(hits, drawn, marked, len(mask)) + math.log(tried * _FAMILIES)
        rate = float(self.failed[mask].sum() / max(self.runs[mask].sum(), 1))
        return _Judged(clause, log_p, rate)


class _Judged(NamedTuple):
    clause: _Clause
    log_p: float
    """The logarithm of its p-value, corrected; for ranking, also where that is no double."""
    rate: float
    """Of failures among the runs with it."""


def _explanations(table: _Table) -> Iterator[tuple[_Clause, float]]:
    """The clauses that explain failures, the best first, each of what those before it leave."""
    while table.failed.any():
        found = _best(table)
        if found is None:
            return
        yield found.clause, math.exp(found.log_p)
        table = table.without(table.mask(found.clause))


def _best(table: _Table) -> _Judged | None:
    """What explains failures, by one parameter or two; else what at least has to do with them."""
    by_parameter = _single_clauses(table)
    singles = [
        table.judged(clause, len(clauses) * len(by_parameter))
        for clauses in by_parameter.values()
        for clause in clauses
    ]
    pairs = _judged_pairs(table, by_parameter, singles)
    return _surest(one for one in (*singles, *pairs) if one.rate >= _ALWAYS) or _surest(singles)


def _surest(judged: Iterable[_Judged]) -> _Judged | None:
    significant = [one for one in judged if one.log_p <= math.log(_SIGNIFICANT)]
    return min(significant, key=lambda one: one.log_p, default=None)


def _judged_pairs(
    table: _Table, by_parameter: Mapping[int, Sequence[_Clause]], singles: Sequence[_Judged]
) -> Iterator[_Judged]:
    """Two clauses at a time, of different parameters, of those that have most to do with it."""
    likely = sorted(singles, key=lambda one: one.log_p)[:_MOST_PAIRED]
    spread = math.comb(len(by_parameter), 2)
    masks = [table.mask(one.clause) for one in likely]
    failed, runs = (_together(masks, weights) for weights in (table.failed, table.runs))
    for a, b in combinations(range(len(likely)), 2):
        (first,), (second,) = likely[a].clause.ranges, likely[b].clause.ranges
        if first.position == second.position or not failed[a, b] >= _ALWAYS * runs[a, b] > 0:
            continue
        ways = len(by_parameter[first.position]) * len(by_parameter[second.position])
        yield table.judged(_Clause(tuple(sorted((first, second)))), ways * spread)


def _together(masks: Sequence[Mask], weights: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """The weight of the configurations of which both of two clauses hold, for every two."""
    matrix = np.array(masks, np.float64)
    result: np.ndarray[Any, Any] = np.rint((matrix * weights) @ matrix.T)
    return result


def _single_clauses(table: _Table) -> dict[int, list[_Clause]]:
    """For each parameter the clauses that hold of some that failed and not of all others."""
    failing = table.indices[table.failed > 0]
    result = {}
    for position in range(len(table.space.listed)):
        seen = np.unique(table.indices[:, position])
        hit = set(np.unique(failing[:, position]).tolist())
        ranges = _ranges(table.space, position, [int(i) for i in seen if i != INACTIVE])
        clauses = [_Clause((r,)) for r in ranges if any(r.low <= i <= r.high for i in hit)]
        if len(seen) > 1 and clauses:
            result[position] = clauses
    return result


def _ranges(space: Space, position: int, seen: Sequence[int]) -> Iterator[_Range]:
    """A parameter's values one by one where they are few or have no order; else from one on."""
    name, parameter = list(space.parameters)[position], space.listed[position]

    def written(sign: str, index: int) -> str:
        return str(Compare(name, sign, parameter.value(index)))

    if not parameter.ordered or len(seen) <= _FEW_LEVELS:
        yield from (_Range(position, i, i, written("==", i)) for i in seen)
    if parameter.ordered:
        for i in _thinned(seen[1:]):
            yield _Range(position, i, parameter.levels - 1, written(">=", i))
        for i in _thinned(seen[:-1]):
            yield _Range(position, 0, i, written("<=", i))


def _thinned(indices: Sequence[int]) -> Sequence[int]:
    return indices[:: max(1, math.ceil(len(indices) / _MOST_CUTS))]


def log_fisher(hits: int, drawn: int, marked: int, total: int) -> float:
    """The logarithm of the chance that of so many drawn at least so many are marked.

    One-sided: 0 where there are no more than expected.
    """
    if hits * total <= drawn * marked:
        return 0.0
    most = min(drawn, marked)
    terms = [_log_hypergeometric(k, drawn, marked, total) for k in range(hits, most + 1)]
    return terms[0] + math.log(math.fsum(math.exp(term - terms[0]) for term in terms))


def _log_hypergeometric(k: int, drawn: int, marked: int, total: int) -> float:
    others = _log_choose(total - marked, drawn - k)
    return _log_choose(marked, k) + others - _log_choose(total, drawn)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
