"""Working values of censored runs, against scipy and against a likelihood that is written out."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from paramhs.search.model.censoring import hazard, working


def test_the_hazard_is_that_of_the_normal_law():
    z = np.linspace(-30, 50, 801)
    exact = np.exp(norm.logpdf(z) - norm.logsf(z))
    assert hazard(z) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("z", [-3.0, -1.0, 0.0, 1.0, 4.9, 5.1, 20.0])
def test_weights_are_the_information_in_a_bound(z):
    """Minus the second derivative of the logarithm of the likelihood; the step is Newton's."""
    step = 1e-3
    log = [norm.logsf(z - d) for d in (-step, 0.0, step)]
    slope, curve = (log[2] - log[0]) / (2 * step), (log[2] - 2 * log[1] + log[0]) / step**2
    values, weights = working(np.array([5.0 + 2.0 * z]), np.array([5.0]), 2.0)
    assert weights[0] == pytest.approx(-curve, rel=1e-3, abs=1e-6)
    assert values[0] == pytest.approx(5.0 + 2.0 * slope / -curve, rel=1e-3)


def test_repeated_least_squares_end_at_the_likeliest_mean():
    rng = np.random.default_rng(1)
    true = rng.normal(3.0, 1.0, 500)
    bounds = rng.uniform(1.0, 4.0, 500)
    cut = true > bounds
    assert 100 < cut.sum() < 400
    known = np.where(cut, bounds, true)

    def surprise(mean):
        return -norm.logpdf(known[~cut], mean).sum() - norm.logsf(known[cut], mean).sum()

    mean = float(known.mean())
    for _ in range(30):
        values, weights = working(known[cut], np.full(cut.sum(), mean), 1.0)
        total = true[~cut].sum() + weights @ values
        mean = total / ((~cut).sum() + weights.sum())
    assert mean == pytest.approx(minimize_scalar(surprise).x, abs=1e-4)
    assert mean == pytest.approx(3.0, abs=0.2)
    assert known.mean() < 2.6


def test_a_bound_far_off_is_a_value_and_one_that_says_nothing_has_no_weight():
    values, weights = working(np.array([1e5, -1e5]), np.zeros(2), 1e-3)
    assert values[0] == pytest.approx(1e5)
    assert weights == pytest.approx([1.0, 0.0], abs=1e-8)
    assert np.isfinite(values).all()
