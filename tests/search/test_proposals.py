"""Cohorts of challengers."""

from collections import Counter
from fractions import Fraction

import pytest

from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.search import History, Learned, Narrowing, SeveralParameters
from paramhs.search.configurators.proposals import Proposals
from tests.support.driving import instances, ok
from tests.support.laws import fits

SPACE = Space({"x": range(40), "y": range(40)})


def history_with(runs, seed=0):
    history = History(Scenario(SPACE, instances(3)), seed)
    for number in range(runs):
        task = history.task(SPACE.default, history.pair(number))
        history.count_request()
        history.add(ok(task, 1.0))
    return history


def renewed(operator, history, rejected=()):
    proposals = Proposals(operator, history)
    proposals.renew(SPACE.default, set(rejected), lambda _: set())
    return proposals


@pytest.mark.parametrize(("runs", "size"), [(0, 1), (9, 1), (19, 1), (20, 2), (300, 30)])
def test_a_cohort_has_one_challenger_for_ten_runs(runs, size):
    assert len(list(renewed(SeveralParameters(), history_with(runs)))) == size


def test_a_learner_draws_its_whole_initial_design_at_once():
    assert len(list(renewed(Learned(), history_with(3)))) == 7


def test_a_learner_may_want_to_learn_from_every_race():
    assert len(list(renewed(Narrowing(), history_with(300)))) == 1


def test_the_next_cohort_is_drawn_when_half_has_raced():
    proposals = renewed(SeveralParameters(), history_with(300))
    for left in range(29, 15, -1):
        proposals.take()
        proposals.renew(SPACE.default, set(), lambda _: set())
        assert len(list(proposals)) == left
    proposals.take()
    proposals.renew(SPACE.default, set(), lambda _: set())
    assert len(list(proposals)) == 30


def test_half_a_cohort_is_left_after_a_win_in_its_order():
    proposals = renewed(SeveralParameters(), history_with(300))
    before = list(proposals)
    proposals.limit()
    assert list(proposals) == before[:15]


def test_no_challenger_comes_twice_nor_is_rejected_or_the_incumbent():
    rejected = list(SPACE.configs())[::2]
    drawn = list(renewed(SeveralParameters(), history_with(900), rejected))
    assert len(drawn) == len(set(drawn)) == 90
    assert not {SPACE.default, *rejected} & set(drawn)


def test_a_draw_of_a_cohort_has_the_operators_law():
    small = Space({"x": range(4)})
    law = SeveralParameters().distribution(small, small.default)
    firsts = []
    for seed in range(3_000):
        history = History(Scenario(small), seed)
        proposals = Proposals(SeveralParameters(), history)
        proposals.renew(small.default, set(), lambda _: set())
        firsts.append((proposals.take(),))
    assert fits(firsts, law)


@pytest.mark.parametrize("position", [0, 5, 15])
def test_every_place_of_a_cohort_keeps_the_guaranteed_share_of_plain_moves(position):
    plain = SeveralParameters().distribution(SPACE, SPACE.default)
    near = {move for move, p in plain.items() if p > Fraction(1, 100)}
    counts = Counter()
    for seed in range(1_000):
        challengers = list(renewed(Learned(), history_with(200, seed)))
        counts[(challengers[position],) in near] += 1
    # Moves that came before are drawn anew, so near moves become rarer towards the end.
    least = Fraction(1, 4) * sum(plain[move] for move in near)
    assert counts[True] >= float(least) * 1_000 * 0.5
