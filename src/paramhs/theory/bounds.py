"""Bounds on the number of calls proved in the paper, as functions.

Calls are those of `better` until the optimum is first sampled, from a uniform start, with
comparisons that are always correct. M is the sum of the numbers of values.

Source: Hall, Oliveto, Sudholt (PPSN 2020), Theorems 1 to 4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramhs.core.errors import BadInput
from paramhs.search.operators.harmonic_numbers import harmonic_number
from paramhs.theory.unimodality import Profile


def l_step_lower_bound(sizes: Sequence[int], length: int = 1) -> Fraction:
    """Lower bound M / (8 l): the mean distance of a uniform start from any optimum, in l-steps.

    The mean distance of one parameter with n >= 2 values is at least (n - 1/n) / 4 >= n / 8.
    """
    return Fraction(_total(sizes), 8 * length)


def l_step_distance_bound(
    sizes: Sequence[int], optimum: Sequence[int], length: int = 1
) -> Fraction:
    """Mean number of l-steps from a uniform start to this optimum, if every step went towards it.

    One call moves one parameter by at most l, so parameter i needs ceil(distance_i / l) calls. The
    result is at least `l_step_lower_bound`.
    """
    _total(sizes)
    steps = Fraction(0)
    for levels, best in zip(sizes, optimum, strict=True):
        if not 0 <= best < levels:
            raise BadInput(f"the optimum's index {best} is not in 0 .. {levels - 1}")
        steps += Fraction(_steps(best, length) + _steps(levels - 1 - best, length), levels)
    return steps


def uniform_lower_bound(sizes: Sequence[int]) -> Fraction:
    """Lower bound M / 4 for moves of one parameter to a uniform value, even without repetition."""
    return Fraction(_total(sizes), 4)


def param_ils_lower_bound(sizes: Sequence[int]) -> Fraction:
    """Lower bound M / 16 for ParamILS, which visits all neighbours in random order."""
    return Fraction(_total(sizes), 16)


def upper_bound(levels: int, alpha: Fraction | float, beta: int) -> float:
    """Upper bound 4 alpha H log2(m) + 4 alpha beta H with H = H_{m-1}, for the harmonic step.

    For one parameter. The logarithm is to base 2, because it counts halvings of the distance; with
    that base the statement follows from the argument of `halving_bound`, which is never larger.
    """
    reach = 4 * float(alpha) * harmonic_number(levels - 1)
    return reach * math.log2(levels) + reach * beta


def halving_bound(levels: int, alpha: Fraction | float, beta: int) -> float:
    """Upper bound 4 alpha H (k + beta), where k halvings reduce m - 1 to at most 2 alpha beta.

    Proof. Costs never rise, so after a visit at distance i >= beta all later values are within
    alpha i. Let no later distance exceed L = 2^k 2 alpha beta; we claim at most U_k = 4 alpha H (k
    + beta) more calls. At distance j <= L each value between here and the optimum is drawn with
    probability at least p = 1 / (2 j H): its weight is at least 1/j, and all weights together are
    at most 2 H. Drawing the optimum ends the count. Drawing a distance in beta .. j / (2 alpha), of
    which there are more than j / (2 alpha) - beta, is always accepted and lowers k by one. So a
    call lowers the bound on average by at least p U_k + p (j / (2 alpha) - beta) 4 alpha H = 1 + 2
    alpha k / j >= 1; and if j <= 2 alpha beta, already p U_k >= 1. No step requires a unique
    optimum: the bound holds for the one from which distances are measured.
    """
    ratio = (levels - 1) / (2 * float(alpha) * beta)
    halvings = math.ceil(math.log2(ratio)) if ratio > 1 else 0
    return 4 * float(alpha) * harmonic_number(levels - 1) * (halvings + beta)


@dataclass(frozen=True)
class Best:
    """Smallest upper bound that a profile gives, with its alpha and beta."""

    alpha: Fraction
    beta: int
    calls: float


def best_upper_bound(profile: Profile) -> Best:
    """Minimise `upper_bound` over beta."""
    halvings = math.log2(len(profile))
    beta = min(range(1, len(profile) + 1), key=lambda b: float(profile[b - 1]) * (halvings + b))
    alpha = profile[beta - 1]
    return Best(alpha, beta, upper_bound(len(profile), alpha, beta))


def best_halving_bound(profile: Profile) -> Best:
    """Minimise `halving_bound` over beta."""
    calls, beta = min(
        (halving_bound(len(profile), alpha, beta), beta) for beta, alpha in enumerate(profile, 1)
    )
    return Best(profile[beta - 1], beta, calls)


def _total(sizes: Sequence[int]) -> int:
    if any(levels < 2 for levels in sizes):
        raise BadInput("the lower bounds are about parameters with at least two values")
    return sum(sizes)


def _steps(reach: int, length: int) -> int:
    """Sum of ceil(d / l) over d = 1 .. reach."""
    full, rest = divmod(reach, length)
    return length * full * (full + 1) // 2 + rest * (full + 1)
