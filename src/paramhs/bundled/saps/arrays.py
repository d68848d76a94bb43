"""A formula, and the state of a search on it, as arrays."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paramhs.bundled.instances.dimacs import Formula

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Indices = NDArray[np.uint32]
Words = NDArray[np.uint64]

_SPARE_ENTRIES = 64  # entries after the variables' scores, for sums that are not needed
_MAX_WORDS = 1 << 22  # in all tiers together; larger formulas use no tiers


class Clauses(NamedTuple):
    """A formula as arrays; variables count from 0, literal 2v is v and 2v + 1 is not v."""

    starts: Indices
    """Start of each clause's variables in `members`, and the end of the last."""
    members: Indices
    literal_starts: Indices
    """Start of each literal's clauses in `clauses`, and the end of the last."""
    clauses: Indices
    costs: Floats
    """Cost of each clause while it is false, times `scale`; empty if each costs 1."""
    scale: float
    """Power of ten that makes all costs integers, so that their sums are exact."""


class Setting(NamedTuple):
    """Parameters of a search."""

    alpha: float
    rho: float
    ps: float
    wp: float
    textbook: bool
    cutoff: int


class State(NamedTuple):
    """State of a search."""

    values: Bytes
    words: Words
    weights: Floats
    scores: Floats
    candidates: Indices
    listed: Bytes
    """Whether each variable is among the candidates."""
    ties: Indices
    tiers: Words
    """Sets of variables of equal width: one for each score 0, -1, ..., and an empty one."""
    sizes: Integers
    """Sizes of the tiers; empty if tiers are not used."""
    false: Indices
    """The false clauses, in arbitrary order."""
    positions: Indices
    """Position of each false clause among them."""
    numbers: Integers
    cost: Floats
    """A single number: the cost of the false clauses."""
    random: Words
    stop: Bytes
    """A single flag, set from outside to end the search at once."""


class Report(NamedTuple):
    """Results of runs, one number each."""

    best: Floats
    final: Floats
    best_step: Integers
    null_flips: Integers
    steps: Integers


def encoded(formula: Formula) -> Clauses:
    """Encode a formula without tautologies; one without variables receives one.

    A variable that occurs nowhere is flipped like the others, because the file declares it. A hard
    clause costs at most one more than all soft ones together.
    """
    literals = [tuple(dict.fromkeys(clause)) for clause in formula.clauses]
    kept = [i for i, clause in enumerate(literals) if not _always_true(clause)]
    variables = max(1, formula.variables)
    lengths = np.array([len(literals[i]) for i in kept], np.int64)
    flat = np.array([literal for i in kept for literal in literals[i]], np.int64)
    members = np.abs(flat) - 1
    codes = 2 * members + (flat < 0)
    owners = np.repeat(np.arange(len(kept)), lengths)[np.argsort(codes, kind="stable")]
    costs, scale = _costs(formula, kept) if formula.weights is not None else ([], 1.0)
    return Clauses(
        _starts(lengths),
        members.astype(np.uint32),
        _starts(np.bincount(codes, minlength=2 * variables)),
        owners.astype(np.uint32),
        np.array(costs, np.float64),
        scale,
    )


def _costs(formula: Formula, kept: Sequence[int]) -> tuple[list[int], float]:
    """Weights as integers whose sum a float holds exactly, and the factor applied to them.

    If that takes more digits than a float has, the last ones are rounded.
    """
    weights = [Decimal(repr(weight)) for weight in formula.weights or ()]
    if formula.top is not None:
        soft = [w for w in weights if w < Decimal(repr(formula.top))]
        most = sum(soft, start=Decimal(1))
        weights = [min(w, most) for w in weights]
    digits = max((-int(w.normalize().as_tuple().exponent) for w in weights), default=0)
    scale = Decimal(10) ** max(digits, 0)
    while sum(weights) * scale > 2**53:
        scale /= 10
    return [round(weights[i] * scale) for i in kept], float(scale)


def _always_true(clause: tuple[int, ...]) -> bool:
    return len(set(map(abs, clause))) < len(clause)


def _starts(lengths: Integers) -> Indices:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)


def new_state(formula: Clauses, stop: Bytes) -> State:
    """Allocate a state; its content is arbitrary except for the empty set."""
    clauses, variables = len(formula.starts) - 1, len(formula.literal_starts) // 2
    width, tiers = -(-variables // 64), _tiers(formula)
    return State(
        values=np.empty(variables, np.uint8),
        words=np.empty(clauses, np.uint64),
        weights=np.empty(clauses, np.float64),
        scores=np.empty(variables + _SPARE_ENTRIES, np.float64),
        candidates=np.empty(variables + 1, np.uint32),
        listed=np.empty(variables, np.uint8),
        ties=np.empty(variables + 1, np.uint32),
        tiers=np.zeros((tiers + 1) * width, np.uint64),
        sizes=np.empty(tiers, np.int64),
        false=np.empty(clauses, np.uint32),
        positions=np.empty(clauses, np.uint32),
        numbers=np.empty(3, np.int64),
        cost=np.empty(1, np.float64),
        random=np.empty(4, np.uint64),
        stop=stop,
    )


def _tiers(formula: Clauses) -> int:
    """Number of tiers, one per possible score; 0 if weights differ or there would be too many."""
    variables = len(formula.literal_starts) // 2
    occurrences = np.diff(formula.literal_starts[::2].astype(np.int64))
    tiers = int(occurrences.max()) + 1
    return tiers if not len(formula.costs) and tiers * variables <= 64 * _MAX_WORDS else 0


def new_report(runs: int) -> Report:
    """Allocate results for this number of runs."""
    return Report(
        best=np.empty(runs, np.float64),
        final=np.empty(runs, np.float64),
        best_step=np.empty(runs, np.int64),
        null_flips=np.empty(runs, np.int64),
        steps=np.empty(runs, np.int64),
    )
