import faulthandler
import json
import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
import pytest

from paramhs import tune
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.runs import NO_INSTANCE, Instance, Status, Task
from paramhs.execution.supervisor import warden
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets import FunctionTarget
from tests.support.children import PATIENCE, child, eventually, is_gone, offspring, output
from tests.support.driving import one_parameter
from tests.support.scale import of
from tests.support.targets import forking

pytestmark = pytest.mark.forks

SPACE = one_parameter(10)
CUTOFF = 0.2


def task(x: int = 4, cutoff: float = math.inf, value: object = None, seed: int = 0) -> Task:
    instance = NO_INSTANCE if value is None else Instance("given", value)
    return Task(SPACE.config(x=x), instance, seed, cutoff)


@pytest.fixture
def supervise():
    """Makes workers that are gone after the test."""
    started = []

    def supervise(function, count: int = 1, **options) -> Supervised:
        started.append(Supervised(FunctionTarget(function, **options), count))
        return started[-1]

    yield supervise
    for workers in started:
        workers.close()


def busy(config):
    while True:
        pass


def asleep(config):
    time.sleep(1000)


def lost_in_c(config):
    re.match(r"(a+)+$", "a" * 60 + "b")


def deaf(config):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1000)


def swallowing(config):
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            continue


@pytest.mark.parametrize("hang", [busy, asleep, lost_in_c, deaf, swallowing])
def test_a_hang_is_stopped_by_the_cutoff_and_the_next_run_works(supervise, hang):
    workers = supervise(lambda config: hang(config) if config["x"] == 0 else config["x"])
    run = workers(task(0, CUTOFF))
    assert (run.status, run.quality) == (Status.TIMEOUT, None)
    assert run.runtime >= CUTOFF
    assert run.detail == "stopped at the cutoff"
    assert run.task == task(0, CUTOFF)
    after = workers(task(7, 60.0))
    assert (after.status, after.quality) == (Status.OK, 7.0)


def quiet() -> None:
    """Let a death leave no dump among the tests' output."""
    faulthandler.disable()


@pytest.mark.parametrize(
    ("die", "code"),
    [
        (lambda: os._exit(3), 3),
        (lambda: quiet() or os.kill(os.getpid(), signal.SIGSEGV), -signal.SIGSEGV),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), -signal.SIGKILL),
        (lambda: quiet() or os.abort(), -signal.SIGABRT),
    ],
)
def test_a_death_is_a_crashed_run_and_the_next_run_works(supervise, die, code):
    workers = supervise(lambda config: die() if config["x"] == 0 else config["x"])
    run = workers(task(0))
    assert (run.status, run.quality) == (Status.CRASHED, None)
    assert run.detail == f"the worker process died (exit code {code})"
    assert workers(task(7)).quality == 7.0


def test_an_exception_keeps_its_traceback(supervise):
    def broken(config):
        raise KeyError("no such file")

    run = supervise(broken)(task())
    assert run.status is Status.CRASHED
    assert run.detail.startswith("Traceback")
    assert "in broken" in run.detail
    assert run.detail.rstrip().endswith("KeyError: 'no such file'")


class Odd(BaseException):
    pass


def test_an_exception_outside_exception_costs_one_run(supervise):
    def odd(config):
        if config["x"] == 0:
            raise Odd
        return 1

    workers = supervise(odd)
    assert workers(task(0)).status is Status.CRASHED
    assert workers(task(1)).status is Status.OK


@pytest.mark.parametrize(("answer", "words"), [(math.nan, "nan"), (None, "None"), ("3", "'3'")])
def test_what_is_no_number_is_named(supervise, answer, words):
    run = supervise(lambda config: answer)(task())
    assert run.status is Status.UNREADABLE
    assert f"returned {words}" in run.detail


def test_an_answer_after_the_cutoff_but_before_the_kill_has_timed_out(supervise):
    run = FunctionTarget(lambda config: time.sleep(0.02) or 5)(task(cutoff=0.01))
    assert (run.status, run.quality) == (Status.TIMEOUT, 5.0)


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux only")
def test_closures_and_lambdas_work_on_linux(supervise):
    secret = 40
    assert supervise(lambda config: config["x"] + secret)(task(2)).quality == 42.0


