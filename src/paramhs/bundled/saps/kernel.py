"""SAPS in machine code: many runs on one formula in one call.

A variable's *score* is the weight of the clauses that its flip would break, minus the weight of the
false clauses it would make true. Scores are updated, not recomputed: a flip negates its own
variable's score, and changes others only where a clause becomes false, true or *critical* (one true
literal). To identify that literal at once, a clause's word holds the number of its true literals in
the upper half, and the exclusive or of their variables in the lower.

Improving variables are found in one of two ways. While all weights are 1, up to the first null
flip, there may be thousands, and scores are integers: each score has a *tier*, a set of bits with
its size, whose k-th variable is found by counting bits. Later there are few: *candidates* is a list
to which a variable is added when its score falls below the threshold, and which is cleaned when it
is read. Where order could matter, it is that of the variables' numbers, so a run is a function of
the formula, the setting and its random numbers, drawn in this order: for the start, 64 variables
per word, lowest bit first; for a step, one draw if several variables have the least score; in a
local minimum one for wp, then one for the variable that is flipped, or one for ps.

Performance: a step makes about 20 changes of scores in 8 clauses, at 535 (1,799 variables) as at
6593 (9,611), and scans 13 or 106 candidates; that is 190 ns or 530 ns per step. Of a run of 10,000
steps the start takes 3 to 6 % and smoothing at most 10 %. UBCSAT makes the same changes. On small
formulas, where it also selects among few variables, there is little to gain (1.5 to 1.8 times its
speed); on large ones the scan is avoided (3 to 4 times); the mean over nine formulas is 2.4.
Keeping the number of candidates in a register, and their scores side by side for the second pass,
made no measurable difference (within 5 %, both ways). A factor of 3 on the mean would need fewer
changes per step.

Indices are unsigned, which saves a test for negative ones. numba recompiles when this file changes,
but not when only `machine_code.py` does, whose functions are inlined here.

Source: Hutter, Tompkins, Hoos, "Scaling and Probabilistic Smoothing", CP 2002; where UBCSAT's
implementation differs (smoothing, threshold, division by 1000), UBCSAT 1.1.0 as observed.
"""

import numpy as np

from paramhs.bundled.saps.arrays import (
    Clauses,
    Floats,
    Indices,
    Integers,
    Report,
    Setting,
    State,
)
from paramhs.bundled.saps.machine_code import (
    Signed,
    Unsigned,
    begin,
    below,
    compiled,
    inlined,
    ones,
    uniform,
    word,
)

THRESHOLD = -0.1  # only a lower score is an improvement
TIE_TOLERANCE = 1e-9  # scores this close are equal, because they differ only by rounding
MAX_WEIGHT = 1000.0  # if a false clause weighs more, all weights are divided by this

_ONE = np.uint64(1)
_SIX = np.uint64(6)
_63 = np.uint64(63)
_TRUE = np.uint64(1 << 32)  # one true literal, in a clause's word
_TWO_TRUE = np.uint64(2 << 32)
_VARIABLE = np.uint64((1 << 32) - 1)
_FALSE, _CANDIDATES, _TOP = 0, 1, 2  # fields of `numbers`: false clauses, candidates, best tier


@compiled
def search(
    formula: Clauses,
    setting: Setting,
    state: State,
    seed: int,
    first: int,
    report: Report,
    trace: Integers,
) -> None:
    """Make runs first, first + 1, ... of this seed, one for each entry of the report.

    A non-empty trace receives what each step of the last run flipped.
    """
    for run in range(len(report.best)):
        begin(np.uint64(seed), np.uint64(first + run), state.random)
        _start(formula, state)
        _run(formula, setting, state, report, run, trace)
        if state.stop[0]:
            return


