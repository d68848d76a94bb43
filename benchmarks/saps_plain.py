"""SAPS as it is usually written, to measure the fast one against: a step looks at every variable
in a false clause, and a clause is searched for its one true literal.

Scores are kept from step to step, as UBCSAT keeps them; nothing else is done for speed.
"""

import numba
import numpy as np

compiled = numba.njit(cache=True, nogil=True)


@compiled
def plain_saps(starts, literals, literal_starts, clauses, alpha, rho, ps, wp, cutoff, runs, seed):
    """The fewest false clauses of each run, over the start and cutoff - 1 steps.

    `false` and `seen` (variables in false clauses) are lists with places, for removal; `within`
    counts a variable's false clauses, `true` a clause's true literals.
    """
    np.random.seed(seed)
    variables, count = (len(literal_starts) - 1) // 2, len(starts) - 1
    false, positions = np.empty(count, np.int64), np.empty(count, np.int64)
    seen, seen_positions = np.empty(variables, np.int64), np.empty(variables, np.int64)
    best = np.empty(runs, np.int64)
    for run in range(runs):
        value, true = np.random.randint(0, 2, variables), np.zeros(count, np.int64)
        within, sizes = np.zeros(variables, np.int64), np.zeros(2, np.int64)
        weight, makes, breaks = np.ones(count), np.zeros(variables), np.zeros(variables)
        lists = (makes, false, positions, seen, seen_positions, within, sizes)
        for c in range(count):
            for i in range(starts[c], starts[c + 1]):
                true[c] += value[literals[i] >> 1] != literals[i] & 1
            if true[c] == 0:
                _falsified(c, starts, literals, weight, *lists)
            elif true[c] == 1:
                breaks[_other(c, -1, starts, literals, value)] += weight[c]
        best[run] = sizes[0]
        for _ in range(cutoff - 1):
            if sizes[0] == 0:
                break
            chosen = _chosen(seen, sizes, makes, breaks)
            if chosen < 0 and np.random.random() < wp:
                chosen = np.random.randint(0, variables)
            if chosen < 0:
                if np.random.random() < ps:
                    weight += (1 - rho) * weight.mean()
                    _rescore(starts, literals, true, value, weight, makes, breaks)
                _scale(starts, literals, true, value, weight, makes, breaks, false, sizes, alpha)
                continue
            gained = 2 * chosen + value[chosen]
            value[chosen] ^= 1
            for i in range(literal_starts[gained], literal_starts[gained + 1]):
                c = clauses[i]
                true[c] += 1
                if true[c] == 1:
                    _satisfied(c, starts, literals, weight, *lists)
                    breaks[chosen] += weight[c]
                elif true[c] == 2:
                    breaks[_other(c, chosen, starts, literals, value)] -= weight[c]
            for i in range(literal_starts[gained ^ 1], literal_starts[(gained ^ 1) + 1]):
                c = clauses[i]
                true[c] -= 1
                if true[c] == 0:
                    _falsified(c, starts, literals, weight, *lists)
                    breaks[chosen] -= weight[c]
                elif true[c] == 1:
                    breaks[_other(c, -1, starts, literals, value)] += weight[c]
            best[run] = min(best[run], sizes[0])
    return best


@compiled
def _chosen(seen, sizes, makes, breaks):
    """A variable of least score below -0.1, uniformly; -1 if there is none."""
    least, ties, chosen = np.inf, 0, -1
    for i in range(sizes[1]):
        v = seen[i]
        score = breaks[v] - makes[v]
        if score < least - 1e-9:
            least, ties, chosen = score, 1, v
        elif score <= least + 1e-9:
            ties += 1
            if np.random.random() * ties < 1:
                chosen = v
    return chosen if least < -0.1 else -1


@compiled
def _other(c, chosen, starts, literals, value):
    """The variable of a true literal, but not the chosen one."""
    for i in range(starts[c], starts[c + 1]):
        v = literals[i] >> 1
        if v != chosen and value[v] != literals[i] & 1:
            return v
    return -1


@compiled
def _falsified(
    c, starts, literals, weight, makes, false, positions, seen, seen_positions, within, sizes
):
    positions[c] = sizes[0]
    false[sizes[0]] = c
    sizes[0] += 1
    for i in range(starts[c], starts[c + 1]):
        v = literals[i] >> 1
        makes[v] += weight[c]
        within[v] += 1
        if within[v] == 1:
            seen_positions[v] = sizes[1]
            seen[sizes[1]] = v
            sizes[1] += 1


@compiled
def _satisfied(
    c, starts, literals, weight, makes, false, positions, seen, seen_positions, within, sizes
):
    sizes[0] -= 1
    moved = false[sizes[0]]
    false[positions[c]] = moved
    positions[moved] = positions[c]
    for i in range(starts[c], starts[c + 1]):
        v = literals[i] >> 1
        makes[v] -= weight[c]
        within[v] -= 1
        if within[v] == 0:
            sizes[1] -= 1
            moved = seen[sizes[1]]
            seen[seen_positions[v]] = moved
            seen_positions[moved] = seen_positions[v]


@compiled
def _scale(starts, literals, true, value, weight, makes, breaks, false, sizes, alpha):
    if weight[false[: sizes[0]]].max() > 1000:
        weight /= 1000
        _rescore(starts, literals, true, value, weight, makes, breaks)
    for i in range(sizes[0]):
        c = false[i]
        more = weight[c] * (alpha - 1)
        weight[c] += more
        for j in range(starts[c], starts[c + 1]):
            makes[literals[j] >> 1] += more


@compiled
def _rescore(starts, literals, true, value, weight, makes, breaks):
    makes[:] = 0
    breaks[:] = 0
    for c in range(len(weight)):
        if true[c] == 1:
            breaks[_other(c, -1, starts, literals, value)] += weight[c]
        elif true[c] == 0:
            for i in range(starts[c], starts[c + 1]):
                makes[literals[i] >> 1] += weight[c]
