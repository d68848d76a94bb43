import json
import os
import signal
import time

import pytest

from paramhs import tune
from paramhs.core.random_streams import stream
from tests.support.children import PATIENCE, child, eventually, is_gone, offspring, output
from tests.support.scale import of
from tests.support.stores import rows
from tests.support.targets import SPACE, noisy

RUNS = of(1_500, 4_000)

SEARCH = """
import sys
from paramhs import Watcher, tune
from tests.support.targets import SPACE, noisy_in_time

class Loud(Watcher):
    def started(self, record, progress):
        print("running", flush=True)

path, jobs, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
result = tune(noisy_in_time, SPACE, budget=runs, store=path, jobs=jobs, watcher=Loud())
print([(point.config.key, point.runs, point.cost) for point in result.trajectory])
"""


def uninterrupted(runs: int) -> str:
    result = tune(noisy, SPACE, budget=runs)
    return str([(point.config.key, point.runs, point.cost) for point in result.trajectory])


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_search_killed_many_times_and_resumed_is_the_uninterrupted_one(tmp_path, jobs, kills):
    path, rng = tmp_path / "runs.sqlite", stream(0, "kills", jobs)
    stored = rows(path)
    for kill in range(kills):
        with child(SEARCH, path, jobs, RUNS, PAUSE="0.002") as process:
            if kill % 3:  # else also while it starts
                assert process.stdout.readline() == "running\n"
                assert eventually(lambda: len(rows(path)) > len(stored) or process.poll() == 0)  # noqa: B023
            time.sleep(0.25 * rng.random())
            workers = offspring(process.pid)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert eventually(lambda alive=workers: all(map(is_gone, alive)))
        before, stored = stored, rows(path)
        assert stored >= before
    assert len(stored) > kills
    *_, trajectory = output(SEARCH, path, jobs, RUNS).splitlines()
    assert rows(path) >= stored
    assert trajectory == uninterrupted(RUNS)


INTERRUPTED = """
import json, os, sys, time
from paramhs import Watcher, tune
from tests.support.targets import SPACE, noisy

path, executor, hang_at = sys.argv[1], sys.argv[2], int(sys.argv[3])

class Loud(Watcher):
    runs = 0
    def ran(self, record, progress):
        self.runs += 1
        if self.runs == 20:
            print("running", flush=True)
    def interrupting(self, text):
        os.write(1, (text + "\\n").encode())

def hanging(config, instance, seed):
    time.sleep(0.005)
    if os.path.exists(path + ".hang"):
        os.write(1, b"hanging\\n")
        time.sleep(1000)
    return noisy(config, instance, seed)

try:
    result = tune(
        hanging, SPACE, budget=100_000, store=path, executor=executor, jobs=2, watcher=Loud()
    )
    print(json.dumps({"stopped": result.stopped, "runs": result.asked}), flush=True)
except KeyboardInterrupt:
    print("at once", flush=True)
    if executor == "threads":
        os._exit(130)  # Python waits for threads, and they cannot be stopped
    raise
"""

NOTICE = "stopping after the runs in flight; Ctrl-C again stops at once\n"

EXECUTORS = ["inline", "threads", "processes"]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_sigterm_ends_a_script_and_its_runs_and_loses_nothing(tmp_path, executor):
    path = tmp_path / "runs.sqlite"
    with child(INTERRUPTED, path, executor, 0) as process:
        assert process.stdout.readline() == "running\n"
        workers = offspring(process.pid)
        process.terminate()
        assert process.wait(PATIENCE) == -signal.SIGTERM
        assert eventually(lambda: all(map(is_gone, workers)))
    assert len(rows(path)) >= 19
    assert {row[4] for row in rows(path)} == {"ok"}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_first_interrupt_stops_cleanly(tmp_path, executor):
    path = tmp_path / "runs.sqlite"
    with child(INTERRUPTED, path, executor, 0) as process:
        assert process.stdout.readline() == "running\n"
        workers = offspring(process.pid)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (0, "")
        notice, message = out.splitlines(keepends=True)
        assert notice == NOTICE
        assert eventually(lambda: all(map(is_gone, workers)))
    message = json.loads(message)
    assert message["stopped"] == "interrupted"
    assert 20 <= message["runs"] <= len(rows(path))
    assert not path.with_name("runs.sqlite.lock").exists()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_ctrl_c_reaches_all_processes_of_the_group_and_still_stops_cleanly(tmp_path, executor):
    path = tmp_path / "runs.sqlite"
    with child(INTERRUPTED, path, executor, 0) as process:
        assert process.stdout.readline() == "running\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["stopped"] == "interrupted"
    assert {row[4] for row in rows(path)} == {"ok"}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_second_interrupt_stops_at_once_and_loses_nothing(tmp_path, executor):
    path = tmp_path / "runs.sqlite"
    with child(INTERRUPTED, path, executor, 0) as process:
        assert process.stdout.readline() == "running\n"
        (tmp_path / "runs.sqlite.hang").touch()
        assert process.stdout.readline() == "hanging\n"
        before = rows(path)
        os.kill(process.pid, signal.SIGINT)
        while process.stdout.readline() not in (NOTICE, ""):
            pass
        workers = offspring(process.pid)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert out.splitlines()[-1] == "at once"
        assert process.returncode == (130 if executor == "threads" else -signal.SIGINT), err
        assert eventually(lambda: all(map(is_gone, workers)))
    assert len(before) >= 19
    assert rows(path) >= before
    assert {row[4] for row in rows(path)} == {"ok"}
    (tmp_path / "runs.sqlite.hang").unlink()
    with child(INTERRUPTED, path, executor, 0) as process:  # the store is free again
        assert process.stdout.readline() == "running\n"


def test_the_store_is_free_at_once_after_a_search_with_workers_is_killed(tmp_path):
    path = tmp_path / "runs.sqlite"
    with child(SEARCH, path, 2, RUNS, PAUSE="1000") as process:
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        out = output(SEARCH, path, 2, 50)
    assert out.splitlines()[-1] == uninterrupted(50)