class Graph:
    def __init__(self, edges):
        self.edges = edges


def test_an_instance_is_any_object_that_pickle_knows(supervise):
    graph = Graph([(1, 2), (2, 3)])
    run = supervise(lambda config, instance: len(instance.edges))(task(value=graph))
    assert run.quality == 2.0


def test_a_large_instance_is_no_trouble(supervise):
    run = supervise(lambda config, instance: len(instance))(task(value="x" * 5_000_000))
    assert run.quality == 5_000_000


def test_an_instance_that_cannot_be_pickled_works_or_is_bad_input():
    with suppress(BadInput):
        result = tune(
            lambda config, instance: instance(config["x"]),
            {"x": range(5)},
            instances={"double": lambda x: 2 * x},
            budget=5,
            jobs=2,
        )
        assert result.best["x"] == 0


def test_a_run_is_given_its_configuration_instance_and_seed(supervise):
    def echo(config, instance, seed):
        raise ValueError((config, type(config), instance, seed))

    detail = supervise(echo)(task(3, value=[1, 2], seed=99)).detail
    assert "({'x': 3}, <class 'dict'>, [1, 2], 99)" in detail


def test_a_traceback_shows_nothing_of_the_supervisor(supervise):
    def broken(config):
        raise KeyError("no such file")

    detail = supervise(broken, 0)(task()).detail  # its keeper is started for this run
    assert "KeyError" in detail
    assert "supervisor" not in detail


def test_a_worker_is_used_again(supervise):
    workers = supervise(lambda config: os.getpid())
    assert workers(task()).quality == workers(task()).quality != os.getpid()


def test_no_process_is_left_after_closing(supervise):
    before = set(psutil.Process().children(recursive=True))
    workers = supervise(lambda config: asleep(config) if config["x"] == 0 else 1, 3)
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(workers, task(0)) for _ in range(3)]
        eventually(lambda: workers._idle.empty())
        children = set(psutil.Process().children(recursive=True)) - before
        assert len(children) >= 3
        workers.close()
        for future in futures:
            with pytest.raises(TargetError, match=r"the run was ended|the keepers are closed"):
                future.result(timeout=PATIENCE)
    assert eventually(lambda: all(map(is_gone, children)))


def test_no_process_is_left_after_tuning():
    before = set(psutil.Process().children(recursive=True))
    tune(lambda config: config["x"], {"x": range(10)}, budget=10, jobs=4)
    left = set(psutil.Process().children(recursive=True)) - before
    assert eventually(lambda: all(map(is_gone, left)))


def test_no_process_is_left_when_the_default_fails():
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(Exception, match="default configuration"):
        tune(lambda config: 1 / 0, {"x": range(10)}, budget=10, jobs=4)
    left = set(psutil.Process().children(recursive=True)) - before
    assert eventually(lambda: all(map(is_gone, left)))


def test_a_function_that_prints_a_lot_is_not_blocked(capfd):
    def loud(config):
        print("x" * 300_000)
        os.write(2, b"y" * 300_000)
        return config["x"]

    result = tune(loud, {"x": range(5)}, budget=5, jobs=2, cutoff=60.0)
    assert {run.status for run in result.runs} == {Status.OK}
    capfd.readouterr()


def test_a_search_survives_hangs_and_deaths():
    def dangerous(config):
        if config["x"] == 1:
            time.sleep(1000)
        if config["x"] == 2:
            os._exit(1)
        if config["x"] == 3:
            quiet()
            os.kill(os.getpid(), signal.SIGSEGV)
        return abs(config["x"] - 6)

    result = tune(dangerous, {"x": range(10)}, budget=100, jobs=2, cutoff=0.5)
    assert result.best["x"] == 6
    assert result.stopped == "all 10 configurations tried"
    statuses = {run.task.config["x"]: run.status for run in result.runs}
    assert statuses[1] is Status.TIMEOUT
    assert statuses[2] is statuses[3] is Status.CRASHED


MANY_DEATHS = """
import os
from paramhs import tune

def deadly(config, seed):
    if config["x"] != 4:
        os._exit(3)
    return 1

for seed in range(int(os.environ["SEARCHES"])):
    result = tune(deadly, {"x": range(10)}, budget=150, jobs=8, seed=seed)
    print({run.detail for run in result.runs if run.detail})
"""


