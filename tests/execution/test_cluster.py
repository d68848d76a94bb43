"""A search whose runs are made by the workers of a cluster: real worker processes, real kills."""

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import distributed
import psutil
import pytest
from distributed import Client, LocalCluster
from typer.testing import CliRunner

import paramhs
from paramhs import Dask
from paramhs.cli import app
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.runs import Instance, Status, Task
from paramhs.core.space import Space
from paramhs.execution.cluster.cluster import Cluster, reach_cluster
from paramhs.execution.cluster.launch import start_cluster
from paramhs.execution.cluster.serialization import Packer, unpacked
from paramhs.execution.cluster.worker import Worker
from paramhs.execution.cluster.worker_health import MAX_FAILURES, Standing
from paramhs.execution.driver import Watcher
from paramhs.execution.executors import executing, reach
from paramhs.execution.storage.sqlite import read_runs
from paramhs.execution.targets import FunctionTarget
from paramhs.execution.targets.command import CommandTarget, LastNumber, Problem, Style, Template
from paramhs.execution.targets.command.files import program_file
from paramhs.formats.scenario import read_scenario
from tests.support.children import PATIENCE, with_our_modules
from tests.support.scale import slow
from tests.support.targets import SPACE, noisy, noisy_with_pauses, spawning

pytestmark = pytest.mark.forks

BAD = "PARAMHS_TEST_BAD"  # in the environment of a worker that fails everything


class Heard(Watcher):
    """Keeps what it is told, and may do something at a run."""

    def __init__(self, at=None, do=None):
        self.notices, self.runs, self.at, self.do = [], 0, at or {}, do

    def notice(self, text):
        self.notices.append(text)

    def ran(self, record, progress):
        self.runs += 1
        if self.runs in self.at:
            self.do()

    def notices_with(self, part):
        return [text for text in self.notices if part in text]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def whole(client):
    """The client, once both workers are there (again)."""
    client.wait_for_workers(2, timeout=PATIENCE)
    return client


def workers_of(client):
    return sorted(client.nthreads())


@pytest.mark.parametrize("name", ["_close", "_event_handlers", "_start_arg"])
def test_dask_has_the_private_members_that_are_used(client, name):
    version = distributed.__version__
    assert hasattr(client, name), (
        f"distributed {version} has no Client.{name}, which execution/cluster/cluster.py uses"
    )


def tuned(function=noisy, **how):
    how = {"instances": range(6), "budget": 40, "seed": 3, "progress": False, **how}
    return paramhs.tune(function, SPACE, **how)


def trajectory(result):
    """Part of a result that must not depend on which worker makes the runs."""
    points = [(p.config.key, p.runs, p.cost, p.evidence) for p in result.trajectory]
    history = [(r.task.config.key, *r.task[1:], r.status, r.quality) for r in result.history.runs]
    return points, history


ALONE = []


def alone():
    """Search in this process, made once."""
    if not ALONE:
        ALONE.append(trajectory(tuned()))
    return ALONE[0]


# It runs there.


def test_a_cluster_gives_the_trajectory_of_one_process(whole):
    result = tuned(noisy_with_pauses, executor=whole)
    assert trajectory(result) == alone()
    assert trajectory(tuned(noisy_with_pauses, jobs=2, executor="processes")) == alone()


def test_a_cluster_of_ones_own_is_started_and_ended():
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    assert trajectory(tuned(executor="dask", jobs=2)) == alone()
    left = {p.pid: p.name() for p in psutil.Process().children(recursive=True)}
    assert not [pid for pid, name in left.items() if pid not in before and "run-" in name]


def test_the_verdict_is_made_there_too(whole):
    how = {"test_instances": range(10, 13), "initial": [{"x": 13, "mode": "a"}], "budget": 20}
    assert tuned(executor=whole, **how).verdict.p_value == tuned(**how).verdict.p_value


