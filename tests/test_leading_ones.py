import math
from collections import Counter
from statistics import fmean, stdev

import pytest
from scipy.stats import chi2_contingency, norm

from driving import z_score
from laws import DRAWS, ERROR_RATE, fits, p_value
from paramhs.seeds import stream
from paramhs.targets.leading_ones import BEST_CHI, BITS, SPACE, STEPS, leading_ones, simulate

SIGMAS = float(norm.isf(ERROR_RATE / 2))


def bit_by_bit(chi: float, n: int, steps: int, seed: int) -> int:
    """The (1+1) EA as it is written in papers."""
    rng = stream(seed, "bit by bit")
    bits = [rng.random() < 0.5 for _ in range(n)]
    for _ in range(steps):
        child = [bit != (rng.random() < chi / n) for bit in bits]
        if leading(child) >= leading(bits):
            bits = child
    return leading(bits)


def leading(bits: list[bool]) -> int:
    return bits.index(False) if False in bits else len(bits)


def law(chi: float, n: int, steps: int) -> dict[int, float]:
    """The exact law of the final fitness.

    Bits beyond the first zero are uniform at any time. So a step improves fitness i with
    probability (1 - p)^i p, and what follows the flipped bit is ones with probability 1/2 each.
    """
    p = chi / n
    state = [0.5 ** (i + 1) for i in range(n)] + [0.5**n]
    improving = [(1 - p) ** i * p for i in range(n)] + [0.0]
    for _ in range(steps):
        arriving, after = 0.0, []
        for i, mass in enumerate(state):
            last = i == n
            after.append(mass * (1 - improving[i]) + (arriving if last else arriving / 2))
            arriving = (0.0 if i == 0 else arriving / 2) + mass * improving[i]
        state = after
    return dict(enumerate(state))


CASES = [(0.5, 6, 10), (1.6, 6, 15), (3.0, 8, 20), (5.9, 6, 8), (1.0, 5, 60)]


@pytest.mark.parametrize(("chi", "n", "steps"), CASES)
def test_the_law_is_a_law(chi, n, steps):
    assert math.fsum(law(chi, n, steps).values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("chi", "n", "steps"), CASES)
def test_the_simulation_has_the_exact_law(chi, n, steps):
    drawn = [simulate(chi, n, steps, seed) for seed in range(DRAWS)]
    assert fits(drawn, law(chi, n, steps))


@pytest.mark.parametrize(("chi", "n", "steps"), [(1.6, 6, 15), (3.0, 5, 12)])
def test_bit_by_bit_and_from_flip_to_flip_are_alike(chi, n, steps):
    slow = Counter(bit_by_bit(chi, n, steps, seed) for seed in range(DRAWS))
    fast = Counter(simulate(chi, n, steps, seed) for seed in range(DRAWS))
    values = sorted(k for k in slow | fast if slow[k] + fast[k] >= 50)
    table = [[counts[k] for k in values] for counts in (slow, fast)]
    assert chi2_contingency(table).pvalue >= ERROR_RATE


def slightly_wrong(chi: float, n: int, steps: int, seed: int) -> int:
    """One step too few."""
    return simulate(chi, n, steps - 1, seed)


def test_a_simulation_that_is_slightly_wrong_is_caught():
    drawn = [slightly_wrong(1.6, 6, 15, seed) for seed in range(DRAWS)]
    assert p_value(drawn, law(1.6, 6, 15)) < ERROR_RATE


PUBLISHED = {BEST_CHI: 49.5257, 0.6: 43.80}
PUBLISHED_ERROR = 0.14  # the means were published from 10,000 runs


@pytest.mark.parametrize("chi", sorted(PUBLISHED))
def test_the_exact_mean_is_the_published_one(chi):
    mean = math.fsum(k * p for k, p in law(chi, BITS, STEPS).items())
    assert abs(mean - PUBLISHED[chi]) <= PUBLISHED_ERROR


@pytest.mark.parametrize("chi", sorted(PUBLISHED))
def test_the_simulated_mean_is_the_exact_one(chi):
    runs = [simulate(chi, BITS, STEPS, seed) for seed in range(1_000)]
    mean = math.fsum(k * p for k, p in law(chi, BITS, STEPS).items())
    assert abs(z_score(runs, mean)) < SIGMAS
    assert stdev(runs) > 0
    assert fmean(runs) <= BITS


def test_the_best_chi_is_the_best_of_the_space():
    values = [SPACE.parameters["chi"].value(i) for i in range(SPACE.parameters["chi"].levels)]
    assert len(values) == 50
    means = {chi: math.fsum(k * p for k, p in law(chi, BITS, STEPS).items()) for chi in values[:8]}
    assert max(means, key=means.__getitem__) == BEST_CHI


def test_a_run_is_a_function_of_its_seed():
    config = SPACE.config(chi=BEST_CHI).as_dict()
    assert leading_ones(config, 7) == leading_ones(config, 7) == simulate(BEST_CHI, 50, 2500, 7)
    assert len({leading_ones(SPACE.config(chi=25.1).as_dict(), seed) for seed in range(30)}) > 1


def test_without_steps_the_fitness_is_that_of_the_start():
    drawn = [simulate(1.0, 6, 0, seed) for seed in range(DRAWS)]
    assert fits(drawn, law(1.0, 6, 0))