def test_workers_that_die_while_others_are_started_are_noticed():
    with child(MANY_DEATHS, SEARCHES=str(of(2, 10))) as process:
        assert eventually(lambda: process.poll() is not None), "it hangs"
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert set(out.splitlines()) == {"{'the worker process died (exit code 3)'}"}


def test_workers_closed_while_others_start_leave_no_process():
    before = set(psutil.Process().children(recursive=True))
    for _ in range(of(2, 20)):
        workers = Supervised(FunctionTarget(lambda config: os._exit(3)), 4)
        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(workers, task(k % 10)) for k in range(8)]
            futures[0].result(timeout=PATIENCE)
            workers.close()
            pool.shutdown(cancel_futures=True)
        left = set(psutil.Process().children(recursive=True)) - before
        assert eventually(lambda left=left: all(map(is_gone, left)))


def test_a_cutoff_of_many_years_is_no_limit(supervise):
    run = supervise(lambda config: config["x"])(task(5, cutoff=1e9))
    assert (run.status, run.quality) == (Status.OK, 5.0)


NESTED = """
import time
from paramhs import tune
def idle(config):
    print("running", flush=True)
    time.sleep(1000)
tune(idle, {"x": range(10)}, budget=10, jobs=2, cutoff=900.0)
"""


def test_workers_die_with_their_parent():
    with child(NESTED) as process:
        assert process.stdout.readline() == "running\n"
        workers = offspring(process.pid)
        assert len(workers) == 6  # two, each with its keeper and warden
        os.kill(process.pid, signal.SIGKILL)
        assert eventually(lambda: all(map(is_gone, workers)))


def test_timeouts_leave_no_open_file_behind(supervise):
    def hang(config):
        time.sleep(1000)

    workers = supervise(hang)
    workers(task(1, cutoff=0.01))
    before = len(os.listdir("/proc/self/fd"))
    for k in range(10):
        assert workers(task(k, cutoff=0.01)).status is Status.TIMEOUT
    assert len(os.listdir("/proc/self/fd")) <= before


def test_what_the_function_started_ends_with_it_at_the_cutoff(supervise, tmp_path):
    path = tmp_path / "pid"

    def start_and_hang(config):
        path.write_text(str(subprocess.Popen(["sleep", "1000"]).pid))
        time.sleep(1000)

    workers = supervise(start_and_hang)
    assert workers(task(1, cutoff=1.0)).status is Status.TIMEOUT
    child_pid = int(path.read_text())
    assert eventually(lambda: not psutil.pid_exists(child_pid), 5.0)


def test_a_worker_that_dies_has_run_for_as_long_as_it_did(supervise):
    def work_and_die(config):
        time.sleep(0.2)
        os._exit(3)

    run = supervise(work_and_die)(task(1))
    assert run.status is Status.CRASHED
    assert run.runtime >= 0.2


def below(workers: Supervised) -> list[psutil.Process]:
    """The keepers of these workers, and what they keep."""
    keepers = [psutil.Process(line.keeper) for line in workers._all]
    return [*keepers, *(process for keeper in keepers for process in keeper.children(True))]


def test_a_function_that_takes_too_much_memory_is_stopped(supervise):
    def hungry(config):
        if config["x"] == 0:
            kept = []
            while True:
                kept.append(b"x" * 10_000_000)
                time.sleep(0.001)
        return config["x"]

    workers = supervise(hungry, memory=400e6)
    run = workers(task(0, 60.0))
    assert (run.status, run.quality) == (Status.CRASHED, None)
    assert run.detail == "stopped: it used more than 400 MB of memory"
    assert workers(task(7, 60.0)).quality == 7.0


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_processor_time_is_what_counts_if_that_is_the_clock(supervise):
    workers = supervise(lambda config: (burn(0.1), time.sleep(0.4), 5)[-1], clock="cpu")
    run = workers(task(cutoff=0.35))
    assert (run.status, run.quality) == (Status.OK, 5.0)
    assert 0.05 <= run.runtime < 0.35