@inlined
def _run(
    formula: Clauses, setting: Setting, state: State, report: Report, run: int, trace: Integers
) -> None:
    best, best_step, null_flips, step = state.cost[0], 1, 0, 1
    whole = len(state.sizes) > 0
    while state.numbers[_FALSE] > 0 and step < setting.cutoff and not state.stop[0]:
        step += 1
        chosen = _best_whole(state) if whole else _best(state)
        if chosen < 0 and uniform(state.random) < setting.wp:
            chosen = below(len(state.values), state.random)
        if chosen >= 0:
            _flip(formula, state, np.uint64(chosen), whole)
        else:
            null_flips += 1
            whole = False
            _reweigh(formula, setting, state)
        if state.cost[0] < best:
            best, best_step = state.cost[0], step
        if len(trace):
            trace[step - 1] = chosen
    report.best[run], report.final[run] = best, state.cost[0]
    report.best_step[run], report.null_flips[run], report.steps[run] = best_step, null_flips, step


@compiled
def _start(formula: Clauses, state: State) -> None:
    """Draw a uniform assignment; weights are 1, or the costs scaled to mean 1."""
    _assign(formula, state)
    _weigh(formula, state)
    state.numbers[_FALSE] = 0
    state.cost[0] = 0.0
    for clause in range(np.uint64(len(state.words))):
        if state.words[clause] < _TRUE:
            _add_false(formula, state, clause)
    _score(formula, state)
    if len(state.sizes):
        _fill_tiers(state)


@inlined
def _assign(formula: Clauses, state: State) -> None:
    state.words[:] = 0
    bits = np.uint64(0)
    for variable in range(np.uint64(len(state.values))):
        if variable & _63 == 0:
            bits = word(state.random)
        value = bits & _ONE
        bits >>= _ONE
        state.values[variable] = value
        true = variable + variable + _ONE - value
        for i in _span(formula.literal_starts, true):
            clause = formula.clauses[i]
            state.words[clause] = (state.words[clause] ^ variable) + _TRUE


@inlined
def _span(starts: Indices, i: Unsigned) -> range:
    return range(np.uint64(starts[i]), np.uint64(starts[i + _ONE]))


@inlined
def _weigh(formula: Clauses, state: State) -> None:
    state.weights[:] = 1.0
    mean = _mean(formula.costs)
    for clause in range(len(formula.costs)):
        state.weights[clause] = formula.costs[clause] / mean


@compiled
def _score(formula: Clauses, state: State) -> None:
    """Compute all scores, and list the candidates."""
    state.scores[:] = 0.0
    last = np.uint64(len(state.values))
    for clause in range(np.uint64(len(state.words))):
        # Branch-free, because the branch would be mispredicted. Non-critical clauses are spread
        # over the spare entries: additions to a single one would wait for each other.
        content = state.words[clause]
        critical = _TRUE <= content < _TWO_TRUE
        position = content & _VARIABLE if critical else last + (clause & _63)
        state.scores[position] += state.weights[clause]
    state.listed[:] = 0
    state.numbers[_CANDIDATES] = 0
    for i in range(state.numbers[_FALSE]):
        false = np.uint64(state.false[i])
        for j in _span(formula.starts, false):
            state.scores[formula.members[j]] -= state.weights[false]
    for variable in range(last):
        _change(state, variable, 0.0, False)


@inlined
def _fill_tiers(state: State) -> None:
    state.tiers[:] = 0
    state.sizes[:] = 0
    for variable in range(np.uint64(len(state.values))):
        tier = _tier(state.scores[variable])
        state.tiers[tier * _width(state) + (variable >> _SIX)] |= _ONE << (variable & _63)
        state.sizes[tier] += 1
    state.numbers[_TOP] = len(state.sizes) - 1
    state.listed[:] = 0
    state.numbers[_CANDIDATES] = 0


@inlined
def _tier(score: float) -> Unsigned:
    """Tier of a score; tier 0 holds all variables that do not improve."""
    return np.uint64(max(-score, 0.0))


@inlined
def _width(state: State) -> Unsigned:
    return np.uint64(len(state.tiers)) // np.uint64(len(state.sizes) + 1)


