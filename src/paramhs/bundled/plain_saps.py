"""SAPS in plain Python, for machines without numba: slow, but step by step the same.

As in `saps/kernel.py`, scores are kept from step to step, and a flip changes them only where a
clause becomes false, true or critical (one true literal, identified by the exclusive or of its true
variables). It draws the same numbers in the same order, so both give the same result.

Sources: those of `saps`; xoshiro256** and SplitMix64 as in `saps/machine_code.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from struct import pack, unpack
from typing import Any

from paramhs.bundled.instances.dimacs import Formula, read_formula
from paramhs.core.space import Real, Space

SPACE = Space(
    {
        "alpha": Real(1.01, 3.0, log=True, default=1.3),
        "rho": Real(0.0, 1.0, default=0.8),
        "ps": Real(0.0, 0.2, default=0.05),
        "wp": Real(0.0, 0.1, default=0.01),
    }
)
"""Promising ranges of the parameters, with UBCSAT's defaults."""

_THRESHOLD = -0.1  # this and the next two as in saps/kernel.py
_TIE_TOLERANCE = 1e-9
_MAX_WEIGHT = 1000.0
_WORD = 2**64
_GOLDEN_RATIO = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class PlainSaps:
    """Fewest false clauses within a number of steps, like `Saps(steps)` without weights."""

    steps: int

    def __call__(self, config: Mapping[str, float], instance: str | Path, seed: int) -> int:
        """Return the quality of one run."""
        return fewest_false(_read(Path(instance)), config, self.steps, seed)


class Clauses:
    """A formula by clause and by literal; variables count from 0."""

    def __init__(self, formula: Formula) -> None:
        kept = [set(clause) for clause in formula.clauses if not any(-x in clause for x in clause)]
        self.variables = max(1, formula.variables)
        self.members = [tuple(abs(x) - 1 for x in clause) for clause in kept]
        self.having: tuple[list[list[int]], ...] = tuple(
            [[] for _ in range(self.variables)] for _ in (False, True)
        )
        """Clauses by the literal's sign, then by its variable."""
        for number, clause in enumerate(kept):
            for x in clause:
                self.having[x > 0][abs(x) - 1].append(number)


@lru_cache(64)
def _read(path: Path) -> Clauses:
    return Clauses(read_formula(path))


def fewest_false(clauses: Clauses, config: Mapping[str, float], steps: int, seed: int) -> int:
    """Fewest false clauses of a run; the start is its first step."""
    run = _Run(clauses, config, seed)
    fewest = len(run.false)
    for _ in range(steps - 1):
        if not run.false:
            break
        run.step()
        fewest = min(fewest, len(run.false))
    return fewest