def test_a_function_of_a_script_travels_by_value(whole):
    low = 3

    def own(config, instance, seed):
        return abs(config["x"] - low)

    assert trajectory(tuned(own, executor=whole)) == trajectory(tuned(own))


def test_there_is_one_concurrent_run_per_thread(whole):
    with reach(whole, 1) as cluster:
        wait_for(lambda: cluster.workers)
        assert cluster.jobs == 2
    with reach(whole, 5) as cluster:
        assert cluster.jobs == 5


def test_an_order_is_under_a_kilobyte_and_the_kit_is_sent_once_to_each_worker(whole, monkeypatch):
    sent = []
    monkeypatch.setattr(Packer, "parcels", recorded(Packer.parcels, sent))
    asked = []
    monkeypatch.setattr(Packer, "order", recorded(Packer.order, asked))
    space = Space({f"parameter_{i}": range(1000) for i in range(150)})
    instances = [f"/a/longer/path/to/an/instance/that/is/a/file/{i:08}.cnf" for i in range(40)]
    paramhs.tune(total, space, instances=instances, budget=30, executor=whole, progress=False)
    assert max(map(len, asked)) < 1000
    assert 1 <= len(sent) <= 2 + 2  # two workers, each asked by at most two orders at once


def total(config, instance):
    return sum(config.values())


def recorded(function, made):
    def call(*arguments):
        made.append(function(*arguments))
        return made[-1]

    return call


def test_a_large_instance_is_sent_once_and_a_small_one_with_the_order():
    packer = Packer(FunctionTarget(noisy), ship=False)
    config = SPACE.default
    large = packer.order(Task(config, Instance("large", "x" * 100_000), 1))
    small = packer.order(Task(config, Instance("small", 7), 1))
    assert len(large) < 1000
    assert unpacked(large).instance.parcel
    assert not unpacked(small).instance.parcel


# Limits.


def test_a_run_is_stopped_at_the_cutoff_with_all_its_processes(whole, tmp_path):
    with executing(FunctionTarget(spawning), whole, 1, 0.5) as (workers, runner):
        task = Task(SPACE.default, Instance("i", str(tmp_path / "pid")), 1, 0.5)
        run = workers.submit(runner, task).result(60)
    assert run.status is Status.TIMEOUT
    assert run.task is task
    assert_gone(tmp_path / "pid")


def test_memory_is_limited_there(whole):
    target = FunctionTarget(hungry, memory=200e6)
    with executing(target, whole, 1, math.inf) as (workers, runner):
        run = workers.submit(runner, Task(SPACE.default, Instance("i"), 1, 60.0)).result(60)
    assert run.status is Status.CRASHED
    assert "200 MB" in run.detail


def hungry(config, instance, seed):
    held = bytearray(1)
    while True:
        held += b"x" * 50_000_000
        time.sleep(0.01)


def test_a_command_runs_there_under_its_limits(whole, tmp_path):
    """Also processor time, of a child that left its session."""
    script = "setsid sh -c 'while :; do :; done' & echo $! > {instance}; wait"
    words = Template(["sh", "-c", script], SPACE, Style(), whole=False)
    target = CommandTarget(words, tmp_path, LastNumber(), clock="cpu", grace=0.0)
    task = Task(SPACE.default, Instance("i", Problem(str(tmp_path / "pid"))), 1, 0.2)
    with executing(target, whole, 1, 0.2) as (workers, runner):
        run = workers.submit(runner, task).result(60)
    assert run.status is Status.TIMEOUT
    assert run.runtime >= 0.2
    assert_gone(tmp_path / "pid")


def test_a_crash_of_the_process_is_a_crashed_run_and_no_worker_is_lost(whole):
    before = workers_of(whole)
    with executing(FunctionTarget(dying), whole, 1, math.inf) as (workers, runner):
        run = workers.submit(runner, Task(SPACE.default, Instance("i"), 1)).result(60)
        assert "died" in run.detail
    assert workers_of(whole) == before


def dying(config, instance, seed):
    os.kill(os.getpid(), signal.SIGKILL)


