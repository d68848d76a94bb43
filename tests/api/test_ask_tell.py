import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import AskTell, BadInput, tune
from paramhs.core.costs import Quality
from paramhs.core.runs import Task
from paramhs.execution.driver import INTERRUPTED
from paramhs.search.configurators import ParamRLS
from paramhs.search.registry import CONFIGURATORS
from tests.support.scale import of
from tests.support.targets import SPACE, noisy

TINY = {"x": range(10)}
MANY = of(120, 300)  # tasks of a search


def quality(task: Task) -> float:
    return noisy(task.config.as_dict(), task.instance.value, task.seed)


def steps(points) -> list[tuple[object, ...]]:
    return [(p.config, p.runs, p.cost, p.evidence) for p in points]


how = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "configurator": st.sampled_from(sorted(CONFIGURATORS)),
        "deterministic": st.booleans(),
        "instances": st.sampled_from([None, ["a", "b", "c"]]),
    }
)
spaces = st.sampled_from([SPACE, {"x": range(6)}, {"x": range(4), "mode": ["a", "b"]}])


def test_a_loop_of_ones_own_finds_the_best():
    search = AskTell(TINY, deterministic=True)
    while task := search.ask():
        search.tell(task, (task.config["x"] - 7) ** 2)
    assert search.best["x"] == 7
    assert search.ended == "all 10 configurations tried"
    assert search.ask() is None
    assert search.trajectory[0].config["x"] == 4
    assert search.trajectory[-1].config == search.best


@given(spaces, how, st.integers(1, 150))
def test_told_one_by_one_it_takes_the_steps_of_tune(space, how, runs):
    expected = tune(noisy, space, budget=runs, **how)
    search = AskTell(space, **how)
    told = 0
    while told < expected.asked and (task := search.ask()):
        search.tell(task, quality(task))
        told += 1
    assert steps(search.trajectory) == steps(expected.trajectory)
    assert told == expected.asked


@given(spaces, how, st.randoms(use_true_random=False), st.integers(1, 30))
def test_told_in_any_order_it_takes_the_steps_of_tune(space, how, rng, most):
    """Many tasks are out at a time; nothing is handed out that is out or was told."""
    search = AskTell(space, **how)
    out: list[Task] = []
    seen: set[Task] = set()
    while search.ended is None and len(seen) < MANY:
        wanted = rng.randint(1, most)
        while len(out) < wanted and (task := search.ask()):
            assert task not in seen, "it is handed out twice"
            seen.add(task)
            out.append(task)
        assert out, "it waits though nothing is out"
        search.tell(task := out.pop(rng.randrange(len(out))), quality(task))
    points = search.trajectory
    expected = tune(noisy, space, budget=2 * MANY, **how)
    assert steps(points) == steps(expected.trajectory)[: len(points)]
    if search.ended:
        assert len(points) == len(expected.trajectory)
        assert search.ended == expected.stopped


def test_the_best_is_the_default_at_first():
    search = AskTell(TINY)
    assert search.best == {"x": 4}
    assert search.trajectory == ()
    assert search.ended is None


def test_ask_waits_for_answers_when_it_has_handed_out_all_it_can():
    search = AskTell(TINY)
    out = []
    while task := search.ask():
        out.append(task)
    assert 1 <= len(out) <= 3 + 64
    assert len(set(out)) == len(out)
    assert search.ended is None
    for task in out:
        search.tell(task, quality(task))
    assert search.ask() is not None


def test_a_task_has_an_instance_with_its_value_and_a_seed():
    task = AskTell(TINY, instances={"one": [1, 2]}, cutoff=5.0).ask()
    assert task.instance.name == "one"
    assert task.instance.value == [1, 2]
    assert 0 <= task.seed < 2**31
    assert task.cutoff == 5.0


def test_a_task_that_was_not_asked_for_is_refused():
    search = AskTell(TINY)
    task = search.ask()
    stranger = task._replace(seed=task.seed + 1)
    with pytest.raises(BadInput, match=f"x=4 with seed {stranger.seed} was not requested"):
        search.tell(stranger, 1.0)
    search.tell(task, 1.0)


