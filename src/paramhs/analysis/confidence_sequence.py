"""A statement that stays valid however often one looks: a confidence sequence.

An interval of a verdict is right for a number of runs that was fixed before. A confidence sequence
is right at every moment at once, so one may look after each instance and stop when it is clear.

The statement is about the mean relative saving on an instance, (first - second) / the larger of the
two. It is between -1 and 1 whatever the cutoff is, so nothing has to be assumed about tails. A bet
against a mean m that is too low, of the share `theta` of what can be lost, multiplies capital by
1 + theta * (x / m - 1). Averaged over a fixed list of shares, capital is a martingale of mean 1 at
the true m; by Ville's inequality it ever reaches 2 / level with a probability of level / 2.

Sources: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (JRSS B,
2024), with a fixed mixture of bets; Ville, Etude critique de la notion de collectif (1939).
"""

import math
from collections.abc import Sequence

from paramhs.analysis.intervals import Interval

SHARES = tuple(0.95 * 2.0**-k for k in range(10))
"""The bets that are averaged, as shares of what can be lost."""
_STEPS = 40  # bisections


def mean_saving(
    first: Sequence[float], second: Sequence[float], level: float = 0.05
) -> Interval | None:
    """The mean share of the cost of an instance that the second saves, valid at any moment.

    A loss counts as a share of the second's cost. None where costs are not all positive.

    Args:
        first: Mean costs of the baseline, one an instance.
        second: Those of the other, on the same instances.
        level: Probability that the interval is ever wrong.
    """
    if not first or min(*first, *second) <= 0 or not math.isfinite(max(*first, *second)):
        return None
    savings = [(a - b) / max(a, b) for a, b in zip(first, second, strict=True)]
    gains = [(1 + saving) / 2 for saving in savings]
    low, high = _least_mean(gains, level), 1 - _least_mean([1 - gain for gain in gains], level)
    return Interval(math.fsum(savings) / len(savings), 2 * low - 1, 2 * high - 1)


def _least_mean(numbers: Sequence[float], level: float) -> float:
    """The smallest mean that is not refuted, of numbers between 0 and 1."""
    limit = math.log(2 / level)
    low, high = 0.0, math.fsum(numbers) / len(numbers)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _log_capital(numbers, middle) >= limit:
            low = middle
        else:
            high = middle
    return low


def _log_capital(numbers: Sequence[float], mean: float) -> float:
    """The logarithm of what the bets against this mean have grown to; it falls with the mean."""
    if mean <= 0:
        return math.inf if any(numbers) else 0.0
    logs = [math.fsum(math.log1p(s * (x / mean - 1)) for x in numbers) for s in SHARES]
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs) / len(logs))
