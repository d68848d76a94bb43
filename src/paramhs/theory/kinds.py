"""Kinds of landscapes of one parameter, and the operator that suits each.

The rules follow from the parameters of real solvers that were measured for
docs/explanation/landscapes.md. A valley alone is not worth a small step: what decides is how many
of the values are nearly as good as the best. If one in ten is, ten uniform values find one, however
many values the parameter has; the harmonic step pays where nearly the best is a needle in a valley.
"""

from typing import Any, NamedTuple

import numpy as np

from paramhs.theory.unimodality import Costs, checked, profile

GAP = 0.02
"""Costs up to this share above the best count as nearly the best."""
ALPHA, BETA_SHARE = 2, 0.25
"""A landscape is nearly a valley with this alpha and a beta of at most this share of the values."""
NEEDLE = 1 / 16
"""Share of good values below which the harmonic step needs clearly fewer calls in a valley."""


class Kind(NamedTuple):
    """Kind of a landscape, with what it says for the choice of an operator."""

    name: str
    """flat, one valley, nearly one valley, or rugged."""
    beta: int
    """Smallest beta with which the landscape is (2, beta)-approximately unimodal."""
    near: int
    """Number of values nearly as good as the best."""
    values: int
    """Number of values."""

    @property
    def advice(self) -> str:
        """Operator for a search with noise, with the reason."""
        good = f"{self.near:,} of {self.values:,} values are within {GAP:.0%} of the best"
        if self.name == "flat":
            return "Flat: leave this parameter at its default."
        if self.name == "rugged":
            return (
                f"Rugged, or measured with too few runs: {good}. Small steps get stuck here; use"
                " uniform values, none of them twice."
            )
        shape = f"{self.name.capitalize()}: {good}."
        if self.near <= NEEDLE * self.values:
            return (
                f"{shape} The harmonic step suits it if a comparison averages several runs; with"
                " single noisy runs, uniform values find one as soon."
            )
        return (
            f"{shape} With this many, uniform values, none of them twice, find one as soon as the"
            " harmonic step does, and noise does not slow them down."
        )

    def to_json(self) -> dict[str, Any]:
        """Convert to plain data."""
        return {"name": self.name, "beta": self.beta, "near": self.near, "advice": self.advice}


def kind_of(costs: Costs) -> Kind:
    """Kind of a landscape of one parameter.

    Args:
        costs: Cost of each value, lower being better.

    Returns:
        The kind. Where the best cost is not above 0, only the best values count as nearly the best.

    Examples:
        >>> from paramhs.theory.kinds import kind_of
        >>> kind_of([3.0, 2.0, 1.0, 2.0, 3.0]).name
        'one valley'
    """
    array = checked(costs)
    best = float(array.min())
    near = int(np.sum(array <= (best * (1 + GAP) if best > 0 else best)))
    listed = profile(array, int(np.argmin(array)))
    beta = next(beta for beta, alpha in enumerate(listed, 1) if alpha <= ALPHA)
    return Kind(_name(array, near, beta), beta, near, len(array))


def _name(costs: Any, near: int, beta: int) -> str:
    if near == len(costs):
        return "flat"
    best = int(np.argmin(costs))
    if np.all(np.diff(costs[: best + 1]) <= 0) and np.all(np.diff(costs[best:]) >= 0):
        return "one valley"
    return "nearly one valley" if beta <= BETA_SHARE * len(costs) else "rugged"