def test_an_unwanted_run_is_ended(whole, tmp_path):
    """So it is when paramhs is gone: Dask takes back what its client had asked for."""
    with executing(FunctionTarget(spawning), whole, 1, math.inf) as (workers, runner):
        task = Task(SPACE.default, Instance("i", str(tmp_path / "pid")), 1)
        future = workers.submit(runner, task)
        wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        future.cancel()
        assert_gone(tmp_path / "pid")


def test_keepers_go_with_the_search(whole):
    tuned(executor=whole, budget=20)
    names = [c.name() for p in whole.run(os.getpid).values() for c in psutil.Process(p).children()]
    assert "run-warden" not in names


def test_a_killed_worker_leaves_nothing_and_its_run_is_made_again(whole, tmp_path, monkeypatch):
    """Its loss is reported once, even without a poll in between: the scheduler reports it."""
    monkeypatch.setattr("paramhs.execution.cluster.cluster._POLL_SECONDS", 600.0)

    def kill_one():
        for pid in list(whole.run(os.getpid, on_error="ignore").values())[:1]:
            os.kill(pid, signal.SIGKILL)

    heard = Heard({8, 24}, kill_one)
    store = tmp_path / "runs.sqlite"
    result = tuned(noisy_with_pauses, executor=whole, watcher=heard, store=store)
    assert trajectory(result) == alone()
    gone = heard.notices_with("is gone")
    assert 1 <= len(gone) == len(set(gone)) <= 2
    runs = [run.task for run in read_runs(store, SPACE)]
    assert len(set(runs)) == len(runs) >= 34  # a sixth of 40 may stay in reserve


def test_a_handler_of_the_users_own_hears_what_it_did_before(whole):
    heard = []
    whole.subscribe_topic("all", heard.append)
    try:
        tuned(executor=whole, budget=20)
        whole.log_event("all", "after the search")
        wait_for(lambda: any(what == "after the search" for _, what in heard))
    finally:
        whole.unsubscribe_topic("all")
    tuned(executor=whole, budget=20)


HOME = """
import sys
from distributed import Client
from paramhs.core.runs import Instance, Task
from paramhs.execution.executors import executing
from paramhs.execution.targets import FunctionTarget
from tests.support.targets import SPACE, spawning

with Client(sys.argv[1]) as client:
    with executing(FunctionTarget(spawning), client, 1, 600.0) as (workers, runner):
        task = Task(SPACE.default, Instance("i", sys.argv[2]), 1, 600.0)
        workers.submit(runner, task).result()
"""


@pytest.mark.slow
def test_a_run_ends_when_paramhs_is_gone(whole, tmp_path):
    address, file = whole.scheduler.address, tmp_path / "pid"
    words = [sys.executable, "-c", HOME, address, str(file)]
    with subprocess.Popen(words, env=with_our_modules()) as home:
        wait_for(lambda: file.exists() and file.read_text())
        home.kill()
    assert_gone(file)
    whole.run(os.getpid)  # the workers are as they were


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_stops_cleanly(tmp_path):
    """It reaches all processes: also the workers, which leave the answer to the search."""
    path = scenario(tmp_path, "jobs = 2", "")
    path.write_text(path.read_text().replace("runs = 40", "runs = 100000"))
    command = [sys.executable, "-m", "paramhs", "tune", str(path)]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    how["env"] = with_our_modules()
    with subprocess.Popen(command, start_new_session=True, **how) as process:
        for line in process.stdout:
            if "incumbent" in line:
                break
        below = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        message = process.stdout.read()
        assert process.wait(PATIENCE) == 130, message
    assert "Interrupted; to go on" in message
    assert below
    wait_for(lambda: not any(child.is_running() for child in below))


# A crash of the target, or of the worker.