def test_a_short_function_has_a_processor_time_that_is_not_nought(supervise):
    workers = supervise(lambda config: burn(0.004) or 5, clock="cpu")
    assert all(0.003 < workers(task(cutoff=10.0)).runtime < 0.5 for _ in range(5))


def test_processor_time_of_threads_and_children_is_limited(supervise):
    def burn_in_children(config):
        for _ in range(2):
            if os.fork() == 0:
                burn(1000)
        burn(1000)

    workers = supervise(burn_in_children, clock="cpu")
    run = workers(task(cutoff=CUTOFF))
    assert (run.status, run.detail) == (Status.TIMEOUT, "stopped at the cutoff")
    assert run.runtime >= CUTOFF
    assert len(below(workers)) == 2


def test_a_setsid_grandchild_of_a_function_ends_with_it_at_the_cutoff(supervise, tmp_path):
    path = tmp_path / "pid"

    def leave_one_behind(config):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                path.write_text(str(os.getpid()))
                time.sleep(1000)
            os._exit(0)
        time.sleep(1000)

    workers = supervise(leave_one_behind)
    assert workers(task(cutoff=0.5)).status is Status.TIMEOUT
    assert not psutil.pid_exists(int(path.read_text()))


def test_a_worker_that_dies_after_its_answer_costs_no_later_run(supervise):
    def answer_and_die(config):
        keeper = os.getppid()
        os.kill(keeper, signal.SIGSTOP)  # so that it learns of the answer and the death together
        subprocess.Popen(["sh", "-c", f"sleep 0.4; kill -CONT {keeper}"])
        threading.Timer(0.1, os._exit, [3]).start()
        return 1

    workers = supervise(lambda config: answer_and_die(config) if config["x"] == 0 else config["x"])
    assert workers(task(0, 60.0)).quality == 1.0
    assert workers(task(7, 5.0)).quality == 7.0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_function_that_kills_or_stops_its_keeper_has_crashed_and_leaves_no_process(
    supervise, number, monkeypatch
):
    monkeypatch.setattr(warden, "_MAX_STOPPED_SECONDS", 0.2)  # what is stopped stays so

    def signal_the_keeper(config):
        os.kill(os.getppid(), number)
        time.sleep(1000)

    workers = supervise(
        lambda config: signal_the_keeper(config) if config["x"] == 0 else config["x"]
    )
    kept = below(workers)
    run = workers(task(0, 60.0))
    assert run.status is Status.CRASHED
    assert "does the target send signals to its parent?" in run.detail
    assert eventually(lambda: all(map(is_gone, kept)))
    assert workers(task(7, 60.0)).quality == 7.0


def test_a_search_survives_killed_keepers_and_can_be_resumed(tmp_path):
    def deadly(config):
        if config["x"] == 3:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(1000)
        return abs(config["x"] - 6)

    for budget in (5, 100):
        result = tune(
            deadly, {"x": range(10)}, budget=budget, jobs=2, store=tmp_path / "runs.sqlite"
        )
    assert result.stopped == "all 10 configurations tried"
    statuses = {run.task.config["x"]: run.status for run in result.runs}
    assert statuses.pop(3) is Status.CRASHED
    assert set(statuses.values()) == {Status.OK}


# A function that forks: only the process that was asked may answer.


def test_a_forked_child_that_returns_does_not_answer(supervise):
    workers = supervise(forking)
    for k in range(20):
        run = workers(task(k % 10, 60.0))
        assert (run.status, run.quality) == (Status.OK, k % 10)


def fork_in_many_ways(config):
    if os.fork() == 0:
        if config["x"] == 1:
            raise ValueError("the child fails")
        if config["x"] == 2:
            sys.exit(3)
        if config["x"] == 3:
            raise Odd
        if config["x"] == 4 and os.fork() == 0:
            return 2000
        return 1000
    time.sleep(0.1)
    return config["x"]


def test_a_forked_child_that_raises_or_forks_does_not_answer(supervise, capfd):
    workers = supervise(fork_in_many_ways)
    assert [workers(task(k, 60.0)).quality for k in range(6)] == list(range(6))
    capfd.readouterr()


