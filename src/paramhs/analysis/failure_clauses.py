"""Clauses over parameters that explain failed runs.

Configurations are counted, not runs: a configuration that crashes does so on every instance, so its
runs are not independent. A configuration is failing if the share of its runs that fail is at least
that of all runs. A clause is tested by Fisher's exact test on failing and other configurations,
with and without it. Each parameter receives the same share of the allowed error, and each of its
clauses the same share of that (Bonferroni's correction in two stages), so that a hundred values of
one parameter do not hide the two values of another; pairs of clauses are treated alike. Clauses
that hold for too few or too many configurations ever to be significant are not counted
(Tarone). A clause *explains* failures if nine tenths of the runs with it failed. A clause whose
value appears in the error messages was not found by searching and is not corrected.

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

from paramhs.core.runs import FAILURES, Run
from paramhs.core.space import INACTIVE, Compare, Config, Space

MIN_FAILED_SHARE = 0.9  # share of failed runs at which a clause counts as an explanation
SIGNIFICANCE_LEVEL = 0.05
_SINGLE_ERROR_SHARE = 0.8  # share of the allowed error for clauses of one parameter
OTHER_ERROR_SHARE = 0.1  # share for instances; and for clauses of two parameters
# Clauses of one parameter that are combined in pairs, the most significant ones.
_MAX_PAIRED_CLAUSES = 100
# Thresholds tried on an ordered parameter; with more values they are thinned.
_MAX_CUTS = 256
_MAX_MESSAGES = 1_000  # messages that are read
_MIN_LETTERS = 3  # letters of a value that is searched for in messages
# Levels of an ordered parameter whose values are also tried one by one.
_MAX_SINGLE_LEVELS = 128

Mask = np.ndarray[Any, np.dtype[np.bool_]]
"""One truth value for each configuration."""


class Seen:
    """Runs counted by configuration, with the failed ones in order."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.runs = runs
        self.made = Counter(run.task.config for run in runs)
        self.failures = [run for run in runs if run.status in FAILURES]

    @property
    def count(self) -> int:
        """Total number of runs."""
        return self.made.total()

    def parted(self, clause: "Clause") -> "tuple[Seen, Seen]":
        """Split the runs by a clause; those that did not fail are only counted."""
        held = {config for config in self.made if clause.holds(config)}
        parts = Seen(()), Seen(())
        for part, inside in zip(parts, (True, False), strict=True):
            made = self.made.items()
            part.made = Counter({c: count for c, count in made if (c in held) is inside})
            part.failures = [r for r in self.failures if (r.task.config in held) is inside]
        return parts


class _Range(NamedTuple):
    """Index interval of one parameter."""

    position: int
    low: int
    high: int
    text: str


class Clause(NamedTuple):
    """Conjunction of index intervals that configurations may share."""

    ranges: tuple[_Range, ...]

    @property
    def text(self) -> str:
        """The clause as it can be written under `forbidden`."""
        return " and ".join(part.text for part in self.ranges)

    def holds(self, config: Config) -> bool:
        """Whether the clause holds for a configuration."""
        return all(low <= config.indices[at] <= high for at, low, high, _ in self.ranges)


class _Judged(NamedTuple):
    """A clause with its significance and its share of failures."""

    clause: Clause
    log_p: float
    """Logarithm of the corrected p-value; ranks clauses even where the p-value underflows."""
    rate: float
    """Share of failed runs among the runs with the clause."""


class _Counts(NamedTuple):
    """Contingency counts for the configurations with a clause."""

    configs: int
    failing: int
    """Number of configurations that fail at least as often as all runs do."""
    runs: int
    failed: int


