"""Runs made early that no race will request are ended, and leave no result."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import psutil
import pytest

from paramhs.core.runs import Evaluate, Incumbent, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.execution.driver import Budget, Driver
from paramhs.execution.driver import loop as driver_loop
from paramhs.execution.storage import Store, open_store
from paramhs.execution.supervisor.executor import SupervisedThreads
from paramhs.execution.supervisor.pool import Ended, Supervised
from paramhs.execution.targets import FunctionTarget
from paramhs.search import History
from tests.support.children import eventually
from tests.support.driving import instances

pytestmark = pytest.mark.forks

SPACE = Space({"x": range(12)})
DEFAULT, DOOMED, OTHER = SPACE.default, SPACE.config(x=3), SPACE.config(x=9)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(driver_loop, "_LONG_SECONDS", 0.05)


def is_made(path):
    """Make a file; False if there is one."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def two_races(history, decided):
    """A search whose second race begins when the first challenger's run is under way.

    `decided` is called before the second race, in which nothing more is coming.
    """
    pairs = list(islice(history.new_pairs(DEFAULT), 4))

    def runs(config):
        return [Task(config, *pair) for pair in pairs]

    yield Incumbent(DEFAULT)
    history.open_race(OTHER, DEFAULT)
    answers = yield Evaluate(runs(DEFAULT), following=lambda found: runs(DOOMED)[:1])
    for run in answers:
        history.add(run)
    decided()
    history.decide(OTHER, DEFAULT, won=False)
    history.open_race(OTHER, DEFAULT)
    answers = yield Evaluate(runs(OTHER), following=lambda found: [])
    for run in answers:
        history.add(run)
    return "done"


def driven(target, pool, store: Store, decided, runs=20):
    history = History(Scenario(SPACE, instances(3)), 0)
    driver = Driver(
        *(two_races(history, decided), history, target, store, Budget(runs=runs), pool, 2),
    )
    driver.run()
    return driver


def test_a_useless_run_is_ended_and_leaves_no_result_but_its_time(tmp_path):
    mark, first = tmp_path / "pid", tmp_path / "first"

    def target(config):
        if config == DEFAULT and is_made(first):  # one worker waits, so the other becomes idle
            assert eventually(mark.exists)
        if config["x"] == DOOMED["x"]:
            mark.write_text(str(os.getpid()))
            time.sleep(1_000)
        if config["x"] == OTHER["x"]:
            assert eventually(lambda: not psutil.pid_exists(int(mark.read_text())))
        return config["x"]

    def decided():
        assert eventually(lambda: mark.exists() and mark.read_text())
        time.sleep(0.1)

    kept = Supervised(FunctionTarget(target), 2)
    store = open_store(tmp_path / "runs.sqlite", SPACE, {})
    try:
        driver = driven(kept, SupervisedThreads(kept, 2), store, decided)
    finally:
        kept.close()
    assert driver.stopped == "done"
    assert {run.task.config for run in store} == {DEFAULT, OTHER}
    assert [run.detail for run in store] == [""] * 8
    seconds = store.target_time - sum(run.runtime for run in store)
    assert seconds >= 0.1
    store.close()
    again = open_store(tmp_path / "runs.sqlite", SPACE, {})
    assert again.target_time == pytest.approx(store.target_time)
    assert driven(None, None, again, lambda: None).new_runs == 0
    again.close()


def test_a_run_that_cannot_be_ended_goes_on_and_is_stored(tmp_path):
    begun = []

    class Target:
        def __call__(self, task):
            if task.config == DEFAULT and is_made(tmp_path / "first"):
                assert eventually(lambda: begun)
            if task.config == DOOMED:
                begun.append(task)
                assert eventually(lambda: len(begun) > 1)
            elif task.config == OTHER:
                begun.append(task)
            return Run(task, Status.OK, 0.0, task.config["x"])

        def shown(self, task):
            return str(task)

    def decided():
        assert eventually(lambda: begun)
        time.sleep(0.1)

    store = open_store(None, SPACE, {})
    with ThreadPoolExecutor(2) as pool:
        driver = driven(Target(), pool, store, decided)
    assert driver.stopped == "done"
    assert store.target_time == 0.0


def supervised_call(function):
    kept = Supervised(FunctionTarget(function), 1)
    return kept, ThreadPoolExecutor(1)


def test_a_supervised_run_is_ended_with_its_process(tmp_path):
    def hangs(config):
        (tmp_path / "pid").write_text(str(os.getpid()))
        time.sleep(1_000)

    kept, threads = supervised_call(hangs)
    task = Task(SPACE.default, instances(1)[0], 0)
    assert not kept.end(task)
    future = threads.submit(kept, task)
    assert eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    assert kept.end(task)
    with pytest.raises(Ended):
        future.result(60)
    assert eventually(lambda: not psutil.pid_exists(int((tmp_path / "pid").read_text())))
    assert not kept.end(task)
    again = Supervised(FunctionTarget(lambda config: config["x"]), 1)
    assert again(task).quality == SPACE.default["x"]
    again.close()
    kept.close()
    threads.shutdown()


def test_the_keeper_of_the_next_run_is_a_new_one(tmp_path):
    def target(config, instance, seed):
        if seed == 0:
            (tmp_path / "pid").write_text(str(os.getpid()))
            time.sleep(1_000)
        return seed

    before = set(psutil.Process().children())
    kept, threads = supervised_call(target)
    task = Task(SPACE.default, instances(1)[0], 0)
    future = threads.submit(kept, task)
    assert eventually(lambda: (tmp_path / "pid").exists())
    kept.end(task)
    assert kept(task._replace(seed=7)).quality == 7.0
    with pytest.raises(Ended):
        future.result(60)
    kept.close()
    assert eventually(lambda: not set(psutil.Process().children()) - before)
    threads.shutdown()
