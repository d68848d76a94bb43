"""What the paper proves about the number of calls, as functions.

Calls are those of `better` until the optimum is first sampled, from a uniform start, with
comparisons that are always right. M is the sum of the numbers of values.

Source: Hall, Oliveto, Sudholt (PPSN 2020), Theorems 1 to 4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramhs.results.landscape.unimodality import Profile
from paramhs.search.operators.harmonic_numbers import harmonic_number
from paramhs.values.errors import BadInput


def l_step_lower_bound(sizes: Sequence[int], length: int = 1) -> Fraction:
    """M / (8 l): wherever the optimum is, a uniform start is that many l-steps away on average.

    The mean distance of one parameter with n >= 2 values is at least (n - 1/n) / 4 >= n / 8.
    """
    return Fraction(_total(sizes), 8 * length)


def l_step_distance_bound(
    sizes: Sequence[int], optimum: Sequence[int], length: int = 1
) -> Fraction:
    """The mean number of l-steps from a uniform start to this optimum, if each went towards it.

    One call moves one parameter by at most l, so parameter i needs ceil(distance_i / l) of them.
    At least `l_step_lower_bound`.
    """
    _total(sizes)
    steps = Fraction(0)
    for levels, best in zip(sizes, optimum, strict=True):
        if not 0 <= best < levels:
            raise BadInput(f"the optimum's index {best} is not in 0 .. {levels - 1}")
        steps += Fraction(_steps(best, length) + _steps(levels - 1 - best, length), levels)
    return steps


def uniform_lower_bound(sizes: Sequence[int]) -> Fraction:
    """M / 4, for moves of one parameter to a uniform value, even if none is tried twice."""
    return Fraction(_total(sizes), 4)


def param_ils_lower_bound(sizes: Sequence[int]) -> Fraction:
    """M / 16, for ParamILS, which walks all neighbours in random order."""
    return Fraction(_total(sizes), 16)


def upper_bound(levels: int, alpha: Fraction | float, beta: int) -> float:
    """4 alpha H log2(m) + 4 alpha beta H with H = H_{m-1}: the harmonic step, one parameter.

    The logarithm is to base 2, as it counts how often the distance is halved; that makes the
    statement true by the argument of `halving_bound`, which is never larger.
    """
    reach = 4 * float(alpha) * harmonic_number(levels - 1)
    return reach * math.log2(levels) + reach * beta


def halving_bound(levels: int, alpha: Fraction | float, beta: int) -> float:
    """4 alpha H (k + beta), where k halvings bring m - 1 down to at most 2 alpha beta.

    Proof. Costs never rise, so after a visit at distance i >= beta all later values are within
    alpha i. Let no later distance exceed L = 2^k 2 alpha beta; we claim at most
    U_k = 4 alpha H (k + beta) more calls. At distance j <= L each value between here and the
    optimum is drawn with probability at least p = 1 / (2 j H): the weight is at least 1/j, and all
    weights together are at most 2 H. Drawing the optimum ends the count. Drawing a distance in
    beta .. j / (2 alpha), of which there are more than j / (2 alpha) - beta, is always accepted and
    lowers k by one. So a call lowers the bound on average by at least
    p U_k + p (j / (2 alpha) - beta) 4 alpha H = 1 + 2 alpha k / j >= 1; and if j <= 2 alpha beta,
    already p U_k >= 1. Nothing here needs a unique optimum: the bound holds for the one that
    distances are measured from.
    """
    ratio = (levels - 1) / (2 * float(alpha) * beta)
    halvings = math.ceil(math.log2(ratio)) if ratio > 1 else 0
    return 4 * float(alpha) * harmonic_number(levels - 1) * (halvings + beta)


@dataclass(frozen=True)
class Best:
    """The smallest upper bound that a profile gives, and where."""

    alpha: Fraction
    beta: int
    calls: float


def best_upper_bound(profile: Profile) -> Best:
    """`upper_bound` at the beta where it is smallest."""
    halvings = math.log2(len(profile))
    beta = min(range(1, len(profile) + 1), key=lambda b: float(profile[b - 1]) * (halvings + b))
    alpha = profile[beta - 1]
    return Best(alpha, beta, upper_bound(len(profile), alpha, beta))


def best_halving_bound(profile: Profile) -> Best:
    """`halving_bound` at the beta where it is smallest."""
    calls, beta = min(
        (halving_bound(len(profile), alpha, beta), beta) for beta, alpha in enumerate(profile, 1)
    )
    return Best(profile[beta - 1], beta, calls)


def _total(sizes: Sequence[int]) -> int:
    if any(levels < 2 for levels in sizes):
        raise BadInput("the lower bounds are about parameters with at least two values")
    return sum(sizes)


def _steps(reach: int, length: int) -> int:
    """The sum of ceil(d / l) over d = 1 .. reach."""
    full, rest = divmod(reach, length)
    return length * full * (full + 1) // 2 + rest * (full + 1)