class ClauseTable:
    """Configurations with their numbers of runs and of failed runs."""

    def __init__(self, seen: Seen, space: Space) -> None:
        failed = Counter(run.task.config for run in seen.failures)
        self.space = space
        self.messages = {run.reason for run in seen.failures[-_MAX_MESSAGES:]}
        self.indices = np.array([config.indices for config in seen.made], np.int64)
        self.runs = np.fromiter(seen.made.values(), np.int64, len(seen.made))
        self.failed = np.array([failed[config] for config in seen.made], np.int64)
        self._mark()

    def _mark(self) -> None:
        """Mark the configurations that fail at least as often as all runs together.

        Where any run may fail by chance, a single failure says nothing about a configuration with
        many runs.
        """
        often = self.failed * self.runs.sum() >= self.failed.sum() * self.runs
        self.failing = (self.failed > 0) & often
        self.whole = self.counts(np.ones(len(self.runs), np.bool_))

    def without(self, mask: Mask) -> "ClauseTable":
        """Return the table without the masked configurations."""
        less = copy(self)
        for name in ("indices", "runs", "failed"):
            setattr(less, name, getattr(self, name)[~mask])
        less._mark()
        return less

    def mask(self, clause: Clause) -> Mask:
        """Mask of the configurations for which a clause holds."""
        result = np.ones(len(self.runs), np.bool_)
        for position, low, high, _ in clause.ranges:
            column = self.indices[:, position]
            result &= (low <= column) & (column <= high)
        return result

    def counts(self, mask: Mask) -> _Counts:
        """Contingency counts for a subset of configurations."""
        parts = (part[mask] for part in (self.failing, self.runs, self.failed))
        return _Counts(int(mask.sum()), *(int(part.sum()) for part in parts))

    def counts_of(self, position: int, ranges: Sequence[_Range]) -> list[_Counts]:
        """Contingency counts for each index range of one parameter, in one pass over the table."""
        # Sums over an index range are differences of prefix sums, so all ranges together cost one
        # sort of the column and two binary searches each.
        seen, which = np.unique(self.indices[:, position], return_inverse=True)
        weights = (None, self.failing, self.runs, self.failed)
        sums = [np.cumsum([0, *np.bincount(which, w, len(seen)).tolist()]) for w in weights]
        first = np.searchsorted(seen, [r.low for r in ranges])
        after = np.searchsorted(seen, [r.high for r in ranges], "right")
        columns = [(total[after] - total[first]).astype(int).tolist() for total in sums]
        return [_Counts(*numbers) for numbers in zip(*columns, strict=True)]

    def judged(self, clause: Clause, counts: _Counts, tried: float) -> _Judged:
        """Test a clause, with the p-value multiplied by `tried`."""
        marked, total = self.whole.failing, self.whole.configs
        log_p = log_fisher(counts.failing, counts.configs, marked, total)
        rate = counts.failed / counts.runs if counts.runs else 0.0
        if rate >= MIN_FAILED_SHARE and self._name(clause):
            tried = 1.0
        return _Judged(clause, log_p + math.log(tried), rate)

    def _name(self, clause: Clause) -> bool:
        """Whether all error messages contain the value, so that it was not found by searching."""
        ((position, low, high, _), *more) = clause.ranges
        word = self.space.listed[position].value(low)
        if more or low != high or not isinstance(word, str) or len(word) < _MIN_LETTERS:
            return False
        return all(word in message for message in self.messages)


def explanations(table: ClauseTable) -> Iterator[tuple[Clause, float]]:
    """Yield clauses that explain failures, the best first, each on what the previous ones leave."""
    while table.failed.any():
        found = _best(table)
        if found is None:
            return
        yield found.clause, math.exp(found.log_p)
        table = table.without(table.mask(found.clause))


def _best(table: ClauseTable) -> _Judged | None:
    """Find the best explaining clause of one or two parameters, else the most significant one."""
    by_parameter = _single_clauses(table)
    singles = []
    for position, ranges in by_parameter.items():
        counts = table.counts_of(position, ranges)
        tried = _testable(table.whole, counts, _SINGLE_ERROR_SHARE / len(by_parameter))
        for one, count in zip(ranges, counts, strict=True):
            singles.append(table.judged(Clause((one,)), count, tried))
    explains = _surest(one for one in singles if one.rate >= MIN_FAILED_SHARE)
    if explains is not None and table.counts(table.mask(explains.clause)).failing == (
        table.whole.failing
    ):
        return explains  # no pair can explain more
    pairs = _judged_pairs(table, by_parameter, singles)
    return _surest(one for one in (*singles, *pairs) if one.rate >= MIN_FAILED_SHARE) or _surest(
        singles
    )