class _Run:
    """One run: an assignment, weights, and data derived from them."""

    def __init__(self, clauses: Clauses, config: Mapping[str, Any], seed: int) -> None:
        self.clauses = clauses
        self.alpha, self.rho = (_single(config[name]) for name in ("alpha", "rho"))
        self.ps, self.wp = config["ps"], config["wp"]
        self.words = random_words(seed)
        self.values = self._random_values()
        count = len(clauses.members)
        self.true = [0] * count
        """Number of true literals of each clause."""
        self.which = [0] * count
        """Exclusive or of the variables of each clause's true literals."""
        for variable, value in enumerate(self.values):
            for clause in clauses.having[value][variable]:
                self.true[clause] += 1
                self.which[clause] ^= variable
        self.weights = [1.0] * count
        self.false = {clause for clause in range(count) if not self.true[clause]}
        self._score()

    def step(self) -> None:
        """Flip a variable, or change weights."""
        chosen = self._best()
        if chosen is None and self._uniform() < self.wp:
            chosen = int(self._uniform() * self.clauses.variables)
        if chosen is None:
            self._reweigh()
        else:
            self._flip(chosen)

    def _random_values(self) -> list[bool]:
        """Draw a random assignment, 64 variables per word, lowest bit first."""
        count = self.clauses.variables
        bits = [next(self.words) for _ in range(0, count, 64)]
        return [bool(bits[variable // 64] >> variable % 64 & 1) for variable in range(count)]

    def _uniform(self) -> float:
        return float((next(self.words) >> 11) * 2.0**-53)

    def _score(self) -> None:
        """Compute all scores: weight broken by a flip minus weight made true."""
        scores = self.scores = [0.0] * self.clauses.variables
        for clause, true in enumerate(self.true):
            if true == 1:
                scores[self.which[clause]] += self.weights[clause]
        for clause in self.false:
            for variable in self.clauses.members[clause]:
                scores[variable] -= self.weights[clause]
        self.candidates = {v for v, score in enumerate(scores) if score < _THRESHOLD}

    def _best(self) -> int | None:
        """Variable of least score, drawn uniformly by rank among equals."""
        scores = self.scores
        self.candidates = {v for v in self.candidates if scores[v] < _THRESHOLD}
        if not self.candidates:
            return None
        limit = min(scores[v] for v in self.candidates) + _TIE_TOLERANCE
        ties = sorted(v for v in self.candidates if scores[v] <= limit)
        return ties[int(self._uniform() * len(ties))] if len(ties) > 1 else ties[0]

    def _flip(self, variable: int) -> None:
        own, value = self.scores[variable], self.values[variable]
        self.values[variable] = not value
        self._lose(variable, self.clauses.having[value][variable])
        self._gain(variable, self.clauses.having[not value][variable])
        self.scores[variable] = -own
        self.candidates.add(variable)

    def _lose(self, variable: int, clauses: list[int]) -> None:
        """Update these clauses when a literal becomes false."""
        true, which, weights = self.true, self.which, self.weights
        for clause in clauses:
            which[clause] ^= variable
            true[clause] -= 1
            if true[clause] == 0:
                self.false.add(clause)
                self._change_all(clause, -weights[clause])
            elif true[clause] == 1:
                self.scores[which[clause]] += weights[clause]

    def _gain(self, variable: int, clauses: list[int]) -> None:
        """Update these clauses when a literal becomes true."""
        true, which, weights = self.true, self.which, self.weights
        for clause in clauses:
            if true[clause] == 0:
                self.false.discard(clause)
                self._change_all(clause, weights[clause])
            elif true[clause] == 1:
                self.scores[which[clause]] -= weights[clause]
                self.candidates.add(which[clause])
            which[clause] ^= variable
            true[clause] += 1

    def _change_all(self, clause: int, difference: float) -> None:
        """Add to the scores of a clause's variables."""
        members = self.clauses.members[clause]
        for variable in members:
            self.scores[variable] += difference
        if difference < 0:
            self.candidates.update(members)

    def _reweigh(self) -> None:
        """Change the weights in a null flip. With rho = 1 smoothing changes nothing."""
        smooth = self._uniform() < self.ps and self.rho < 1.0
        if smooth:
            more = (1.0 - self.rho) * sum(self.weights) / len(self.weights)
            self.weights = [weight + more for weight in self.weights]
        heavy = any(self.weights[clause] > _MAX_WEIGHT for clause in self.false)
        if heavy:
            self.weights = [weight / _MAX_WEIGHT for weight in self.weights]
        if smooth or heavy:
            self._score()
        for clause in self.false:
            before = self.weights[clause]
            self.weights[clause] = before * self.alpha
            self._change_all(clause, before - self.weights[clause])


def _single(number: float) -> float:
    """Round to 32 bits, as UBCSAT stores alpha and rho."""
    return float(unpack("f", pack("f", number))[0])


def random_words(seed: int, run: int = 0) -> Iterator[int]:
    """Yield 64 random bits at a time, as for run number `run` of the fast solver."""
    counter = _mixed(_mixed(seed + _GOLDEN_RATIO) + run)
    a, b, c, d = (_mixed(counter + i * _GOLDEN_RATIO) for i in range(1, 5))
    while True:
        yield _rotated(b * 5 % _WORD, 7) * 9 % _WORD
        shifted = (b << 17) % _WORD
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = _rotated(d, 45)


def _mixed(bits: int) -> int:
    bits %= _WORD
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % _WORD
    return bits ^ (bits >> 31)


def _rotated(bits: int, by: int) -> int:
    return (bits << by | bits >> (64 - by)) % _WORD
