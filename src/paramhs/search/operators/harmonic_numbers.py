"""Harmonic numbers H_n = 1 + 1/2 + ... + 1/n and their inverse, in double precision.

No loop over n is needed.
"""

import math
from bisect import bisect_right

_EULER = 0.5772156649015328606


def _asymptotic(n: int) -> float:
    """Euler-Maclaurin expansion: from n = 32 the first omitted term is below 1e-17."""
    s = 1.0 / (n * n)
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s / 240)))
    return math.log(n) + (_EULER + 0.5 / n - tail)


def _by_hand(n: int) -> float:
    return math.fsum(1.0 / d for d in range(1, n + 1))


TABLE = [_by_hand(n) if n < 32 else _asymptotic(n) for n in range(2049)]
"""Table of H_0, H_1, ..., H_2048."""

_LAST = len(TABLE) - 1


def harmonic_number(n: int) -> float:
    """Return the harmonic number H_n."""
    return TABLE[n] if n <= _LAST else _asymptotic(n)


def first_above(x: float, limit: int) -> int:
    """Smallest d in 1 .. limit with H_d > x, or limit if there is none.

    For x uniform on [0, H_limit), d has the law 1 / (d H_limit).
    """
    if limit <= _LAST or x < TABLE[_LAST]:
        return min(bisect_right(TABLE, x, 0, min(limit, _LAST) + 1), limit)
    d = min(max(int(math.exp(x - _EULER) + 0.5), _LAST), limit)
    while d > _LAST and _asymptotic(d - 1) > x:
        d -= 1
    while d < limit and _asymptotic(d) <= x:
        d += 1
    return d
