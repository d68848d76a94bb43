"""SAPS in plain Python: slow, and as it is described. It draws what the fast one draws.

UBCSAT's form, unless `textbook`. Scores are computed anew at every step, from the clauses.
"""

import numpy as np

from paramhs.bundled.instances.dimacs import Formula
from paramhs.bundled.plain_saps import random_words
from paramhs.bundled.saps import Settings


class Undecided(Exception):
    """The least score is the threshold itself, up to rounding: either step is right."""


def plain_saps(
    formula: Formula, settings: Settings, cutoff: int, seed: int, run: int = 0, textbook=False
) -> tuple[list[int], list[float]]:
    """What each step flipped (0: a null flip), and the cost at each step, the start included."""
    alpha, rho = float(np.float32(settings.alpha)), float(np.float32(settings.rho))
    bits = random_words(seed, run)
    variables = range(1, max(1, formula.variables) + 1)
    kept = [i for i, c in enumerate(formula.clauses) if not any(-x in c for x in c)]
    clauses = [set(formula.clauses[i]) for i in kept]
    costs = [1.0 if formula.weights is None else formula.weights[i] for i in kept]
    weights = [cost * len(costs) / sum(costs) for cost in costs]

    def uniform() -> float:
        return (next(bits) >> 11) * 2.0**-53

    def true(clause: set[int], flipped: int = 0) -> bool:
        """Whether a clause is true, or would be after a flip."""
        return any((x > 0) == (values[abs(x)] != (abs(x) == flipped)) for x in clause)

    def false() -> list[int]:
        return [i for i, clause in enumerate(clauses) if not true(clause)]

    def score(v: int) -> float:
        return sum(weights[i] * (true(clauses[i]) - true(clauses[i], v)) for i in around[v])

    def smooth(factor: float) -> None:
        mean = sum(weights) / len(weights)
        weights[:] = [factor * weight + (1 - rho) * mean for weight in weights]

    start = [next(bits) for _ in variables[::64]]
    values = {v: bool(start[(v - 1) // 64] >> (v - 1) % 64 & 1) for v in variables}
    around = {v: [i for i, c in enumerate(clauses) if {v, -v} & c] for v in variables}
    flips, history = [], [sum(costs[i] for i in false())]
    while false() and len(history) < cutoff:
        scores = {v: score(v) for v in sorted({abs(x) for i in false() for x in clauses[i]})}
        least = min(scores.values(), default=0.0)
        if abs(least + 0.1) < 1e-9:
            raise Undecided
        chosen = 0
        if least < -0.1:
            ties = [v for v in scores if scores[v] <= least + 1e-9]
            chosen = ties[int(uniform() * len(ties))] if len(ties) > 1 else ties[0]
        elif uniform() < settings.wp:
            chosen = 1 + int(uniform() * len(variables))
        if chosen:
            values[chosen] = not values[chosen]
        else:
            smoothing = uniform() < settings.ps
            if smoothing and not textbook:
                smooth(1.0)
            if any(weights[i] > 1000 for i in false()):
                weights[:] = [weight / 1000 for weight in weights]
            for i in false():
                weights[i] *= alpha
            if smoothing and textbook:
                smooth(rho)
        flips.append(chosen)
        history.append(sum(costs[i] for i in false()))
    return flips, history
