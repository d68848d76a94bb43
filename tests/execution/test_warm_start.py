"""Initial configurations, and what earlier searches leave to later ones."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from random import Random

import pytest

from paramhs import BadInput, Integer, Space, StoreError, Watcher, tune, validate
from paramhs.core import Quality
from paramhs.execution.storage.warm_start import collect
from paramhs.search import FixedRuns, ParamHS

SPACE = {"x": Integer(0, 39, default=20)}


def noisy(config, instance, seed):
    draw = Random(f"{seed} {config['x']} {instance}").random()
    return abs(config["x"] - 7) + 4 * draw


class Notices(Watcher):
    def __init__(self):
        self.lines = []

    def notice(self, text):
        self.lines.append(text)

    announce = notice


def searched(store, **how):
    usual = {"instances": ["a", "b"], "budget": 150, "seed": 3}
    return tune(noisy, how.pop("space", SPACE), store=store, **{**usual, **how})


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.sqlite"
    searched(path)
    return path


def own_runs(path):
    """Those made by the search in a store, not those it began with."""
    with closing(sqlite3.connect(path)) as db:
        return set(
            db.execute("SELECT config, instance, seed FROM readable WHERE record = 'search'")
        )


def first_races(result, count):
    return [race.challenger["x"] for race in result.history.races[:count]]


@pytest.mark.parametrize("configurator", ["paramhs", "paramrls", "paramils", "random"])
def test_initial_configurations_challenge_the_default_first_and_in_order(configurator):
    result = tune(
        noisy,
        SPACE,
        instances=["a", "b"],
        budget=700,
        configurator=configurator,
        initial=[{"x": 33}, {"x": 5}, {"x": 20}, {"x": 39}],
    )
    assert first_races(result, 3) == [33, 5, 39]
    assert result.trajectory[0].config["x"] == 20
    assert result.trajectory[1].config["x"] == 5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([{"x": 1}, {"x": 99}], r"initial\[1\]: x: 99 is not in 0 .. 39"),
        ([{"y": 1}], r"initial\[0\]: no parameter is called 'y'"),
        (["x=1"], r"initial\[0\]: 'x=1' is not a dictionary"),
    ],
)
def test_a_bad_initial_configuration_is_refused_with_its_place(wrong, message):
    with pytest.raises(BadInput, match=message):
        tune(noisy, SPACE, instances=["a"], budget=5, initial=wrong)


def test_an_initial_value_that_is_not_active_is_refused():
    conditional = Space({"mode": ["a", "b"], "k": (0, 9)}, conditions={"k": "mode == b"})
    with pytest.raises(BadInput, match=r"initial\[0\]: k is not active"):
        tune(lambda c: 1.0, conditional, budget=5, initial=[{"mode": "a", "k": 3}])


def test_other_initial_configurations_are_another_search(tmp_path):
    path = tmp_path / "runs.sqlite"
    searched(path, initial=[{"x": 1}])
    with pytest.raises(StoreError, match="initial"):
        searched(path, initial=[{"x": 2}])


def test_known_runs_are_used_again(tmp_path, old):
    new = tmp_path / "new.sqlite"
    notices = Notices()
    result = searched(new, warm_start=old, seed=77, budget=60, watcher=notices)
    assert notices.lines == [
        f"{old}: {len(own_runs(old))} runs taken and 3 configurations to begin with"
    ]
    assert len(result.history.runs) - result.asked == len(own_runs(old))
    assert not own_runs(new) & own_runs(old)
    assert result.best_cost < 4


def test_the_best_found_before_is_tried_first(tmp_path, old):
    best = searched(old).best
    result = searched(tmp_path / "new.sqlite", warm_start=[old], seed=77, budget=60)
    assert first_races(result, 1) == [best["x"]]


def test_a_space_may_gain_values_and_parameters_and_instances_may_change(tmp_path, old):
    space = {"x": Integer(0, 59, default=20), "mode": ["p", "q"]}
    notices = Notices()
    result = searched(
        tmp_path / "new.sqlite",
        space=space,
        instances=["b", "c"],
        warm_start=old,
        watcher=notices,
        configurator=ParamHS(comparison=FixedRuns(4)),
    )
    (line,) = notices.lines
    on_b = sum(instance == "b" for _, instance, _ in own_runs(old))
    assert f"{on_b} runs taken" in line
    assert f"{len(own_runs(old)) - on_b} on other instances" in line
    taken = result.history.runs[:on_b]
    assert {run.task.instance.name for run in taken} == {"b"}
    assert {run.task.config["mode"] for run in taken} == {"p"}


def test_values_that_are_gone_are_not_taken(tmp_path, old):
    notices = Notices()
    space = {"x": Integer(0, 10, default=9)}
    result = searched(tmp_path / "new.sqlite", space=space, warm_start=old, watcher=notices)
    assert "of configurations outside the space" in notices.lines[0]
    assert all(run.task.config["x"] <= 10 for run in result.history.runs)


def test_runs_with_another_cutoff_are_not_taken(tmp_path, old):
    notices = Notices()
    searched(
        tmp_path / "new.sqlite", cutoff=50.0, executor="inline", warm_start=old, watcher=notices
    )
    assert notices.lines[0].startswith(f"{old}: 0 runs taken")
    assert f"{len(own_runs(old))} with another cutoff" in notices.lines[0]


@dataclass
class Scaled:
    factor: int

    def __call__(self, config, instance, seed):
        return self.factor * noisy(config, instance, seed)


def test_nothing_is_taken_of_another_target_or_cost(tmp_path, old):
    notices = Notices()
    tune(Scaled(2), SPACE, instances=["a", "b"], budget=9, warm_start=old, watcher=notices)
    searched(tmp_path / "new.sqlite", cost=Quality(maximise=True), warm_start=old, watcher=notices)
    for line in notices.lines:
        assert line.startswith(f"{old}: nothing is taken, it is of another target or cost: ")
    assert len(notices.lines) == 2


def test_nothing_is_taken_of_instances_that_mean_something_else(tmp_path):
    def distance(config, instance, seed):
        return abs(config["x"] - instance)

    old, notices = tmp_path / "old.sqlite", Notices()
    tune(distance, SPACE, instances={"a": 3, "b": 4}, budget=60, store=old)
    tune(distance, SPACE, instances={"a": 30, "b": 4}, budget=9, warm_start=old, watcher=notices)
    with closing(sqlite3.connect(old)) as db:
        query = "SELECT instance, count(*) FROM readable GROUP BY instance"
        counts = dict(db.execute(query))
    assert f"{counts['b']} runs taken" in notices.lines[0]
    assert f"{counts['a']} on other instances" in notices.lines[0]


def test_a_verdicts_runs_are_not_taken(tmp_path):
    old, notices = tmp_path / "old.sqlite", Notices()
    validate(noisy, SPACE, [{}, {"x": 3}], instances=["a"], runs=4, store=old)
    searched(tmp_path / "new.sqlite", warm_start=old, watcher=notices)
    assert "it holds no search" in notices.lines[0]


def test_a_store_that_is_not_there_is_said():
    with pytest.raises(StoreError, match="there is no store nowhere"):
        tune(noisy, SPACE, instances=["a"], budget=5, warm_start="nowhere.sqlite")


def test_several_stores_are_taken_together(tmp_path, old):
    other = tmp_path / "other.sqlite"
    searched(other, seed=4)
    notices = Notices()
    result = searched(tmp_path / "new.sqlite", warm_start=[old, other], seed=5, watcher=notices)
    assert len(notices.lines) == 2
    assert len(result.history.runs) >= 300


def steps(result):
    return [(point.config, point.runs, point.cost) for point in result.trajectory]


def test_a_warm_search_is_resumed_without_the_stores_it_began_with(tmp_path, old):
    plain = searched(tmp_path / "plain.sqlite", warm_start=old, seed=9, budget=120)
    path = tmp_path / "new.sqlite"
    searched(path, warm_start=old, seed=9, budget=50)
    searched(old, budget=300)  # the old search goes on
    old.unlink()
    resumed = searched(path, warm_start=old, seed=9, budget=120)
    assert steps(resumed) == steps(plain)


@pytest.mark.parametrize("jobs", [2, 8])
def test_jobs_do_not_change_a_warm_search(tmp_path, old, jobs):
    how = {"warm_start": old, "seed": 9, "budget": 150}
    alone = searched(tmp_path / "alone.sqlite", **how)
    together = searched(tmp_path / "together.sqlite", **how, jobs=jobs, executor="threads")
    assert steps(alone) == steps(together)


def test_collecting_nothing_is_nothing():
    assert collect([], None, None, None) == (((), ()), [])


def test_a_warm_search_in_another_space_is_refused_with_the_difference(tmp_path, old):
    path = tmp_path / "new.sqlite"
    searched(path, warm_start=old, seed=9, budget=20)
    with pytest.raises(StoreError, match=r"another scenario.*\n.*high: stored 39, now 10"):
        searched(path, space={"x": Integer(0, 10, default=9)}, seed=9, budget=20)
