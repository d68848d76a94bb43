"""Censored observations in a regression: runs of which only a lower bound of the cost is known.

A run that was cut short says that its value is at least a bound. With normal noise the likelihood
of that is Phi((mean - bound) / deviation), whose logarithm is concave in the mean. Newton's method
replaces each such run by a *working value* with a *weight*, the information it has beside a run
that ended: close to 1 where the model expects much less than the bound, close to 0 where it expects
much more anyway. Working values and weights go into the same least squares as all other runs, and
the fit is repeated with its own expectations until it settles.

Source: Tobin, Estimation of relationships for limited dependent variables (Econometrica 26, 1958);
Nelder, Wedderburn, Generalized linear models (JRSS A 135, 1972) for the working values.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MIN_WEIGHT = 1e-9
"""A run whose bound says nothing keeps this weight, so that no sum of weights is zero."""

# Chebyshev fit of erfcx: relative error below 1.2e-7 (Press et al., Numerical Recipes, erfcc).
_ERFCX = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)


def hazard(z: Floats) -> Floats:
    """Density over upper tail of the standard normal law: the mean of what lies beyond z."""
    size = np.abs(z) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.5 * size)
    tail = t * np.exp(np.polyval(_ERFCX[::-1], t))  # erfc(size) * exp(size^2)
    density = np.exp(-(size**2))
    below = np.sqrt(2.0 / np.pi) * density / (2.0 - tail * density)
    return np.asarray(np.where(z >= 0, np.sqrt(2.0 / np.pi) / tail, below), np.float64)


def working(bounds: Floats, means: Floats, deviation: float) -> tuple[Floats, Floats]:
    """Working values and weights of runs that are known to exceed their bounds.

    Args:
        bounds: The least value of each run.
        means: The value the model expects of each run.
        deviation: Standard deviation of a run around its mean.
    """
    z = (bounds - means) / deviation
    beyond = hazard(z)
    far = np.maximum(z, 5.0)  # beyond this, a continued fraction avoids cancellation
    gap = np.where(z > 5.0, 1 / (far + 2 / (far + 3 / (far + 4 / far))), beyond - z)
    weights = np.clip(beyond * gap, MIN_WEIGHT, 1.0)
    return np.asarray(means + deviation / gap, np.float64), np.asarray(weights, np.float64)
