"""Which clauses of parameters explain failed runs.

What counts is configurations, not runs: a configuration that crashes does so on every instance, so
its runs are no independent witnesses. One fails if its runs do so no less often than all runs. A
clause is tested by Fisher's exact test on configurations with and without it that fail and do not.
Each parameter has the same share of the error allowed, and each of its clauses the same share of
that (Bonferroni's correction, by parts), so that a parameter with two values is not drowned by one
with a hundred; and so for pairs. Clauses that hold of so few or so many configurations that they
could never be significant are not counted (Tarone's). A clause *explains* if nine tenths of the
runs with it failed. Where the messages name its value, it needed no looking for, and is not
corrected.

Source: Fisher, Statistical Methods for Research Workers (1934), section 21.02; Tarone, A modified
Bonferroni method for discrete data (Biometrics 46, 1990).
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from paramhs.values.runs import FAILURES, Run
from paramhs.values.space import INACTIVE, Compare, Config, Space

ALWAYS = 0.9  # the share of failed runs from which on a clause explains them
SIGNIFICANT = 0.05
_SINGLE = 0.8  # the share of the error that is left to clauses of one parameter
OTHER = 0.1  # to instances; and to clauses of two
_MOST_PAIRED = 100  # clauses of one parameter of which all pairs are tried, the likeliest
_MOST_CUTS = 256  # values of an ordered parameter from which on the others are tried
_READ = 1_000  # messages that are read
_TELLING = 3  # letters of a value that messages name
_FEW_LEVELS = 128  # up to so many values of an ordered parameter are also taken one by one

Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""Of each configuration, whether something holds."""


class Seen:
    """Runs, counted by configuration, and those that failed in order."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self.made = Counter(run.task.config for run in runs)
        self.failures = [run for run in runs if run.status in FAILURES]

    @property
    def count(self) -> int:
        """How many runs."""
        return self.made.total()

    def parted(self, clause: "Clause") -> "tuple[Seen, Seen]":
        """What a clause holds of, and the rest; the runs that did not fail are only counted."""
        held = {config for config in self.made if clause.holds(config)}
        parts = Seen(()), Seen(())
        for part, inside in zip(parts, (True, False), strict=True):
            made = self.made.items()
            part.made = Counter({c: count for c, count in made if (c in held) is inside})
            part.failures = [r for r in self.failures if (r.task.config in held) is inside]
        return parts


class _Range(NamedTuple):
    """A parameter has an index from one to another."""

    position: int
    low: int
    high: int
    text: str


class Clause(NamedTuple):
    """What configurations may have in common."""

    ranges: tuple[_Range, ...]

    @property
    def text(self) -> str:
        """As it can be forbidden."""
        return " and ".join(part.text for part in self.ranges)

    def holds(self, config: Config) -> bool:
        """Whether it does, of a configuration."""
        return all(low <= config.indices[at] <= high for at, low, high, _ in self.ranges)


class _Judged(NamedTuple):
    """A clause, and how well it explains."""

    clause: Clause
    log_p: float
    """The logarithm of its p-value, corrected; for ranking, also where that is no double."""
    rate: float
    """Of failures among the runs with it."""


class _Counts(NamedTuple):
    """What a clause holds of."""

    configs: int
    failing: int
    """How many of them fail no less often than all runs do."""
    runs: int
    failed: int


class ClauseTable:
    """Configurations with the number of their runs and of those that failed."""

    def __init__(self, seen: Seen, space: Space) -> None:
        failed = Counter(run.task.config for run in seen.failures)
        self.space = space
        self.messages = {run.reason for run in seen.failures[-_READ:]}
        self.indices = np.array([config.indices for config in seen.made], np.int64)
        self.runs = np.fromiter(seen.made.values(), np.int64, len(seen.made))
        self.failed = np.array([failed[config] for config in seen.made], np.int64)
        self._mark()

    def _mark(self) -> None:
        """Who fails: those that do no less often than all. Where any run may fail by chance, one
        failure says nothing of a configuration that was run often."""
        often = self.failed * self.runs.sum() >= self.failed.sum() * self.runs
        self.failing = (self.failed > 0) & often
        self.whole = self.counts(np.ones(len(self.runs), np.bool_))

    def without(self, mask: Mask) -> "ClauseTable":
        """The configurations of which something does not hold."""
        less = copy(self)
        for name in ("indices", "runs", "failed"):
            setattr(less, name, getattr(self, name)[~mask])
        less._mark()
        return less

    def mask(self, clause: Clause) -> Mask:
        """The configurations of which a clause holds."""
        result = np.ones(len(self.runs), np.bool_)
        for position, low, high, _ in clause.ranges:
            column = self.indices[:, position]
            result &= (low <= column) & (column <= high)
        return result

    def counts(self, mask: Mask) -> _Counts:
        """Of some."""
        parts = (part[mask] for part in (self.failing, self.runs, self.failed))
        return _Counts(int(mask.sum()), *(int(part.sum()) for part in parts))

    def counts_of(self, position: int, ranges: Sequence[_Range]) -> list[_Counts]:
        """Of each range of one parameter; a look at each configuration is enough for all."""
        seen, which = np.unique(self.indices[:, position], return_inverse=True)
        weights = (None, self.failing, self.runs, self.failed)
        sums = [np.cumsum([0, *np.bincount(which, w, len(seen)).tolist()]) for w in weights]
        first = np.searchsorted(seen, [r.low for r in ranges])
        after = np.searchsorted(seen, [r.high for r in ranges], "right")
        columns = [(total[after] - total[first]).astype(int).tolist() for total in sums]
        return [_Counts(*numbers) for numbers in zip(*columns, strict=True)]

    def judged(self, clause: Clause, counts: _Counts, tried: float) -> _Judged:
        """How well a clause explains, where so many share the error."""
        marked, total = self.whole.failing, self.whole.configs
        log_p = log_fisher(counts.failing, counts.configs, marked, total)
        rate = counts.failed / counts.runs if counts.runs else 0.0
        if rate >= ALWAYS and self._name(clause):
            tried = 1.0
        return _Judged(clause, log_p + math.log(tried), rate)

    def _name(self, clause: Clause) -> bool:
        """Whether the messages name the value, so that nobody had to look for it."""
        ((position, low, high, _), *more) = clause.ranges
        word = self.space.listed[position].value(low)
        if more or low != high or not isinstance(word, str) or len(word) < _TELLING:
            return False
        return all(word in message for message in self.messages)


def explanations(table: ClauseTable) -> Iterator[tuple[Clause, float]]:
    """The clauses that explain failures, the best first, each of what those before it leave."""
    while table.failed.any():
        found = _best(table)
        if found is None:
            return
        yield found.clause, math.exp(found.log_p)
        table = table.without(table.mask(found.clause))


def _best(table: ClauseTable) -> _Judged | None:
    """What explains failures, by one parameter or two; else what at least has to do with them."""
    by_parameter = _single_clauses(table)
    singles = []
    for position, ranges in by_parameter.items():
        counts = table.counts_of(position, ranges)
        tried = _testable(table.whole, counts, _SINGLE / len(by_parameter))
        for one, count in zip(ranges, counts, strict=True):
            singles.append(table.judged(Clause((one,)), count, tried))
    explains = _surest(one for one in singles if one.rate >= ALWAYS)
    if explains is not None and table.counts(table.mask(explains.clause)).failing == (
        table.whole.failing
    ):
        return explains  # no pair can explain more
    pairs = _judged_pairs(table, by_parameter, singles)
    return _surest(one for one in (*singles, *pairs) if one.rate >= ALWAYS) or _surest(singles)


def _testable(whole: _Counts, counts: Sequence[_Counts], share: float) -> float:
    """By how much the p-values of a parameter's clauses are multiplied, given its share."""
    least = sorted(
        log_fisher(min(n.configs, whole.failing), n.configs, whole.failing, whole.configs)
        for n in counts
    )
    for count in range(1, len(counts)):
        if bisect_right(least, math.log(SIGNIFICANT * share / count)) <= count:
            return count / share
    return len(counts) / share


