"""Executors of the user's: threads, processes here, and processes that cannot read our files."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for

import psutil
import pytest

from paramhs import tune
from paramhs.core.errors import BadInput, CannotRun
from paramhs.core.runs import Instance, Task
from paramhs.core.space import Space
from paramhs.execution import elsewhere
from paramhs.execution.elsewhere import Elsewhere, Lacking
from paramhs.execution.large_values import LARGE_BYTES, LargeValues, Place, pack, value_of
from paramhs.execution.targets import FunctionTarget
from tests.support.children import eventually

pytestmark = pytest.mark.forks

SPACE = Space({"x": range(10)})
LARGE = 4 * LARGE_BYTES
CUTOFFS = [{}, {"cutoff": 60.0}]


def task(value, seed=0, name="large"):
    return Task(SPACE.default, Instance(name, value), seed)


def spoils(config, instance, seed):
    """Counts what it finds in its instance, and changes it."""
    found = sum(instance[:10])
    instance[0] = 99
    return found + config["x"]


def identifies(config, instance, seed):
    return os.getpid()


def dies_once(config, instance, seed):
    """Kills its process the first time that it is called."""
    if not os.path.exists(instance):
        with open(instance, "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    return float(config["x"])


def on_another_machine(home):
    """Let this process be unable to read files of the process `home`."""
    Place.reachable = property(lambda self: f"/{home}/" not in self.path)


@pytest.fixture
def remote():
    """Two processes in turns, which cannot read large instances from this process."""
    fork, home = multiprocessing.get_context("fork"), (os.getpid(),)
    with (
        ProcessPoolExecutor(1, fork, on_another_machine, home) as one,
        ProcessPoolExecutor(1, fork, on_another_machine, home) as other,
    ):
        yield InTurns(one, other)


class InTurns(Executor):
    """Gives orders to its pools in turns, and counts those with a large instance."""

    def __init__(self, *pools):
        self.pools, self.orders, self.large = pools, 0, 0

    def submit(self, function, /, order):
        pool = self.pools[self.orders % len(self.pools)]
        self.orders += 1
        self.large += order._sent is not None
        return pool.submit(function, order)


def test_a_value_and_its_buffers_are_loaded_as_they_were():
    numpy = pytest.importorskip("numpy")
    value = {"a": numpy.arange(50_000.0), "text": "x" * LARGE, "b": numpy.eye(200)}
    values = LargeValues()
    place = values.packed(task(value)).instance.value
    assert isinstance(place, Place)
    found = value_of(place)
    assert found["text"] == value["text"]
    assert all((found[name] == value[name]).all() for name in "ab")
    found["a"][0] = 7.0  # a change is private
    assert value_of(place)["a"][0] == 0.0
    values.close()


def test_equal_values_lie_in_the_file_once():
    values = LargeValues()
    first, second = (values.packed(task(bytearray(LARGE), 0, name)) for name in "ab")
    assert first.instance.value == second.instance.value
    assert values.packed(task([1, 2])).instance.value == [1, 2]
    values.close()


def test_a_file_of_another_process_with_the_same_path_is_not_read():
    values = LargeValues()
    place = values.packed(task(bytearray(LARGE))).instance.value
    assert place.reachable
    assert not place._replace(mark=bytes(len(place.mark))).reachable
    values.close()
    assert not place.reachable


@pytest.mark.parametrize("limits", CUTOFFS)
@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_search_with_large_instances_is_the_same_on_every_executor(make, limits):
    how = {"instances": {"a": [1] * LARGE, "b": [2] * LARGE}, "test_instances": 0, "budget": 30}
    alone = tune(_reads, SPACE, **how)
    with make(2) as pool:
        together = tune(_reads, SPACE, **how, **limits, executor=pool, jobs=2)
    assert [p.config for p in together.trajectory] == [p.config for p in alone.trajectory]


def _reads(config, instance, seed):
    return instance[-1] * abs(config["x"] - 3) + seed % 3


@pytest.mark.parametrize("limits", CUTOFFS)
def test_a_run_that_changes_its_large_instance_changes_no_other(limits):
    how = {"instances": {"a": bytearray([1]) * LARGE}, "test_instances": 0, "budget": 20}
    result = tune(spoils, SPACE, **how, **limits, jobs=2, configurator="paramhs-plain")
    assert {run.quality - run.task.config["x"] for run in result.runs} == {10.0}


@pytest.mark.parametrize("limited", [False, True])
def test_a_large_instance_is_sent_once_to_a_worker_that_cannot_read_it(remote, limited):
    value = bytearray([1]) * LARGE
    with Elsewhere(remote, FunctionTarget(spoils), limited) as executor:
        for seed in range(20):
            run = executor.submit(None, task(value, seed)).result()
            assert run.quality == 10 + SPACE.default["x"]
    # The first worker lacks it, the second gets the second attempt, the first lacks it again, the
    # second has it already, and the first gets it with the run after that.
    assert (remote.large, remote.orders) == (3, 20 + 2)


def test_what_travels_with_a_run_does_not_grow_with_its_instance():
    import pickle

    def size(value):
        with Elsewhere(ThreadPoolExecutor(1), FunctionTarget(spoils), False) as executor:
            return len(pickle.dumps(elsewhere._Order(executor, task(value))))

    assert size(bytearray(100 * LARGE)) == size(bytearray(10 * LARGE)) < 2_000


def test_a_worker_says_what_it_lacks():
    place = Place("/nowhere", b"", 0, 1, pack(1)._replace(data=b""), "digest")
    order = elsewhere._Arrived(FunctionTarget(spoils), task(place), None, "")
    assert order.make() == Lacking(place)


def test_keepers_of_a_worker_serve_many_runs_and_leave_when_idle(monkeypatch):
    monkeypatch.setattr(elsewhere, "IDLE_SECONDS", 0.3)
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork) as pool:
        with Elsewhere(pool, FunctionTarget(identifies), True) as executor:
            made = [executor.submit(None, task(None, seed)) for seed in range(10)]
            assert len({future.result().quality for future in made}) == 1
        (worker,) = pool._processes
        assert eventually(lambda: not psutil.Process(worker).children())


def test_a_run_that_was_not_started_can_be_cancelled():
    class Never(Executor):
        def submit(self, function, /, *args):
            return Future()

    with Elsewhere(Never(), FunctionTarget(spoils), False) as executor:
        future = executor.submit(None, task([1]))
        assert future.cancel()
        assert future.cancelled()
        assert wait_for([future], 10).done


@pytest.mark.parametrize("limits", CUTOFFS)
def test_a_target_that_cannot_be_pickled_is_one_clear_message(limits):
    with (
        ProcessPoolExecutor(2) as pool,
        pytest.raises(BadInput, match=r"cannot send .*lambda.* to its workers.*define it in a"),
    ):
        tune(lambda config: config["x"], SPACE, budget=10, executor=pool, **limits)


@pytest.mark.parametrize("limits", CUTOFFS)
def test_an_instance_that_cannot_be_pickled_is_one_clear_message(limits):
    how = {"instances": {"lock": threading.Lock()}, "test_instances": 0, "budget": 10}
    with (
        ProcessPoolExecutor(2) as pool,
        pytest.raises(BadInput, match="instance 'lock' cannot be sent to a worker"),
    ):
        tune(identifies, SPACE, **how, executor=pool, **limits)


def test_a_class_of_executors_and_a_closed_one_are_one_clear_message():
    with pytest.raises(BadInput, match="not a class; pass ThreadPoolExecutor"):
        tune(identifies, SPACE, budget=10, executor=ThreadPoolExecutor)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(CannotRun, match="takes no runs: cannot schedule new futures"):
        tune(identifies, SPACE, budget=10, executor=pool)


@pytest.mark.parametrize("limits", CUTOFFS)
def test_a_worker_that_is_killed_ends_the_search_or_only_its_run(limits, tmp_path):
    how = {"instances": {"a": str(tmp_path / "died")}, "test_instances": 0, "budget": 20}
    with ProcessPoolExecutor(2) as pool:
        if limits:
            result = tune(dies_once, SPACE, **how, executor=pool, **limits)
            assert sum(run.status == "crashed" for run in result.runs) <= 1
        else:
            with pytest.raises(CannotRun, match="terminated abruptly"):
                tune(dies_once, SPACE, **how, executor=pool)
