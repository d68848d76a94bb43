"""Control groups: real ones where this user may make them, else files that look like them."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from paramhs.execution.supervisor import cgroup, memory
from paramhs.execution.supervisor.cgroup import ControlGroup
from paramhs.execution.supervisor.memory import Memory
from tests.support.children import eventually

pytestmark = [
    pytest.mark.forks,
    pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's"),
]

STAT = "anon 1000000\nfile 90000000\nshmem 500000\nslab 7\n"


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A group that looks as if it were ours alone, given to an ordinary user."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "cgroup.subtree_control").write_text("")
    monkeypatch.setattr(cgroup, "own_group", lambda: tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return tmp_path


def test_memory_is_what_cannot_be_taken_back(tmp_path):
    (tmp_path / "memory.stat").write_text(STAT)
    assert ControlGroup(tmp_path).memory() == 1_500_000
    assert ControlGroup(tmp_path / "none").memory() == 0


def test_what_a_group_counts_since_the_run_began_is_the_runs_memory(tmp_path):
    (tmp_path / "memory.stat").write_text(STAT)
    counted = Memory(ControlGroup(tmp_path))
    counted.begin(1e9)
    nobody = SimpleNamespace(pids=list)  # this process may well have children of other tests
    assert counted.used(nobody, 1e9) == 0
    (tmp_path / "memory.stat").write_text(STAT.replace("shmem 500000", "shmem 700500000"))
    assert counted.used(nobody, 1e9) == 700_000_000


def test_a_group_that_is_ours_alone_is_made_ready(group, monkeypatch):
    monkeypatch.setattr(cgroup, "_controls_memory", lambda path: path == group)
    assert cgroup.delegated() == group
    assert (group / "paramhs" / "cgroup.procs").read_text() == str(os.getpid())
    assert (group / "cgroup.subtree_control").read_text() == "+memory"
    monkeypatch.setattr(cgroup, "own_group", lambda: group / "paramhs")
    assert cgroup.delegated() == group  # from now on
    assert memory.way_of_counting() == "counted by a control group (cgroup v2)"


def test_a_group_with_others_in_it_is_left_alone(group):
    (group / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    assert cgroup.delegated() is None
    assert not (group / "paramhs").exists()
    assert memory.way_of_counting().startswith("summed over its processes")


def test_a_group_that_cannot_count_memory_is_left_alone(group):
    (group / "cgroup.controllers").write_text("cpu pids\n")
    assert cgroup.delegated() is None


def test_root_may_write_everywhere_and_yet_not_every_group_is_given_to_it(group, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert cgroup.delegated() is None


def test_where_there_are_no_control_groups_there_is_none(monkeypatch):
    monkeypatch.setattr(cgroup, "_mounted", lambda: None)
    assert cgroup.group_of("mark") is None


def test_a_group_that_cannot_be_made_is_not_joined(tmp_path):
    assert not ControlGroup(tmp_path / "none" / "below").join()


@pytest.fixture
def real():
    """A real group, without any controller if need be."""
    root = cgroup._mounted()
    path = Path(root or "/none") / f"paramhs-test-{os.getpid()}"
    group = ControlGroup(path)
    try:
        path.mkdir()
    except OSError:
        pytest.skip("this user may not make control groups")
    path.rmdir()
    yield group, path
    group.end()


JOIN = """
import sys, time
from pathlib import Path
from paramhs.execution.supervisor.cgroup import ControlGroup
import os
assert ControlGroup(Path(sys.argv[1])).join()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        break
time.sleep(1000)
"""


def test_all_in_a_real_group_are_ended_wherever_they_went(real):
    group, path = real
    process = subprocess.Popen([sys.executable, "-c", JOIN, str(path)], env={})

    def members():
        try:
            return (path / "cgroup.procs").read_text().split()
        except OSError:  # the group is not there yet, or gone
            return []

    assert eventually(lambda: len(members()) == 4, 60.0)
    (path / "own").mkdir()  # as a run may do
    (path / "own" / "cgroup.procs").write_text(members()[-1])
    group.end()
    assert not path.exists()
    assert process.wait(60.0) == -9
