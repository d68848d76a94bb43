import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest

from paper.tests.support.simulators import simulate
from paramhs_paper.heuristics import LeadingOnes, OneMax, Ridge
from tests.support.laws import MANY, fits

PAPER = (Ridge(), LeadingOnes(), OneMax())

CELLS = [
    (Ridge(50, 200), 1.0),
    (Ridge(50, 100), 50),
    (Ridge(50, 100), 0),
    (Ridge(50, 0), 1.0),
    (Ridge(10, 100), 9.5),
    (Ridge(5, 40), 5),
    (Ridge(2, 3), 0.7),
    (Ridge(1, 3), 0.3),
    (Ridge(1, 1), 1),
    (LeadingOnes(50, 300), 1.6),
    (LeadingOnes(50, 20), 50),
    (LeadingOnes(50, 0), 1.1),
    (LeadingOnes(30, 50), 29),
    (LeadingOnes(30, 50), 0),
    (LeadingOnes(1, 2), 0.5),
    (LeadingOnes(1, 0), 1),
    (OneMax(50, 200), 1),
    (OneMax(50, 200), 3),
    (OneMax(50, 200), 50),
    (OneMax(50, 0), 4),
    (OneMax(50, 30), 49),
    (OneMax(7, 5), 0),
    (OneMax(2, 3), 2),
    (OneMax(1, 2), 1),
]


def mean(law):
    return float(law @ np.arange(len(law)))


def possible(law):
    """The law as a table; levels that cannot be reached are left out."""
    return {level: p for level, p in enumerate(law.tolist()) if p > 0}


def identity(cell):
    return f"{cell[0]}-{cell[1]}"


@pytest.mark.parametrize("cell", CELLS, ids=identity)
def test_law_sums_to_one(cell):
    heuristic, value = cell
    law = heuristic.law(value)
    assert law.shape == (heuristic.n + 1,)
    assert law.min() >= 0
    assert math.fsum(law) == pytest.approx(1, abs=1e-15)


def work(cell):
    heuristic, _ = cell
    return heuristic.n * heuristic.cutoff


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(c, id=identity(c), marks=[pytest.mark.slow] if work(c) > 5_000 else [])
        for c in CELLS
    ],
)
def test_simulator_has_the_law(cell):
    heuristic, value = cell
    levels = simulate(heuristic, value, MANY, seed=1)
    assert len(levels) == MANY
    assert fits(levels.tolist(), possible(heuristic.law(value)))


@pytest.mark.parametrize(
    ("simulated", "value", "claimed", "claimed_value"),
    [
        (Ridge(20, 80), 2.0, Ridge(20, 80), 2.3),
        (Ridge(20, 80), 1.0, Ridge(20, 70), 1.0),
        (LeadingOnes(20, 90), 1.6, LeadingOnes(20, 90), 1.9),
        (LeadingOnes(20, 90), 1.6, LeadingOnes(20, 80), 1.6),
        (OneMax(20, 30), 3, OneMax(20, 25), 3),
        (OneMax(20, 30), 3, OneMax(20, 30), 5),
    ],
)
def test_runs_of_something_else_are_noticed(simulated, value, claimed, claimed_value):
    """Each differs enough to be missed with probability below 1e-9, whatever the seed."""
    levels = simulate(simulated, value, MANY, seed=1).tolist()
    assert not fits(levels, possible(claimed.law(claimed_value)))


def leading(bits):
    return bits.index(0) if 0 in bits else len(bits)


def ridge_fitness(bits):
    on_the_ridge = list(bits) == sorted(bits, reverse=True)
    return len(bits) + sum(bits) if on_the_ridge else bits.count(0)


def flips_at_rate(rate):
    return lambda n, d: rate**d * (1 - rate) ** (n - d)


def flips_exactly(k):
    return lambda n, d: (d == k) / math.comb(n, k)


def brute_force(n, cutoff, fitness, chance, starts):
    """The law of the final fitness, from the chain on all strings, started uniformly at some of
    them, or anywhere.

    `chance(n, d)` is the probability that one given set of d bits flips, and no other.
    """
    strings = list(product((0, 1), repeat=n))
    number = {bits: i for i, bits in enumerate(strings)}
    chain = np.zeros((2**n, 2**n))
    for a, b in product(strings, repeat=2):
        distance = sum(x != y for x, y in zip(a, b, strict=True))
        to = b if fitness(b) >= fitness(a) else a
        chain[number[a], number[to]] += chance(n, distance)
    state = np.zeros(2**n)
    for bits in starts or strings:
        state[number[bits]] += 1 / len(starts or strings)
    for _ in range(cutoff):
        state = state @ chain
    law = np.zeros(2 * n + 1)
    for bits, p in zip(strings, state, strict=True):
        law[fitness(bits)] += p
    return law


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("cutoff", [0, 1, 7])
def test_laws_of_the_ea_are_those_of_the_chain_on_strings(n, cutoff):
    for chi in (0, 0.4, n / 2, 0.9 * n, n):
        _same_as_on_strings(Ridge(n, cutoff), ridge_fitness, chi, [(0,) * n])
        _same_as_on_strings(LeadingOnes(n, cutoff), leading, chi)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
@pytest.mark.parametrize("cutoff", [0, 1, 7])
def test_laws_of_rls_are_those_of_the_chain_on_strings(n, cutoff):
    for k in range(n + 1):
        _same_as_on_strings(OneMax(n, cutoff), sum, k)