def test_a_worker_that_fails_everything_is_set_aside(whole):
    bad = workers_of(whole)[0]
    whole.run(set_bad, True, workers=[bad])
    heard = Heard()
    try:
        result = tuned(failing_there, executor=whole, watcher=heard)
    finally:
        whole.run(set_bad, False, workers=[bad])
    assert trajectory(result) == alone()
    (message,) = heard.notices_with("is excluded")
    assert bad in message
    assert "no library here" in message


def set_bad(bad):
    os.environ.update({BAD: "1"} if bad else {})
    if not bad:
        del os.environ[BAD]


def failing_there(config, instance, seed):
    if BAD in os.environ:
        raise ImportError("no library here")
    return noisy(config, instance, seed)


def test_what_crashes_everywhere_is_a_crash_of_the_target(whole):
    result = tuned(choosy, executor=whole)
    assert trajectory(result) == trajectory(tuned(choosy))
    assert any(run.status is Status.CRASHED for run in result.history.runs)


def choosy(config, instance, seed):
    if config["mode"] == "b":
        raise ValueError("no mode b")
    return noisy(config, instance, seed)


def test_a_worker_that_cannot_load_the_target_is_set_aside(whole):
    bad = workers_of(whole)[1]
    whole.run(lose_module, workers=[bad])
    heard = Heard()
    try:
        assert trajectory(tuned(executor=whole, watcher=heard)) == alone()
        (message,) = heard.notices_with("is excluded")
        assert bad in message
        whole.run(lose_module)
        with pytest.raises(
            TargetError, match=r"2 workers cannot make runs:\ntcp:.*support.targets"
        ):
            tuned(executor=whole)
    finally:
        whole.run(find_module)


def lose_module():
    sys.modules["tests.support.targets"] = None


def find_module():
    del sys.modules["tests.support.targets"]


def test_another_version_is_said_once_for_each_worker(whole):
    whole.run(set_version, "0.0.1")
    heard = Heard()
    try:
        assert trajectory(tuned(executor=whole, watcher=heard)) == alone()
    finally:
        whole.run(set_version, paramhs.__version__)
    message = heard.notices_with("has paramhs 0.0.1, this process")
    assert 1 <= len(message) == len(set(message)) <= 2


def set_version(version):
    from paramhs.execution.cluster import worker

    worker.__version__ = version


class TestStanding:
    def test_failures_alone_count_in_a_row_only(self):
        standing = Standing()
        for _ in range(3 * MAX_FAILURES):
            standing.note_run("w", failed=True)
            standing.note_failed_alone("w", "x")
            standing.note_run("w", failed=False)
        assert not standing.aside
        for _ in range(MAX_FAILURES):
            standing.note_failed_alone("w", "disk full\x1b[31m")
        assert standing.aside == {"w"}
        assert standing.take_notices() == [
            "worker w is excluded: 3 runs failed only on it, most recently: disk full\\x1b[31m"
        ]
        standing.set_aside("w", "again")
        assert standing.take_notices() == []

    def test_the_view_tells_failures_by_worker(self):
        standing = Standing()
        standing.note_run("tcp://a:1", failed=False)
        standing.note_run("tcp://b:1", failed=True)
        standing.note_failed_alone("tcp://b:1", "x")
        expected = "2 workers; tcp://b:1: 1 of 1 failed (1 only there)"
        assert standing.text(2) == expected


# What a worker does, without Dask around it.


def worker_and_order(target, instance, tmp_path, ship=False):
    packer = Packer(target, ship)
    order = unpacked(packer.order(Task(SPACE.default, instance, 1, 60.0)))
    return Worker("here", str(tmp_path)), order, packer


def answered(worker, order, packer):
    first = worker.answer(order, {}, "k")
    assert first.missing
    return worker.answer(order, packer.parcels(first.missing), "k")


def test_a_missing_instance_is_reported_with_worker_and_path(tmp_path):
    file = tmp_path / "a.cnf"
    file.touch()
    target = CommandTarget(Template("cat {instance}", SPACE, Style(), whole=False), tmp_path)
    worker, order, packer = worker_and_order(target, Instance("a", Problem(str(file))), tmp_path)
    file.unlink()
    answer = answered(worker, order, packer)
    worker.close()
    assert answer.worker == "here"
    assert str(file) in answer.unfit


