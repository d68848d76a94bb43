"""Shares of wrong statements with their intervals."""

from scipy.stats import beta


def interval(wrong: int, trials: int) -> str:
    """Share of wrong statements in percent, with the 95 % interval of Clopper and Pearson."""
    low = beta.ppf(0.025, wrong, trials - wrong + 1) if wrong else 0.0
    high = beta.ppf(0.975, wrong + 1, trials - wrong) if wrong < trials else 1.0
    return f"{100 * wrong / trials:.1f} ({100 * low:.1f} to {100 * high:.1f})"
