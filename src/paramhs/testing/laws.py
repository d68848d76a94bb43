"""Tests of samplers against their laws."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from paramhs.core.random_streams import stream
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.search.history import History
from paramhs.search.operators import Guide, Learner, Mixture, Move, Operator, given

ERROR_RATE = 1e-6  # probability that a test here rejects a correct sampler, for any seed
DRAWS = 20_000
MIN_EXPECTED_COUNT = 25  # rarer cells are pooled, because the chi-square law is only asymptotic
_MAX_NEIGHBOURS = 500  # neighbours up to which a whole order is drawn


def p_value(drawn: Iterable[Hashable], law: Mapping[Any, Fraction]) -> float:
    """Chi-square p-value of draws under a law; 0 if an impossible value was drawn.

    Args:
        drawn: Independent draws.
        law: Probability of each value.

    Returns:
        A number from 0 to 1.

    Examples:
        >>> from fractions import Fraction
        >>> from paramhs.testing import p_value
        >>> p_value("heads tails".split() * 50, {"heads": Fraction(1, 2), "tails": Fraction(1, 2)})
        1.0
    """
    from scipy.stats import chisquare

    counts = Counter(drawn)
    if not counts.keys() <= law.keys():
        return 0.0
    cells = _pooled(counts, law)
    if len(cells) == 1:
        return 1.0
    observed, expected = zip(*cells, strict=True)
    return float(chisquare(observed, expected).pvalue)


def _pooled(counts: Counter[Hashable], law: Mapping[Any, Fraction]) -> list[list[float]]:
    draws = counts.total()
    cells = sorted(([counts[x], float(p) * draws] for x, p in law.items()), key=lambda c: c[1])
    while len(cells) > 1 and cells[0][1] < MIN_EXPECTED_COUNT:
        observed, expected = cells.pop(0)
        cells[0] = [cells[0][0] + observed, cells[0][1] + expected]
        cells.sort(key=lambda cell: cell[1])
    return cells


def fits(drawn: Iterable[Hashable], law: Mapping[Any, Fraction]) -> bool:
    """Whether the draws are compatible with the law.

    Args:
        drawn: Independent draws.
        law: Probability of each value.

    Returns:
        Whether the p-value is at least one in a million.

    Examples:
        >>> from fractions import Fraction
        >>> from paramhs.testing import fits
        >>> fits(["heads"] * 100, {"heads": Fraction(1, 2), "tails": Fraction(1, 2)})
        False
    """
    return p_value(drawn, law) >= ERROR_RATE


def check_operator(
    operator: Operator | Learner,
    space: Space,
    at: Config | None = None,
    *,
    history: History | None = None,
    draws: int = DRAWS,
) -> None:
    """Check an operator's sampler against its law, at a configuration (by default the default).

    A learner is checked with the operator it returns for a history (by default an empty one). Of a
    mixture with a guide whose law is unknown, the guaranteed share of plain moves is checked, that
    moves are legal, and that the same stream gives the same ones.

    Args:
        operator: The operator to check.
        space: Space to move in.
        at: Configuration to move from. Left out: the default.
        history: What a learner knows. Left out: nothing.
        draws: Number of draws from the sampler.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import SeveralParameters
        >>> from paramhs.testing import check_operator
        >>> check_operator(SeveralParameters(), Space({"x": range(5)}), draws=1000)
    """
    at = at or space.default
    now = given(operator, history or History(Scenario(space), 0))
    if isinstance(now, Mixture) and not isinstance(now.guide, Operator):
        _check_guarantee(now, space, at, draws)
        return
    law = now.distribution(space, at)
    _check_law(law, space, at)
    _check_sampler(now, space, at, law, (), draws)
    reached = sorted({config for move in law for config in move}, key=lambda c: c.indices)
    left_out = set(reached[::2])
    _check_sampler(now, space, at, now.distribution(space, at, left_out), left_out, draws)
    _check_order(now, space, at, reached)


def _check_guarantee(mixture: Mixture, space: Space, at: Config, draws: int) -> None:
    """Check that no plain move is rarer than guaranteed, at an error rate for all together."""
    from scipy.stats import binom

    guaranteed = mixture.guaranteed(space, at)
    excluded = {config for move in list(guaranteed)[::2] for config in move}
    for left_out in (set[Config](), excluded):
        guaranteed = mixture.guaranteed(space, at, left_out)
        first, again = (_draws(mixture, space, at, left_out, draws) for _ in range(2))
        assert first == again, "the same stream gives other moves"
        for move in set(first):
            _check_law({move: Fraction(1)}, space, at)
            assert not left_out.intersection(move), f"{move} is excluded"
        drawn = Counter(first)
        for move, probability in guaranteed.items():
            chance = float(binom.cdf(drawn[move], draws, float(probability)))
            assert chance >= ERROR_RATE / len(guaranteed), f"{move} is too rare"


def _draws(
    operator: Guide, space: Space, at: Config, left_out: set[Config], draws: int
) -> list[Move]:
    rng = stream(0, "check operator", len(left_out))
    return [operator.sample(space, at, rng, left_out) for _ in range(draws)]


def _check_law(law: Mapping[Move, Fraction], space: Space, at: Config) -> None:
    assert not law or sum(law.values()) == 1, "the law does not sum to 1"
    for move, probability in law.items():
        assert probability > 0, f"{move} has probability {probability}"
        assert move, "an empty move is no part of a law"
        for config in move:
            assert config != at, f"it stays at {at}"
            assert space.allowed(config), f"{config} is forbidden"


def _check_sampler(
    operator: Operator,
    space: Space,
    at: Config,
    law: Mapping[Move, Fraction],
    excluded: Iterable[Config],
    draws: int,
) -> None:
    left_out = set(excluded)
    assert not left_out & {c for move in law for c in move}, "what is excluded has a probability"
    drawn = _draws(operator, space, at, left_out, draws)
    if not law:
        assert set(drawn) == {()}, "there is no move, and one was drawn"
        return
    beyond = set(drawn) - law.keys()
    assert not beyond, f"drawn, but not in the law: {next(iter(beyond))}"
    p = p_value(drawn, law)
    assert p >= ERROR_RATE, f"the draws do not fit the law: p = {p:.1g}"


def _check_order(operator: Operator, space: Space, at: Config, reached: list[Config]) -> None:
    order = list(islice(operator.order(space, at, stream(0, "check order")), _MAX_NEIGHBOURS))
    assert len(set(order)) == len(order), "the order has a neighbour twice"
    assert at not in order, "the order has where it begins"
    if len(order) < _MAX_NEIGHBOURS:
        missing = set(reached) - set(order)
        assert not missing, f"the order leaves out {next(iter(missing))}"