@inlined
def _change(state: State, variable: Unsigned, difference: float, whole: bool) -> None:
    """Add to a variable's score, and update its tier or the candidates."""
    before = float(state.scores[variable])
    after = before + difference
    state.scores[variable] = after
    if whole:
        old, new = _tier(before), _tier(after)
        at, bit = variable >> _SIX, _ONE << (variable & _63)
        state.tiers[old * _width(state) + at] ^= bit
        state.tiers[new * _width(state) + at] ^= bit
        state.sizes[old] -= 1
        state.sizes[new] += 1
        state.numbers[_TOP] = max(state.numbers[_TOP], np.int64(new))
    else:
        size = state.numbers[_CANDIDATES]
        state.candidates[np.uint64(size)] = variable
        added = np.uint8(after < THRESHOLD) & (state.listed[variable] ^ np.uint8(1))
        state.listed[variable] |= added
        state.numbers[_CANDIDATES] = size + added


@inlined
def _best_whole(state: State) -> Signed:
    """Variable of least score, found with the tiers."""
    top = state.numbers[_TOP]
    while top > 0 and state.sizes[top] == 0:
        top -= 1
    state.numbers[_TOP] = top
    if top == 0:
        return -1
    return _drawn(state, np.uint64(top) * _width(state), state.sizes[top])


@inlined
def _best(state: State) -> Signed:
    """Variable of least score below the threshold, drawn uniformly; -1 if there is none."""
    # Ties are broken by rank in the order of the variables' numbers, while `candidates` is in
    # arbitrary order. So the tied variables are marked in a spare bit set, one is drawn by its rank
    # there, and the marks are removed again: linear in the number of ties, without sorting.
    limit = _clean(state) + TIE_TOLERANCE
    count = np.uint64(0)
    for i in range(np.uint64(state.numbers[_CANDIDATES])):
        state.ties[count] = state.candidates[i]
        count += np.uint64(state.scores[state.candidates[i]] <= limit)
    if count < 2:
        return np.int64(state.ties[0]) if count else -1
    marks = np.uint64(len(state.sizes)) * _width(state)
    for i in range(count):
        variable = np.uint64(state.ties[i])
        state.tiers[marks + (variable >> _SIX)] |= _ONE << (variable & _63)
    chosen = _drawn(state, marks, np.int64(count))
    for i in range(count):
        state.tiers[marks + (np.uint64(state.ties[i]) >> _SIX)] = 0
    return chosen


@inlined
def _clean(state: State) -> float:
    """Drop outdated candidates; return the least score."""
    least = np.inf
    kept = np.uint64(0)
    for i in range(np.uint64(state.numbers[_CANDIDATES])):
        variable = state.candidates[i]
        score = state.scores[variable]
        candidate = score < THRESHOLD
        state.candidates[kept] = variable
        state.listed[variable] = candidate
        kept += np.uint64(candidate)
        least = min(least, score)
    state.numbers[_CANDIDATES] = kept
    return least


@inlined
def _drawn(state: State, at: Unsigned, size: Signed) -> Signed:
    """Variable drawn uniformly from the set at this position; without a draw if it is alone."""
    rank = below(size, state.random) if size > 1 else 0
    index = at
    here = ones(state.tiers[index])
    while rank >= here:
        rank -= here
        index += _ONE
        here = ones(state.tiers[index])
    bits = state.tiers[index]
    for _ in range(rank):
        bits &= bits - _ONE
    return np.int64(index - at) * 64 + ones(~bits & (bits - _ONE))


@inlined
def _flip(formula: Clauses, state: State, variable: Unsigned, whole: bool) -> None:
    own = float(state.scores[variable])
    value = np.uint64(state.values[variable])
    state.values[variable] ^= np.uint8(1)
    literal = variable + variable + _ONE - value
    _lose(formula, state, variable, literal, whole)
    _gain(formula, state, variable, literal ^ _ONE, whole)
    now = float(state.scores[variable])
    _change(state, variable, -own - now, whole)


