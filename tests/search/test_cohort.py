"""Races that are open at the same time."""

from collections import Counter
from fractions import Fraction

import pytest

from paramhs.core.runs import Evaluate
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.search import Growing, History, Learned, Narrowing, SeveralParameters
from paramhs.search.configurators.cohort import Cohort
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


def begun():
    """A cohort that was opened before the first runs of the default."""
    history = history_with(0)
    cohort = renewed(Learned(), history)
    for number in range(3):
        history.add(ok(history.task(SPACE.default, history.pair(number)), 1.0))
    return cohort


def renewed(operator, history, rejected=()):
    cohort = Cohort(operator, Growing(), history)
    cohort.renew(SPACE.default, set(rejected), lambda _: set())
    return cohort


def ahead(cohort, found=lambda task: None):
    """Challengers and incumbents in the order in which their runs are wanted."""
    return list(dict.fromkeys(task.config for task in cohort.following(found)))


def hold(cohort, cost):
    """Hold the next race; its tasks, its challenger, and whether that has won."""
    asking, tasks, runs = cohort.next_race(), [], None
    while True:
        try:
            step = asking.send(runs) if runs else next(asking)
        except StopIteration as end:
            return tasks, end.value
        assert isinstance(step, Evaluate)
        tasks += step.tasks
        runs = [ok(task, cost(task.config)) for task in step.tasks]


@pytest.mark.parametrize(("runs", "size"), [(0, 1), (9, 1), (19, 1), (20, 2), (300, 30)])
def test_one_race_is_open_for_ten_runs(runs, size):
    assert len(renewed(SeveralParameters(), history_with(runs))) == size


def test_a_learner_draws_its_whole_initial_design_at_once():
    assert len(renewed(Learned(), history_with(3))) == 7


def test_a_learner_may_want_to_learn_from_every_race():
    assert len(renewed(Narrowing(), history_with(300))) == 1


def test_challengers_are_drawn_when_half_of_the_races_are_decided():
    history = history_with(300)
    cohort = renewed(SeveralParameters(), history)
    sizes = [len(cohort)]
    while sizes[-1] <= sizes[0]:
        _, (_, won) = hold(cohort, lambda config: 2.0)
        assert not won
        cohort.renew(SPACE.default, set(), lambda _: set())
        sizes.append(len(cohort))
    assert sizes == [*range(30, 16, -1), 32]
    assert history.asked // 10 == 32


def test_half_of_the_races_are_held_against_a_new_incumbent():
    history = history_with(300)
    cohort = renewed(SeveralParameters(), history)
    challengers = ahead(cohort)
    winner = challengers[20]
    for number in range(300):
        history.add(ok(history.task(winner, history.pair(number)), 0.5))
    cohort.restart(winner)
    assert [config for config in ahead(cohort) if config != winner] == challengers[:15]
    tasks, (challenger, won) = hold(cohort, lambda config: 0.7)
    assert (challenger, won) == (challengers[0], False)
    assert {task.config for task in tasks} <= {winner, challenger}


def test_what_is_said_to_follow_is_requested_whatever_comes_of_the_other_races():
    cohort = begun()
    expected = list(cohort.following(lambda task: None))
    requested = []
    for _ in range(len(cohort)):
        tasks, _ = hold(cohort, lambda config: float(config.indices[0] + 2))
        requested += tasks
    assert set(expected) <= set(requested)


def test_the_incumbent_is_brought_to_one_pair_for_each_race():
    cohort = begun()
    own = {t.pair for t in cohort.following(lambda _: None) if t.config == SPACE.default}
    assert own == set(history_with(0).pairs(3, 3 + len(cohort)))


def test_a_challenger_that_survives_by_early_runs_is_followed_further():
    cohort = renewed(SeveralParameters(), history_with(300))
    first = ahead(cohort)[0]

    def tasks_with(cost, known):
        made = dict.fromkeys(task for task in known if task.config == first)
        following = cohort.following(lambda task: ok(task, cost) if task in made else None)
        return [task for task in following if task.config == first]

    looked = tasks_with(0.5, [])
    assert len(looked) == 2
    assert len(tasks_with(0.5, looked)) == 4
    assert len(tasks_with(0.5, tasks_with(0.5, looked))) == 8


def test_a_challenger_that_loses_by_early_runs_is_followed_no_further():
    cohort = renewed(SeveralParameters(), history_with(300))
    first = ahead(cohort)[0]
    following = cohort.following(lambda task: ok(task, 2.0))
    assert sum(task.config == first for task in following) == 2


def test_no_challenger_comes_twice_nor_is_rejected_or_the_incumbent():
    rejected = list(SPACE.configs())[::2]
    drawn = ahead(renewed(Learned(), history_with(900), rejected))
    assert len(drawn) == len(set(drawn)) == 900 // 10
    assert not {SPACE.default, *rejected} & set(drawn)


def test_a_draw_has_the_operators_law():
    small = Space({"x": range(4)})
    law = SeveralParameters().distribution(small, small.default)
    firsts = []
    for seed in range(3_000):
        history = History(Scenario(small), seed)
        cohort = Cohort(SeveralParameters(), Growing(), history)
        cohort.renew(small.default, set(), lambda _: set())
        firsts += [(config,) for config in ahead(cohort) if config != small.default]
    assert fits(firsts, law)


@pytest.mark.parametrize("position", [0, 5, 15])
def test_every_place_of_a_cohort_keeps_the_guaranteed_share_of_plain_moves(position):
    plain = SeveralParameters().distribution(SPACE, SPACE.default)
    near = {move for move, p in plain.items() if p > Fraction(1, 100)}
    counts = Counter()
    for seed in range(1_000):
        challengers = [
            config
            for config in ahead(renewed(Learned(), history_with(200, seed)))
            if config != SPACE.default
        ]
        counts[(challengers[position],) in near] += 1
    # Moves that came before are drawn anew, so near moves become rarer towards the end.
    least = Fraction(1, 4) * sum(plain[move] for move in near)
    assert counts[True] >= float(least) * 1_000 * 0.5


def test_a_space_that_cannot_fill_a_cohort_is_not_drawn_from_after_every_race():
    space = Space({"x": range(5)})
    history = History(Scenario(space, instances(3)), 0)
    for number in range(100):
        history.count_request()
        history.add(ok(history.task(space.default, history.pair(number)), 1.0))
    cohort = Cohort(SeveralParameters(), Growing(), history)
    sizes = []
    for _ in range(3):
        cohort.renew(space.default, set(), lambda _: set())
        sizes.append(len(cohort))
        hold(cohort, lambda config: 2.0)
    assert sizes == [4, 3, 4]
