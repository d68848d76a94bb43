"""What a search knows, against a plain list of all that it was told."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paramhs.core.capping import Capping
from paramhs.core.costs import Runtime
from paramhs.core.runs import Instance, Pair, Run, Status, Task
from paramhs.core.scenario import Scenario, endless_pairs, known_seeds
from paramhs.search.history import History, Race
from tests.support.driving import instances, ok, one_parameter, settle

SPACE = one_parameter(4)
A, B, C, D = CONFIGS = list(SPACE.configs())
CUTOFF = 10.0
TIMED = Scenario(SPACE, instances(3), Runtime(), CUTOFF, capping=Capping("preserving"))


def run(task, seconds):
    """What a target that needs this many seconds answers."""
    if seconds <= task.cutoff:
        return Run(task, Status.OK, seconds)
    late = Status.TIMEOUT if task.cutoff == CUTOFF else Status.CAPPED
    return Run(task, late, task.cutoff)


def seconds(config, pair):
    """A runtime that is a function of both; some beyond the cutoff."""
    return (7 * config["x"] + pair.seed) % 13 + 0.5


class HistoryAgainstList(RuleBasedStateMachine):
    """Runs are asked for with cutoffs; a list of all answers says what may be known."""

    def __init__(self):
        super().__init__()
        self.history = History(TIMED, 3)
        self.told = []

    def target(self, task):
        made = run(task, seconds(task.config, task.pair))
        self.told.append(made)
        return made

    @rule(
        config=st.sampled_from(CONFIGS),
        ks=st.lists(st.integers(0, 8), max_size=4, unique=True),
        cutoff=st.sampled_from([0.75, 2.0, 5.0, 10.0, math.inf]),
    )
    def ask(self, config, ks, cutoff):
        pairs = [self.history.pair(k) for k in ks]
        before = len(self.told)
        wanted = {pair for pair in pairs if not self.is_known(config, pair, min(cutoff, CUTOFF))}
        settle(self.history.ask((config, pairs), cutoff=cutoff), self.target)
        new = self.told[before:]
        assert {made.task.pair for made in new} == wanted
        assert all(made.task.cutoff == min(cutoff, CUTOFF) for made in new)

    def is_known(self, config, pair, cutoff):
        """Whether the answer for this cutoff follows from what was told."""
        mine = [r for r in self.told if r.task.config == config and r.task.pair == pair]
        return any(r.status is not Status.CAPPED or r.task.cutoff >= cutoff for r in mine)

    @rule(
        challenger=st.sampled_from(CONFIGS), incumbent=st.sampled_from(CONFIGS), won=st.booleans()
    )
    def decide(self, challenger, incumbent, won):
        times = self.history.times_met(challenger, incumbent)
        self.history.decide(challenger, incumbent, won)
        assert self.history.times_met(challenger, incumbent) == times + 1
        assert self.history.races[-1] == Race(challenger, incumbent, won, len(self.told))

    @invariant()
    def all_runs_are_kept_in_order(self):
        assert list(self.history.runs) == self.told
        assert self.history.asked == len(self.told)

    @invariant()
    def costs_are_those_of_runs_that_were_not_cut_short(self):
        for config in CONFIGS:
            whole = [
                r for r in self.told if r.task.config == config and r.status is not Status.CAPPED
            ]
            expected = {r.task.pair: Runtime().of(r) for r in whole}
            assert dict(self.history.costs(config)) == expected
            assert set(self.history.costs(config).values()) <= {
                (s,) for s in [100.0, *(k + 0.5 for k in range(13))]
            }

    @invariant()
    def what_was_cut_short_is_known_up_to_where_it_was_cut(self):
        for config in CONFIGS:
            for k in range(9):
                pair = self.history.pair(k)
                cut = [
                    r.task.cutoff
                    for r in self.told
                    if r.task.config == config and r.task.pair == pair
                ]
                censored = self.history.censored(config, pair)
                if pair in self.history.costs(config) or not cut:
                    assert censored is None
                else:
                    assert censored.task.cutoff == max(cut)

    @invariant()
    def new_pairs_are_those_not_known(self):
        for config in CONFIGS:
            known = self.history.costs(config)
            first = [p for p in (self.history.pair(k) for k in range(30)) if p not in known][:5]
            new = self.history.new_pairs(config)
            assert [next(new) for _ in range(5)] == first


TestHistoryAgainstList = HistoryAgainstList.TestCase


def test_a_timeout_costs_by_the_scenarios_cutoff_and_a_capped_run_costs_nothing():
    history = History(TIMED, 0)
    pair = history.pair(0)
    settle(history.ask((A, [pair]), cutoff=2.0), lambda task: run(task, 99.0))
    assert not history.costs(A)
    assert list(history.configs) == [A]
    settle(history.ask((A, [pair])), lambda task: run(task, 99.0))
    assert history.costs(A) == {pair: (10 * CUTOFF,)}


def test_common_pairs_are_those_that_both_have():
    history = History(Scenario(SPACE), 0)
    low, high = history.pairs(0, 4), history.pairs(2, 6)
    settle(history.ask((A, low), (B, high)), lambda task: ok(task, 1.0))
    assert history.common(A, B) == low[2:]
    assert history.common(A, C) == []


def test_there_are_no_new_pairs_beyond_the_instances_of_a_deterministic_target():
    history = History(Scenario(SPACE, instances(3), deterministic=True), 0)
    settle(history.ask((A, [history.pair(1)])), lambda task: ok(task, 1.0))
    assert list(history.new_pairs(A)) == [history.pair(0), history.pair(2)]


# Runs that were known before.


def known(*pairs, config=B):
    return tuple(ok(Task(config, Instance(name), seed), 5.0) for name, seed in pairs)


def test_known_runs_are_not_asked_for_and_not_counted():
    runs = known(("i0", 11), ("i1", 12))
    history = History(Scenario(SPACE, instances(2), known=runs), 0)
    assert history.asked == 0
    assert list(history.runs) == list(runs)
    pairs = [Pair(Instance("i0"), 11), Pair(Instance("i1"), 12)]
    assert history.missing(B, pairs) == []
    assert set(history.pairs(0, 2)) == set(pairs)


@given(
    st.integers(0),
    st.dictionaries(
        st.sampled_from(["i0", "i1", "i2"]),
        st.lists(st.integers(0, 2**31 - 1), max_size=4, unique=True),
    ),
)
def test_known_seeds_come_first_on_their_instances_and_every_instance_in_turn(seed, seeds):
    runs = known(*((name, number) for name, numbers in seeds.items() for number in numbers))
    pairs = endless_pairs(instances(3), seed, known=known_seeds(runs))
    listed = [next(pairs) for _ in range(30)]
    for turn in range(10):
        assert {p.instance.name for p in listed[3 * turn : 3 * turn + 3]} == {"i0", "i1", "i2"}
    for name, numbers in seeds.items():
        own = [p.seed for p in listed if p.instance.name == name]
        assert set(own[: len(numbers)]) == set(numbers)
    new = [p.seed for p in listed if p.seed not in seeds.get(p.instance.name, ())]
    assert len(set(new)) == len(new)
    assert not set(new) & {number for numbers in seeds.values() for number in numbers}


def test_the_most_used_seeds_of_an_instance_come_first():
    often = known(("i0", 5)) + known(("i0", 5), config=C) + known(("i0", 4))
    assert known_seeds(often)[Instance("i0")] == [5, 4]


@pytest.mark.parametrize("name", [("a",), ("a", 1), (1, "a")])
def test_a_stream_begins_anew_each_time(name):
    history = History(TIMED, 5)
    assert history.rng(*name).random() == history.rng(*name).random()