def _testable(whole: _Counts, counts: Sequence[_Counts], share: float) -> float:
    """Correction factor for the clauses of one parameter, given its share of the error."""
    # Tarone: the smallest p-value a clause could reach is fixed by its margins. The correction
    # counts only clauses whose smallest p-value is below the level, and `count` is the smallest
    # number that is consistent with the level it implies.
    least = sorted(
        log_fisher(min(n.configs, whole.failing), n.configs, whole.failing, whole.configs)
        for n in counts
    )
    for count in range(1, len(counts)):
        if bisect_right(least, math.log(SIGNIFICANCE_LEVEL * share / count)) <= count:
            return count / share
    return len(counts) / share


def _surest(judged: Iterable[_Judged]) -> _Judged | None:
    significant = [one for one in judged if one.log_p <= math.log(SIGNIFICANCE_LEVEL)]
    return min(significant, key=lambda one: one.log_p, default=None)


def _judged_pairs(
    table: ClauseTable, by_parameter: Mapping[int, Sequence[_Range]], singles: Sequence[_Judged]
) -> Iterator[_Judged]:
    """Yield tests of pairs of the most significant clauses, of different parameters."""
    likely = sorted(singles, key=lambda one: one.log_p)[:_MAX_PAIRED_CLAUSES]
    spread = math.comb(len(by_parameter), 2) / OTHER_ERROR_SHARE
    masks = [table.mask(one.clause) for one in likely]
    failed, runs = (_together(masks, weights) for weights in (table.failed, table.runs))
    for a, b in combinations(range(len(likely)), 2):
        (first,), (second,) = likely[a].clause.ranges, likely[b].clause.ranges
        if (
            first.position == second.position
            or not failed[a, b] >= MIN_FAILED_SHARE * runs[a, b] > 0
        ):
            continue
        ways = len(by_parameter[first.position]) * len(by_parameter[second.position])
        both = Clause(tuple(sorted((first, second))))
        yield table.judged(both, table.counts(table.mask(both)), ways * spread)


def _together(masks: Sequence[Mask], weights: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Total weight of the configurations for which both clauses hold, for every pair of clauses."""
    matrix = np.array(masks, np.float64)
    result: np.ndarray[Any, Any] = np.rint((matrix * weights) @ matrix.T)
    return result


def _single_clauses(table: ClauseTable) -> dict[int, list[_Range]]:
    """Candidate clauses of every parameter that varies."""
    result = {}
    for position in range(len(table.space.listed)):
        seen = np.unique(table.indices[:, position])
        active = [int(index) for index in seen if index != INACTIVE]
        if len(seen) > 1:
            result[position] = list(_ranges(table.space, position, active))
    return result


def _ranges(space: Space, position: int, seen: Sequence[int]) -> Iterator[_Range]:
    """Yield single values if they are few or unordered, and thresholds if they are ordered."""
    name, parameter = list(space.parameters)[position], space.listed[position]

    def written(sign: str, index: int) -> str:
        return str(Compare(name, sign, parameter.value(index)))

    if not parameter.ordered or len(seen) <= _MAX_SINGLE_LEVELS:
        yield from (_Range(position, i, i, written("==", i)) for i in seen)
    if parameter.ordered:
        for i in _thinned(seen[1:]):
            yield _Range(position, i, parameter.levels - 1, written(">=", i))
        for i in _thinned(seen[:-1]):
            yield _Range(position, 0, i, written("<=", i))


def _thinned(indices: Sequence[int]) -> Sequence[int]:
    return indices[:: max(1, math.ceil(len(indices) / _MAX_CUTS))]


def log_fisher(hits: int, drawn: int, marked: int, total: int) -> float:
    """Logarithm of the one-sided p-value of Fisher's exact test.

    That is the probability that at least `hits` of `drawn` configurations are marked, if `marked`
    of `total` are. It is 0 (probability 1) if there are no more hits than expected.
    """
    if hits * total <= drawn * marked:
        return 0.0
    most = min(drawn, marked)
    first = _log_hypergeometric(hits, drawn, marked, total)
    terms, share = [1.0], 1.0
    # Each term follows from the one before; beyond the expectation they decrease.
    for k in range(hits, most):
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
