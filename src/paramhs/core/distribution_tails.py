"""Tail probabilities of Student's t and Fisher's F, without scipy.

Both are values of the regularised incomplete beta function, computed from its continued fraction
(DLMF 8.17.22) by Lentz's method. Tests compare them with scipy.
"""

import math

_MAX_TERMS = 10_000  # far more than any number of runs needs
_MIN_DENOMINATOR = 1e-300


def t_tail(t: float, freedom: float) -> float:
    """Probability that |T| is at least t, with `freedom` degrees of freedom."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def f_tail(f: float, between: float, within: float) -> float:
    """Probability that F is at least f, with `between` and `within` degrees of freedom."""
    return _incomplete_beta(within / (within + between * f), within / 2, between / 2)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b).

    The fraction converges fast below the mean a / (a + b); beyond it, the symmetry I_x(a, b) = 1 -
    I_{1-x}(b, a) is used.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / a
    return front / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Continued fraction 1 + d_1 / (1 + d_2 / (1 + ...))."""
    value, upper, lower = 1.0, 1.0, 0.0
    for step in range(1, _MAX_TERMS):
        m, odd = divmod(step, 2)
        if odd:
            term = -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)) * x
        else:
            term = m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)) * x
        lower = 1 / (1 + term * lower or _MIN_DENOMINATOR)
        upper = 1 + term / upper or _MIN_DENOMINATOR
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return value