def test_if_only_the_forked_child_returns_there_is_no_answer(supervise):
    def leave_it_to_the_child(config):
        if config["x"] == 0 and os.fork():
            os._exit(3)
        return config["x"]

    workers = supervise(leave_it_to_the_child)
    run = workers(task(0, 60.0))
    assert (run.status, run.detail) == (Status.CRASHED, "the worker process died (exit code 3)")
    assert workers(task(7, 60.0)).quality == 7.0


FORKING_INLINE = """
import os, sys
from paramhs import tune
from tests.support.targets import forking
result = tune(forking, {"x": range(10)}, budget=30, executor=sys.argv[1], store=sys.argv[2])
print(os.getpid(), sorted({run.quality - run.task.config["x"] for run in result.runs}))
"""


@pytest.mark.parametrize("executor", ["inline", "threads", "processes"])
def test_a_function_that_forks_is_one_search_in_every_executor(tmp_path, executor):
    with child(FORKING_INLINE, executor, tmp_path / "runs.sqlite") as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, f"{process.pid} [0.0]\n"), err


GARBAGE = """
import os, sys
from contextlib import suppress
from paramhs.execution.targets import FunctionTarget
from paramhs.execution.supervisor.pool import Supervised
from paramhs.core.runs import NO_INSTANCE, Task
from paramhs.core.space import Space

SPACE = Space({"x": range(10)})

def task(x, cutoff):
    return Task(SPACE.config(x=x), NO_INSTANCE, 0, cutoff)

def write_garbage(config):
    if config["x"] == 0:
        for number in range(3, 256):
            with suppress(OSError):
                os.write(number, bytes.fromhex(sys.argv[1]))
    return config["x"]

workers = Supervised(FunctionTarget(write_garbage), 1)
print(workers(task(0, 1.0)).status, workers(task(7, 60.0)).quality)
workers.close()
"""


@pytest.mark.parametrize("data", [b"\0" * 8, b"\0" * 7 + b"\1" + b"\xff" * 8, b"x" * 1000])
def test_garbage_on_the_line_is_no_answer(data):
    status, quality = output(GARBAGE, data.hex()).split()
    assert status in ("crashed", "timeout")
    assert quality == "7.0"


def test_a_worker_that_does_not_listen_is_stopped_at_the_cutoff(supervise):
    def stop_the_worker_later(config, instance):
        if config["x"] == 0:
            worker = os.getpid()
            if os.fork() == 0:
                time.sleep(0.5)
                os.kill(worker, signal.SIGSTOP)
                os._exit(0)
        return config["x"]

    workers = supervise(stop_the_worker_later)
    assert workers(task(0, 60.0)).quality == 0.0
    worker = below(workers)[1]
    assert eventually(lambda: worker.status() == psutil.STATUS_STOPPED)
    large = b"x" * 30_000_000  # more than any line holds
    assert workers(task(5, 1.0, value=large)).status is Status.TIMEOUT
    assert workers(task(7, 60.0, value=large)).quality == 7.0


PAUSED = """
import json, os, sys, time
from paramhs import tune

def wait(config):
    open("begun", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
    return config["x"]

result = tune(wait, {"x": range(10)}, budget=1, cutoff=float(sys.argv[1]))
print(json.dumps([[run.status, run.runtime] for run in result.runs]))
"""


def test_a_stop_of_everything_is_no_timeout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cutoff, pause = 8.0, 9.0
    with child(PAUSED, cutoff) as process:
        assert eventually((tmp_path / "begun").exists, PATIENCE)
        family = [process.pid, *(p.pid for p in offspring(process.pid))]
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in family:
                os.kill(pid, number)
            time.sleep(pause if number == signal.SIGSTOP else 0)
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=PATIENCE)
    ((status, runtime),) = json.loads(out)
    assert status == "ok", err
    assert runtime < cutoff


def in_a_process_of_its_own(queue):
    queue.put(11)


def test_a_function_may_use_processes_of_its_own(supervise):
    def with_a_process(config):
        context = multiprocessing.get_context("fork")
        queue = context.SimpleQueue()
        process = context.Process(target=in_a_process_of_its_own, args=(queue,))
        process.start()
        process.join()
        return queue.get()

    assert supervise(with_a_process)(task(0, 60.0)).quality == 11
