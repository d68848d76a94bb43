"""Ask and tell with a store, results, and configurations of the caller's own."""

import pytest

import paramhs
from paramhs import AskTell, BadInput
from paramhs.core.runs import Task
from tests.support.targets import SPACE, noisy


def value(task: Task) -> float:
    return noisy(task.config.as_dict(), task.instance.value, task.seed)


def told(search, count):
    for _ in range(count):
        task = search.ask()
        if task is None:
            break
        search.tell(task, value(task))
    return search


def points(search):
    return [(p.config, p.runs, p.cost, p.evidence) for p in search.trajectory]


HOW = {"instances": ["a", "b", "c"], "seed": 3}


@pytest.mark.parametrize("stop", [1, 7, 40])
def test_a_stored_search_goes_on_where_it_stopped(tmp_path, stop):
    whole = told(AskTell(SPACE, **HOW), 90)
    store = tmp_path / "runs.sqlite"
    with AskTell(SPACE, store=store, **HOW) as first:
        told(first, stop)
    with AskTell(SPACE, store=store, **HOW) as second:
        assert len(second.record.runs) <= stop
        told(second, 90 - stop)
        assert points(second) == points(whole)
        assert second.record.runs == whole.record.runs
    kept = paramhs.load(store).runs  # of the last request those that were told, too
    assert kept[: len(whole.record.runs)] == whole.record.runs
    assert paramhs.load(store).best == whole.best


def test_runs_told_early_are_kept(tmp_path):
    store = tmp_path / "runs.sqlite"
    with AskTell(SPACE, store=store, **HOW) as search:
        told(search, 10)
        tasks = [task for task in (search.ask() for _ in range(12)) if task]
        for task in reversed(tasks):
            search.tell(task, value(task))
        count = len(search.record.runs)
    whole = told(AskTell(SPACE, **HOW), 60)
    with AskTell(SPACE, store=store, **HOW) as again:
        assert len(again.record.runs) == count
        while len(again.record.runs) < 60:
            task = again.ask()
            assert task not in tasks
            again.tell(task, value(task))
        assert again.record.runs[: len(whole.record.runs)] == whole.record.runs


def test_another_search_is_refused(tmp_path):
    store = tmp_path / "runs.sqlite"
    with AskTell(SPACE, store=store, **HOW) as search:
        told(search, 5)
    with pytest.raises(paramhs.StoreError):
        AskTell(SPACE, store=store, instances=["a", "b", "c"], seed=4)


def test_the_result_is_that_of_every_search(tmp_path):
    search = told(AskTell(SPACE, **HOW), 60)
    result = search.result
    assert result.best == search.best
    assert result.runs == search.record.runs
    assert not result.verdict
    assert "ask and tell holds no instances out" in result.recommendation
    assert result.plot.history().svg.startswith("<svg")
    assert len(result.table("trajectory")) == len(search.trajectory)
    assert result.report(tmp_path / "page.html").exists()


def test_it_says_how_it_stands():
    search = told(AskTell({"x": range(10)}, deterministic=True), 3)
    search.ask()
    assert repr(search).startswith("AskTell after 3 runs: best x=")
    assert repr(search).endswith("; 1 task handed out and not told")


def cost(config):
    return (config["x"] - 7) ** 2


def test_configurations_of_ones_own_are_known_before_the_first_ask():
    search = AskTell({"x": range(1000)}, deterministic=True)
    search.tell({"x": 7}, 0.0)
    search.tell({"x": 900}, cost({"x": 900}))
    task = search.ask()
    assert task.config == search.history.scenario.space.default
    search.tell(task, cost(task.config))
    assert search.best["x"] == 7
    asked = [task]
    while len(asked) < 20 and (task := search.ask()):
        asked.append(task)
        search.tell(task, cost(task.config))
    assert {7, 900}.isdisjoint(task.config["x"] for task in asked)


def test_configurations_of_ones_own_are_used_when_they_are_asked_for():
    search = AskTell({"x": range(10)}, deterministic=True)
    task = search.ask()
    search.tell(task, cost(task.config))
    own = [x for x in range(10) if x != task.config["x"]][:6]
    for x in own:
        search.tell({"x": x}, cost({"x": x}))
    asked = []
    while task := search.ask():
        asked.append(task.config["x"])
        search.tell(task, cost(task.config))
    assert set(asked).isdisjoint(own)
    assert search.ended == "all 10 configurations tried"
    assert search.best["x"] == 7


def test_a_run_of_ones_own_needs_an_instance_that_is_known():
    search = AskTell({"x": range(10)}, instances=["a", "b"])
    search.tell({"x": 3}, 1.0, instance="b", seed=11)
    with pytest.raises(BadInput, match="this run was told before"):
        search.tell({"x": 3}, 1.0, instance="b", seed=11)
    with pytest.raises(BadInput, match="instance must be one of a, b, not None"):
        search.tell({"x": 3}, 1.0)
    with pytest.raises(BadInput, match="a task has its instance and seed"):
        search.tell(search.ask(), 1.0, instance="a")
    with pytest.raises(BadInput, match=r"configuration\[0\]: x: 99 is not in"):
        search.tell({"x": 99}, 1.0, instance="a")


def test_without_a_seed_the_searchs_own_come_next():
    first, second = AskTell({"x": range(10)}), AskTell({"x": range(10)})
    default = first.ask()
    second.tell({"x": default.config["x"]}, 5.0)
    assert second.ask().seed != default.seed


def test_own_runs_are_in_the_store(tmp_path):
    store = tmp_path / "runs.sqlite"
    with AskTell({"x": range(1000)}, deterministic=True, store=store) as search:
        search.tell({"x": 7}, 0.0)
        task = search.ask()
        search.tell(task, cost(task.config))
        assert search.best["x"] == 7
    with AskTell({"x": range(1000)}, deterministic=True, store=store) as again:
        assert again.best["x"] == 7
        again.tell({"x": 8}, 1.0)
        assert len(again.history.scenario.known) == 1


def test_many_tasks_are_handed_out_at_once_and_change_no_result():
    alone, together = AskTell(SPACE, **HOW), AskTell(SPACE, **HOW)
    sizes = []
    while len(together.record.runs) < 120:
        tasks = together.ask(64)
        sizes.append(len(tasks))
        for task in reversed(tasks):
            together.tell(task, value(task))
    while len(alone.record.runs) < 120:
        told(alone, 1)
    assert together.record.runs[:120] == alone.record.runs[:120]
    assert sizes[0] > 16
    assert len(sizes) < 60  # of 120 runs


@pytest.mark.parametrize("count", [0, -1, 1.5, "many"])
def test_a_number_of_tasks_is_a_whole_number(count):
    with pytest.raises(BadInput, match="count must be a whole number from 1 on"):
        AskTell(SPACE, **HOW).ask(count)