def _same_as_on_strings(heuristic, fitness, value, starts=()):
    n, offset = heuristic.n, heuristic.offset
    of_rls = isinstance(heuristic, OneMax)
    chance = flips_exactly(value) if of_rls else flips_at_rate(value / n)
    expected = brute_force(n, heuristic.cutoff, fitness, chance, starts)
    found = heuristic.law(value)
    assert found == pytest.approx(expected[offset : offset + n + 1], abs=1e-14)
    assert expected[:offset].sum() == 0


@pytest.mark.parametrize(("n", "cutoff"), [(50, 200), (50, 0), (7, 30), (1, 1), (300, 1000)])
def test_rls_1_halves_the_zeros_geometrically(n, cutoff):
    zeros = n - mean(OneMax(n, cutoff).law(1))
    assert zeros == pytest.approx(n / 2 * (1 - 1 / n) ** cutoff, abs=1e-11)


@pytest.mark.parametrize("n", [1, 2, 7, 50, 51])
@pytest.mark.parametrize("cutoff", [1, 2, 200])
def test_rls_n_ends_at_the_better_of_a_string_and_its_complement(n, cutoff):
    deviation = sum(math.comb(n, x) * abs(x - n / 2) for x in range(n + 1)) / 2**n
    assert mean(OneMax(n, cutoff).law(n)) == pytest.approx(n / 2 + deviation, abs=1e-12)


def test_flipping_all_bits_crosses_the_ridge():
    assert Ridge(50, 1).law(50)[50] == 1


@pytest.mark.parametrize(("n", "chi"), [(1, 0.5), (5, 1.0), (5, 1.59), (8, 3.0)])
def test_leading_ones_takes_the_known_time(n, chi):
    """Source: Boettcher, Doerr, Neumann (PPSN 2010), Theorem 3."""
    p = chi / n
    expected = ((1 - p) ** (1 - n) - (1 - p)) / (2 * p * p)
    not_yet = [1 - LeadingOnes(n, cutoff).law(chi)[n] for cutoff in range(3000)]
    assert math.fsum(not_yet) == pytest.approx(expected, abs=1e-7)


def in_decimals(heuristic, value):
    """The law in 50 digits, with the formulas written out."""
    n, rises = heuristic.n, RISES[type(heuristic)]
    chain = np.array([[Decimal(0)] * (n + 1) for _ in range(n + 1)])
    for i in range(n + 1):
        for j in range(i + 1, n + 1):
            chain[i, j] = rises(n, value, i, j)
        chain[i, i] = 1 - sum(chain[i])
    state = np.array(FIRST[type(heuristic)](n))
    for bit in range(heuristic.cutoff.bit_length()):
        if heuristic.cutoff >> bit & 1:
            state = state @ chain
        chain = chain @ chain
    return state


def ridge_rises(n, chi, i, j):
    p = Decimal(chi) / n
    return p ** (j - i) * (1 - p) ** (n - j + i)


def leading_ones_rises(n, chi, i, j):
    p = Decimal(chi) / n
    return (1 - p) ** i * p / 2 ** (j - i - (j == n))


def onemax_rises(n, k, i, j):
    h, odd = divmod(j - i + k, 2)
    if odd or h > k:
        return Decimal(0)
    return Decimal(math.comb(n - i, h) * math.comb(i, k - h)) / math.comb(n, k)


RISES = {Ridge: ridge_rises, LeadingOnes: leading_ones_rises, OneMax: onemax_rises}
FIRST = {
    Ridge: lambda n: [Decimal(1)] + [Decimal(0)] * n,
    LeadingOnes: lambda n: [Decimal(2) ** -(i + (i < n)) for i in range(n + 1)],
    OneMax: lambda n: [Decimal(math.comb(n, i)) / 2**n for i in range(n + 1)],
}


@pytest.mark.parametrize(
    ("heuristic", "value"), [(PAPER[0], 1.0), (PAPER[1], 1.6), (PAPER[1], 25.1), (PAPER[2], 6)]
)
def test_law_keeps_its_promised_error(heuristic, value):
    with localcontext(prec=50):
        exact = in_decimals(heuristic, value)
        found = [Decimal(p) for p in heuristic.law(value).tolist()]
        error = sum(abs(a - b) for a, b in zip(found, exact, strict=True)) / 2
    assert error < 1e-13 < heuristic.cutoff * (heuristic.n + 1) * 2.0**-52


# Source: Hall, Oliveto, Sudholt (PPSN 2020), coordinates of Figure 1: means of 10,000 runs. Some
# differ from the exact means by more than such means do, up to 0.14.
PUBLISHED = {
    PAPER[0]: {0.5: 65.6382, 1: 69.4835, 1.5: 68.015, 2: 64.8303, 5: 51.7596, 10: 50.0122},
    PAPER[1]: {
        0.6: 43.8031,
        1.1: 49.1514,
        1.6: 49.5257,
        3.1: 47.0689,
        10.1: 24.8562,
        25.1: 11.5996,
    },
    PAPER[2]: {1: 49.4581, 2: 44.8734, 3: 46.0801, 4: 43.2829, 25: 34.2722, 50: 27.8145},
}


@pytest.mark.parametrize(
    ("heuristic", "value", "fitness"),
    [(h, v, f) for h, table in PUBLISHED.items() for v, f in table.items()],
)
def test_means_are_the_published_ones(heuristic, value, fitness):
    assert heuristic.offset + mean(heuristic.law(value)) == pytest.approx(fitness, abs=0.15)