def test_a_missing_program_is_reported(tmp_path):
    program = tmp_path / "solver"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    target = CommandTarget(
        Template("./solver", SPACE, Style(), whole=False), tmp_path, LastNumber()
    )
    worker, order, packer = worker_and_order(target, Instance("a"), tmp_path)
    packer.order(Task(SPACE.default, Instance("a"), 1))
    program.unlink()
    program_file.cache_clear()
    answer = answered(worker, order, packer)
    worker.close()
    assert "there is no program ./solver" in answer.unfit


def test_an_instance_is_shipped_and_goes_with_the_place(tmp_path):
    file = tmp_path / "home" / "a.txt"
    file.parent.mkdir()
    file.write_text("42")
    target = FunctionTarget(read_elsewhere)
    worker, order, packer = worker_and_order(target, Instance("a", str(file)), tmp_path, ship=True)
    parcels = packer.parcels((order.kit, order.instance.shipped))
    file.unlink()
    answer = worker.answer(order, parcels, "k")
    assert (answer.status, answer.quality) == ("ok", 42.0)
    worker.close()
    assert not list(tmp_path.glob("paramhs-*"))


def read_elsewhere(config, instance, seed):
    return float(Path(instance).read_text())


def test_a_full_disk_where_instances_are_written_sets_aside(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    file.write_text("42")
    target = FunctionTarget(read_elsewhere)
    worker, order, packer = worker_and_order(target, Instance("a", str(file)), tmp_path, ship=True)
    worker._scratch = "/dev/full"
    answer = answered(worker, order, packer)
    worker.close()
    assert "a.txt cannot be written" in answer.unfit


def test_code_that_was_changed_since_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "paramhs.execution.cluster.serialization.code_digest", lambda target: "another"
    )
    worker, order, packer = worker_and_order(FunctionTarget(noisy), Instance("a"), tmp_path)
    assert "is different code on this worker" in answered(worker, order, packer).unfit
    worker.close()


def test_idle_keepers_are_dismissed(tmp_path, monkeypatch):
    worker, order, packer = worker_and_order(FunctionTarget(noisy), Instance("a", 1), tmp_path)
    assert answered(worker, order, packer).status == "ok"
    monkeypatch.setattr("paramhs.execution.cluster.worker.IDLE_SECONDS", -1.0)
    children = psutil.Process().children()
    assert "run-warden" in [child.name() for child in children]
    worker.dismiss_idle()
    assert "run-warden" not in [child.name() for child in psutil.Process().children()]
    assert worker.answer(order, {}, "k").status == "ok"  # another is begun
    worker.close()


# How it is asked for.

SCENARIO = """\
function = "tests.support.targets:noisy"
executor = "dask"
{}
instances = [1, 2, 3]
[space]
x = [0, 19]
mode = ["a", "b", "c"]
[budget]
runs = 40
{}
"""


def scenario(tmp_path, top="", tables=""):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.format(top, tables))
    return path


def test_the_command_line_names_a_scheduler(whole, tmp_path):
    path = scenario(tmp_path)
    address = whole.scheduler.address
    result = CliRunner().invoke(app, ["tune", str(path), "--dask", address, "--no-report"])
    assert result.exit_code == 0, result.output
    assert "best" in result.output


def test_a_scenario_says_how_its_cluster_is_reached(tmp_path):
    path = scenario(tmp_path, 'address = "tcp://h:1"', "[cluster]\nship = true\npatience = '1 min'")
    assert read_scenario(path).executor == Dask("tcp://h:1", ship=True, patience=60.0)
    options = 'system = "slurm"\noptions = {cores = 2, memory = "4 GB"}'
    read = read_scenario(scenario(tmp_path, "", f"[cluster]\n{options}"))
    assert read.executor == Dask(system="slurm", options={"cores": 2, "memory": "4 GB"})
    made = read_scenario(scenario(tmp_path, "", "[cluster]\nclient = 'os:getcwd'")).executor
    assert made.client is os.getcwd