@inlined
def _lose(
    formula: Clauses, state: State, variable: Unsigned, literal: Unsigned, whole: bool
) -> None:
    """Update clauses in which the literal becomes false."""
    for i in _span(formula.literal_starts, literal):
        clause = np.uint64(formula.clauses[i])
        content = (state.words[clause] ^ variable) - _TRUE
        state.words[clause] = content
        if content < _TRUE:
            _add_false(formula, state, clause)
            _change_all(formula, state, clause, -state.weights[clause], whole)
        elif content < _TWO_TRUE:
            _change(state, content & _VARIABLE, state.weights[clause], whole)


@inlined
def _gain(
    formula: Clauses, state: State, variable: Unsigned, literal: Unsigned, whole: bool
) -> None:
    """Update clauses in which the literal becomes true."""
    for i in _span(formula.literal_starts, literal):
        clause = np.uint64(formula.clauses[i])
        content = state.words[clause]
        state.words[clause] = (content ^ variable) + _TRUE
        if content < _TRUE:
            _remove_false(formula, state, clause)
            _change_all(formula, state, clause, state.weights[clause], whole)
        elif content < _TWO_TRUE:
            _change(state, content & _VARIABLE, -state.weights[clause], whole)


@inlined
def _change_all(
    formula: Clauses, state: State, clause: Unsigned, difference: float, whole: bool
) -> None:
    """Add to the scores of a clause's variables."""
    for i in _span(formula.starts, clause):
        _change(state, np.uint64(formula.members[i]), difference, whole)


@inlined
def _add_false(formula: Clauses, state: State, clause: Unsigned) -> None:
    position = state.numbers[_FALSE]
    state.positions[clause] = position
    state.false[np.uint64(position)] = clause
    state.numbers[_FALSE] = position + 1
    state.cost[0] += formula.costs[clause] if len(formula.costs) else 1.0


@inlined
def _remove_false(formula: Clauses, state: State, clause: Unsigned) -> None:
    last = state.numbers[_FALSE] - 1
    moved, position = state.false[np.uint64(last)], state.positions[clause]
    state.false[position] = moved
    state.positions[moved] = position
    state.numbers[_FALSE] = last
    state.cost[0] -= formula.costs[clause] if len(formula.costs) else 1.0


@inlined
def _reweigh(formula: Clauses, setting: Setting, state: State) -> None:
    """Change the weights in a null flip. With rho = 1 smoothing changes nothing."""
    smooth = uniform(state.random) < setting.ps and setting.rho < 1.0
    if smooth and not setting.textbook:
        _affine(state.weights, 1.0, (1.0 - setting.rho) * _mean(state.weights))
    heavy = _heaviest_false(state) > MAX_WEIGHT
    if heavy:
        _affine(state.weights, 1.0 / MAX_WEIGHT, 0.0)
    if heavy or (smooth and not setting.textbook):
        _score(formula, state)
    for i in range(state.numbers[_FALSE]):
        clause = np.uint64(state.false[i])
        before = state.weights[clause]
        state.weights[clause] = before * setting.alpha
        _change_all(formula, state, clause, before - before * setting.alpha, False)
    if smooth and setting.textbook:
        _affine(state.weights, setting.rho, (1.0 - setting.rho) * _mean(state.weights))
        _score(formula, state)


@inlined
def _heaviest_false(state: State) -> float:
    heaviest = 0.0
    for i in range(state.numbers[_FALSE]):
        heaviest = max(heaviest, state.weights[state.false[i]])
    return heaviest


@inlined
def _affine(weights: Floats, factor: float, more: float) -> None:
    for i in range(len(weights)):
        weights[i] = weights[i] * factor + more


@inlined
def _mean(numbers: Floats) -> float:
    """Mean by four partial sums, because each addition waits for the previous one."""
    a = b = c = d = 0.0
    whole = len(numbers) & ~3
    for i in range(0, whole, 4):
        a += numbers[i]
        b += numbers[i + 1]
        c += numbers[i + 2]
        d += numbers[i + 3]
    for i in range(whole, len(numbers)):
        a += numbers[i]
    return (a + b + c + d) / len(numbers)