@pytest.mark.parametrize(
    "thing", [[1], {}, None, 10**5000, "x" * 10**6], ids=["list", "dict", "none", "huge", "long"]
)
def test_what_is_no_task_is_refused(thing):
    with pytest.raises(BadInput, match="is no task; tell what `ask` gave"):
        AskTell(TINY).tell(thing, 1)


def test_an_answer_with_too_many_digits_is_refused():
    search = AskTell(TINY)
    with pytest.raises(BadInput, match="is not a quality"):
        search.tell(search.ask(), 10**5000)
    with pytest.raises(BadInput, match="at most 300 digits"):
        AskTell(TINY, seed=10**5000)


def test_telling_a_task_twice_is_rejected():
    search = AskTell(TINY)
    task = search.ask()
    search.tell(task, 1.0)
    with pytest.raises(BadInput, match="was not requested, or was told twice"):
        search.tell(task, 2.0)


def test_nan_is_refused_and_the_task_can_still_be_told():
    search = AskTell(TINY)
    task = search.ask()
    with pytest.raises(BadInput, match="nan is not a quality; tell None for a run that failed"):
        search.tell(task, math.nan)
    search.tell(task, 1.0)


def test_none_is_a_run_that_failed():
    search = AskTell(TINY, deterministic=True)
    while task := search.ask():
        search.tell(task, None if task.config["x"] > 6 else -task.config["x"])
    assert search.best["x"] == 6


def test_a_timeout_costs_ten_cutoffs():
    search = AskTell(TINY, cost="runtime", cutoff=2.0, deterministic=True)
    while task := search.ask():
        slow = task.config["x"] < 5
        search.tell(
            task,
            None if slow else 0.0,
            runtime=2.0 if slow else 0.1,
            status="timeout" if slow else "ok",
        )
    assert search.best["x"] >= 5
    assert search.trajectory[0].cost == 20.0


def test_a_finished_run_may_be_reported_by_its_runtime_alone():
    search = AskTell(TINY, cost="runtime", cutoff=2.0, deterministic=True)
    while task := search.ask():
        search.tell(task, 0.0, runtime=0.1 * (1 + task.config["x"]))
    assert search.best["x"] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"configurator": "irace"},
        {"configurator": 5},
        {"configurator": ParamRLS},
        {"cost": "min"},
        {"cost": 5},
        {"cost": Quality},
        {"instances": []},
    ],
)
def test_what_is_wrong_is_bad_input(wrong):
    with pytest.raises(BadInput):
        AskTell(TINY, **wrong)


@pytest.mark.parametrize("runtime", [-3, math.nan, math.inf, "3", 10**400])
def test_a_runtime_is_a_number_of_seconds(runtime):
    search = AskTell(TINY, cost="PAR2", cutoff=2.0)
    task = search.ask()
    with pytest.raises(BadInput, match="is not a runtime"):
        search.tell(task, runtime=runtime)
    search.tell(task, runtime=1)


def test_a_quality_that_no_float_holds_is_refused():
    search = AskTell(TINY)
    with pytest.raises(BadInput, match="is not a quality"):
        search.tell(search.ask(), 10**400)


def test_an_ended_search_is_not_called_interrupted():
    search = AskTell({"x": range(1)}, deterministic=True)
    while task := search.ask():
        search.tell(task, 1.0)
    assert search.ended == "there is only one configuration" != INTERRUPTED


def test_initial_configurations_are_asked_for_first():
    search = AskTell({"x": range(50)}, deterministic=True, initial=[{"x": 41}])
    asked = []
    while len(asked) < 2:
        task = search.ask()
        asked.append(task.config["x"])
        search.tell(task, abs(task.config["x"] - 41))
    assert asked == [24, 41]
    assert search.best["x"] == 41


def test_a_search_is_displayed_with_its_result(tmp_path):
    store = tmp_path / "told.sqlite"
    with AskTell({"x": range(9)}, deterministic=True, store=store) as search:
        assert search.store == store
        assert "<table" in search._repr_html_()
        for _ in range(3):
            task = search.ask()
            search.tell(task, task.config["x"])
        assert "AskTell after 3 runs" in search._repr_html_()
        assert list(search.result.to_dataframe("runs").quality) == [4, *_rest(search)]


def _rest(search):
    return [run.quality for run in search.record.runs[1:]]