@pytest.mark.parametrize(
    ("top", "tables", "line"),
    [
        ('address = "tcp://h:1"', '[cluster]\nsystem = "slurm"', "exactly one of"),
        ("", "[cluster]\noptions = {cores = 1}", "only to a batch system, but none is named"),
        ("", '[cluster]\nsystem = "cron"', "'slurm', 'pbs'"),
        ("", '[cluster]\nclient = "nowhere:f"', "No module named 'nowhere'"),
        ("", "[cluster]\nship = 1", "ship"),
    ],
)
def test_errors_of_a_cluster_name_their_line(tmp_path, top, tables, line):
    with pytest.raises(BadInput, match=r"scenario.toml, line \d+") as error:
        read_scenario(scenario(tmp_path, top, tables))
    assert line in str(error.value)


def test_settings_of_a_cluster_need_one(tmp_path):
    path = scenario(tmp_path, 'address = "tcp://h:1"')
    path.write_text(path.read_text().replace('executor = "dask"', ""))
    with pytest.raises(BadInput, match='address: applies only with executor = "dask"'):
        read_scenario(path)


def test_what_makes_no_client_is_refused():
    with pytest.raises(BadInput, match="gave a str, not a distributed"):
        tuned(executor=Dask(client=lambda: "no client"))


def test_a_missing_scheduler_is_reported(monkeypatch):
    monkeypatch.setattr("paramhs.execution.cluster.launch._CONNECT_SECONDS", 0.3)
    with pytest.raises(TargetError, match="no Dask scheduler answers at tcp"):
        tuned(executor=Dask("tcp://127.0.0.1:9"))


def test_a_cluster_without_workers_is_given_up_in_the_end():
    heard = Heard()
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", processes=False) as cluster,
        Client(cluster) as client,
        pytest.raises(TargetError, match="no worker"),
    ):
        tuned(executor=Dask(client=client, patience=0.1), watcher=heard)
    assert heard.notices_with("no workers; waiting for one") == heard.notices


def test_an_unforeseen_error_ends_the_search_and_is_reported(whole, monkeypatch):
    monkeypatch.setattr(Cluster, "_send_elsewhere", lambda self: 1 / 0)
    with reach_cluster(Dask(client=whole), 2) as cluster:
        wait_for(lambda: cluster.given_up)
        with pytest.raises(TargetError, match="ZeroDivisionError: division by zero"):
            cluster.start(cluster.ready()).result(30)


@pytest.mark.parametrize("patience", [-1, 0, math.nan, math.inf, "1 min", True])
def test_patience_is_a_number_of_seconds(patience):
    with pytest.raises(BadInput, match="patience must be a number of seconds above 0, not"):
        Dask(patience=patience)


@pytest.mark.parametrize(
    "system",
    ["slurm", *(slow(other) for other in ("pbs", "lsf", "sge"))],
)
def test_jobs_of_a_batch_system_are_described(system, monkeypatch):
    """The script of a job, as far as that can be seen without a batch system."""
    from dask_jobqueue.core import JobQueueCluster

    asked = []
    monkeypatch.setattr(JobQueueCluster, "scale", lambda self, n: asked.append((n, self)))
    settings = Dask(system=system, options={"memory": "2 GB", "walltime": "01:00"})
    with start_cluster(settings, 7) as client:
        ((count, cluster),) = asked
        assert count == 7
        assert "distributed.cli.dask_worker" in cluster.job_script()
        assert client.status == "running"


# What the tests share.


def wait_for(fact, seconds=PATIENCE):
    """Wait until something is so; only a hang makes it fail."""
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def assert_gone(file):
    pid = int(file.read_text())
    wait_for(lambda: not psutil.pid_exists(pid))