def _surest(judged: Iterable[_Judged]) -> _Judged | None:
    significant = [one for one in judged if one.log_p <= math.log(SIGNIFICANT)]
    return min(significant, key=lambda one: one.log_p, default=None)


def _judged_pairs(
    table: ClauseTable, by_parameter: Mapping[int, Sequence[_Range]], singles: Sequence[_Judged]
) -> Iterator[_Judged]:
    """Two clauses at a time, of different parameters, of those that have most to do with it."""
    likely = sorted(singles, key=lambda one: one.log_p)[:_MOST_PAIRED]
    spread = math.comb(len(by_parameter), 2) / OTHER
    masks = [table.mask(one.clause) for one in likely]
    failed, runs = (_together(masks, weights) for weights in (table.failed, table.runs))
    for a, b in combinations(range(len(likely)), 2):
        (first,), (second,) = likely[a].clause.ranges, likely[b].clause.ranges
        if first.position == second.position or not failed[a, b] >= ALWAYS * runs[a, b] > 0:
            continue
        ways = len(by_parameter[first.position]) * len(by_parameter[second.position])
        both = Clause(tuple(sorted((first, second))))
        yield table.judged(both, table.counts(table.mask(both)), ways * spread)


def _together(masks: Sequence[Mask], weights: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """The weight of the configurations of which both of two clauses hold, for every two."""
    matrix = np.array(masks, np.float64)
    result: np.ndarray[Any, Any] = np.rint((matrix * weights) @ matrix.T)
    return result


def _single_clauses(table: ClauseTable) -> dict[int, list[_Range]]:
    """The clauses of each parameter that was not the same everywhere."""
    result = {}
    for position in range(len(table.space.listed)):
        seen = np.unique(table.indices[:, position])
        active = [int(index) for index in seen if index != INACTIVE]
        if len(seen) > 1:
            result[position] = list(_ranges(table.space, position, active))
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
    first = _log_hypergeometric(hits, drawn, marked, total)
    terms, share = [1.0], 1.0
    for k in range(hits, most):  # each term by the one before; beyond what is expected they fall
        share *= (marked - k) * (drawn - k) / ((k + 1) * (total - marked - drawn + k + 1))
        if share < 1e-17:
            break
        terms.append(share)
    return first + math.log(math.fsum(terms))


def _log_hypergeometric(k: int, drawn: int, marked: int, total: int) -> float:
    others = _log_choose(total - marked, drawn - k)
    return _log_choose(marked, k) + others - _log_choose(total, drawn)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
