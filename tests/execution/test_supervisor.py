"""Real children that do what children should not do: after each, no process is left."""

import contextlib
import json
import mmap
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from paramhs.core.errors import TargetError
from paramhs.execution.supervisor import Command, Limits, stopwatch, warden
from paramhs.execution.supervisor import keeper_channel as line
from paramhs.execution.supervisor.capture import GAP, Capture
from paramhs.execution.supervisor.messages import send_message
from paramhs.execution.supervisor.orders import memory_text
from paramhs.execution.supervisor.pool import Supervised
from tests.support.children import PATIENCE, child, eventually, is_gone, offspring
from tests.support.keepers import DAEMON, MARK, PYTHON, STOP_BOTH, Bare, Kept, Request

pytestmark = [
    pytest.mark.forks,
    pytest.mark.skipif(sys.platform != "linux", reason="a keeper must be a subreaper"),
]


@pytest.fixture
def kept(tmp_path, monkeypatch, request):
    monkeypatch.setenv(MARK, "")
    kept = Kept(str(tmp_path), f"{os.getpid()} {request.node.name}")
    yield kept
    kept.supervised.close()
    for process in kept.left():
        process.kill()


# How a program ends.


def test_a_program_that_ends_well(kept):
    outcome = kept.sh("echo answer; echo remark >&2")
    assert (outcome.limit, outcome.code, outcome.trouble) == ("", 0, "")
    assert (outcome.output, outcome.errors) == (b"answer\n", b"remark\n")
    assert outcome.left_behind == 0


def test_the_exit_code_is_reported(kept):
    assert [kept.sh(f"exit {code}").code for code in (0, 1, 10, 127, 255)] == [0, 1, 10, 127, 255]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_the_signal_is_reported(kept, number):
    outcome = kept.sh(f"ulimit -c 0; kill -{int(number)} $$")
    assert (outcome.limit, outcome.code) == ("", -number)


def test_standard_input_is_empty(kept):
    assert kept.sh("cat; echo done").output == b"done\n"


def test_standard_input_is_what_is_given(kept):
    given = os.urandom(300_000)
    assert kept.run("cat", given=given).output == given


def test_a_program_runs_in_its_folder_and_is_found_there(kept, tmp_path):
    script = tmp_path / "here.sh"
    script.write_text("#!/bin/sh\npwd\n")
    script.chmod(0o755)
    assert Path(kept.run("./here.sh").output.decode().strip()).samefile(tmp_path)


# Programs that cannot be started: the message says what would help.


def test_a_program_that_does_not_exist(kept):
    outcome = kept.run("no-such-program-xyz")
    assert outcome.trouble == "there is no program no-such-program-xyz on the PATH"
    assert outcome.code is None
    assert kept.run("./none").trouble == "there is no program ./none"
    assert kept.sh("exit 3").code == 3


def test_a_script_without_a_run_bit(kept, tmp_path):
    (tmp_path / "script.sh").write_text("#!/bin/sh\necho 1\n")
    trouble = "./script.sh may not be executed: chmod +x it, or name its interpreter before it"
    assert kept.run("./script.sh").trouble == trouble


def test_a_script_whose_interpreter_does_not_exist(kept, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    trouble = "./script cannot be started: its interpreter (the #! line) does not exist"
    assert kept.run("./script").trouble == trouble


def test_a_script_without_a_first_line(kept, tmp_path):
    script = tmp_path / "script"
    script.write_text("echo 1\n")
    script.chmod(0o755)
    trouble = "./script is not a program: a script needs a first line such as #!/bin/sh"
    assert kept.run("./script").trouble == trouble


def test_a_folder_that_does_not_exist(kept, tmp_path):
    folder = str(tmp_path / "gone")
    outcome = kept.run("/bin/sh", folder=folder)
    assert outcome.trouble == f"/bin/sh cannot be started: there is no folder {folder}"


def test_a_word_that_no_program_can_be_given(kept):
    assert "cannot be started: embedded null" in kept.run("/bin/echo", "a\0b").trouble
    assert "cannot be started: Argument list too long" in kept.run("/bin/echo", "x" * 10**6).trouble
    assert kept.run("/bin/echo", "x").output == b"x\n"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler to miss a library")
def test_a_program_that_needs_a_missing_library(kept, tmp_path):
    (tmp_path / "lib.c").write_text("int answer(void) { return 42; }\n")
    (tmp_path / "main.c").write_text("int answer(void);\nint main(void) { return answer(); }\n")
    for words in (
        ["-shared", "-fPIC", "-o", "libanswer.so", "lib.c"],
        ["-o", "program", "main.c", "-L.", "-lanswer", "-Wl,-rpath,."],
    ):
        subprocess.run(["gcc", *words], cwd=tmp_path, check=True)
    assert kept.run("./program").code == 42
    (tmp_path / "libanswer.so").unlink()
    outcome = kept.run("./program")
    assert (outcome.limit, outcome.code, outcome.trouble) == ("", 127, "")
    assert b"libanswer.so" in outcome.errors


# Programs that do not end.


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(kept):
    outcome = kept.sh("trap '' TERM; while :; do sleep 1; done", wall=0.3, grace=0.2)
    assert (outcome.limit, outcome.code) == ("wall", -signal.SIGKILL)
    assert outcome.wall >= 0.3


def test_a_program_that_hears_sigterm_may_say_something(kept):
    script = "trap 'echo bye; exit 3' TERM; echo hello; sleep 1000 & wait"
    outcome = kept.sh(script, wall=0.3, grace=PATIENCE)
    assert (outcome.limit, outcome.code) == ("wall", 3)
    assert outcome.output == b"hello\nbye\n"


def test_without_grace_no_process_receives_sigterm(kept):
    outcome = kept.sh("trap 'echo bye' TERM; while :; do sleep 0.01; done", wall=0.2, grace=0)
    assert (outcome.limit, outcome.code, outcome.output) == ("wall", -signal.SIGKILL, b"")


def test_a_program_that_sleeps_without_processor_time(kept):
    outcome = kept.run("sleep", "1000", cpu=0.2, wall=0.4)
    assert (outcome.limit, outcome.code) == ("wall", -signal.SIGTERM)
    assert outcome.cpu < 0.2
    assert outcome.wall >= 0.4


def test_a_program_that_stopped_itself(kept):
    outcome = kept.sh("kill -STOP $$", wall=0.2, grace=0.1)
    assert (outcome.limit, outcome.code) == ("wall", -signal.SIGKILL)


def test_a_program_that_burns_processor_time(kept):
    outcome = kept.sh("while :; do :; done", cpu=0.3, wall=PATIENCE)
    assert (outcome.limit, outcome.code) == ("cpu", -signal.SIGTERM)
    assert outcome.cpu >= 0.3


THREADS = """
import hashlib, threading
def burn(): hashlib.pbkdf2_hmac("sha256", b"x", b"y", 10**9)  # lets other threads work
for _ in range(3): threading.Thread(target=burn).start()
"""


def test_a_program_that_burns_processor_time_in_threads(kept):
    outcome = kept.python(THREADS, cpu=0.4, wall=PATIENCE, grace=0.1)
    assert outcome.limit == "cpu"
    assert outcome.cpu >= 0.4


def test_processor_time_of_all_processes_is_limited_together(kept):
    script = "for i in 1 2 3; do while :; do :; done & done; wait"
    outcome = kept.sh(script, cpu=0.3, wall=PATIENCE)
    assert (outcome.limit, outcome.code) == ("cpu", -signal.SIGTERM)
    assert outcome.cpu >= 0.3


def test_processor_time_of_processes_that_are_gone_counts_for_the_limit(kept):
    burn = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"
    for script in (f"while :; do ({burn}); done", f"while :; do ( ({burn}) & ); sleep 0.03; done"):
        outcome = kept.sh(script, cpu=0.4, wall=PATIENCE, grace=0.1)
        assert outcome.limit == "cpu"
        assert 0.4 <= outcome.cpu < 1.0


# What a run leaves behind.


def test_a_program_that_forks_and_exits(kept):
    outcome = kept.sh("sleep 1000 & sleep 1000 & exit 5")
    assert (outcome.limit, outcome.code, outcome.left_behind) == ("", 5, 2)


def is_ready(folder: str | Path) -> bool:
    """Whether the grandchild of DAEMON is where it wants to be."""
    return Path(folder, "ready").exists()


def test_a_setsid_grandchild_ends_with_the_program(kept):
    outcome = kept.python(DAEMON)
    assert (outcome.limit, outcome.code, outcome.left_behind) == ("", 0, 1)
    assert not psutil.pid_exists(int(outcome.output))


def test_a_setsid_grandchild_ends_at_the_limit(kept):
    outcome = kept.python(DAEMON + "time.sleep(1000)", wall=0.5)
    assert outcome.limit == "wall"
    assert not psutil.pid_exists(int(outcome.output))


CHAIN = """
import os, sys, time
end = time.monotonic() + 60  # were it not stopped, it would not go on for ever
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
    {}
    with open("alive", "w") as file:
        file.write(str(time.monotonic()))
open("uncut", "w")
"""


@pytest.mark.parametrize("how", ["pass", "os.setsid()"])
def test_a_chain_of_forks_is_cut(kept, tmp_path, how):
    assert kept.python(CHAIN.format(how)).code == 0
    end = time.monotonic()
    assert not (tmp_path / "uncut").exists()
    time.sleep(0.3)
    alive = tmp_path / "alive"
    assert not alive.exists() or float(alive.read_text() or 0) < end


def test_many_children_are_ended_together(kept):
    outcome = kept.sh("for i in $(seq 40); do (trap '' TERM; sleep 1000) & done; exit 0")
    assert (outcome.code, outcome.left_behind >= 40) == (0, True)


def test_processes_that_fork_when_asked_to_end_are_ended(kept):
    script = "trap 'for i in 1 2 3 4 5; do sleep 1000 & done; exit 4' TERM; sleep 1000 & wait"
    assert kept.sh(script, wall=0.2, grace=2.0).code == 4


# What a run prints.


@pytest.mark.parametrize(("script", "field"), [("", "output"), (">&2", "errors")])
def test_a_program_that_prints_without_end_fills_nothing(kept, tmp_path, script, field):
    before = kept.keeper.memory_info().rss
    outcome = kept.sh(f"exec cat /dev/zero {script}", wall=0.5)
    assert outcome.limit == "wall"
    assert 2 << 20 <= len(getattr(outcome, field)) < 4 << 20
    assert kept.keeper.memory_info().rss - before < 40e6
    assert os.listdir(tmp_path) == []


def test_long_output_keeps_its_head_and_its_tail(kept):
    outcome = kept.python("for i in range(700_000): print(f'{i:07}')")  # 5.6 million bytes
    lines = outcome.output.split(b"\n")
    assert outcome.code == 0
    assert lines[:3] == [b"0000000", b"0000001", b"0000002"]
    assert lines[-2:] == [b"0699999", b""]
    head, gap, tail = outcome.output.partition(GAP)
    assert gap
    assert len(head) >= 1 << 20 <= len(tail)
    assert len(head) + len(tail) < 4 << 20


def test_output_that_can_be_kept_is_kept_exactly(kept):
    outcome = kept.python("import sys; sys.stdout.buffer.write(bytes(range(256)) * 8192)")
    assert outcome.output == bytes(range(256)) * 8192  # 2 MiB


def test_what_was_written_just_before_the_end_is_read(kept):
    for _ in range(20):
        assert kept.sh("printf %060000d 7").output == b"0" * 59_999 + b"7"


def test_a_program_that_closes_its_output_continues(kept):
    before = sum(kept.keeper.cpu_times()[:2])
    outcome = kept.sh("exec >&- 2>&-; sleep 0.6; exit 7")
    assert (outcome.limit, outcome.code, outcome.output) == ("", 7, b"")
    assert outcome.wall >= 0.6
    assert sum(kept.keeper.cpu_times()[:2]) - before < 0.1


def test_output_held_open_by_a_process_left_behind_does_not_delay(kept):
    outcome = kept.sh("sleep 1000 & echo done")  # more than a test may take
    assert (outcome.code, outcome.output) == (0, b"done\n")


def test_a_capture_drops_the_middle_only():
    capture = Capture(100_000)
    data = b"".join(b"%07d\n" % i for i in range(60_000))
    for at in range(0, len(data), 8_000):
        os.write(capture.theirs, data[at : at + 8_000])
        capture.read()
    kept = capture.close()
    head, gap, tail = kept.partition(GAP)
    assert gap
    assert data.startswith(head)
    assert data.endswith(tail)
    assert len(head) >= 100_000 <= len(tail)
    assert len(head) + len(tail) < len(data)


# What a run uses.

HUNGRY = """
import time
kept = []
while len(kept) < 300:
    kept.append(b"x" * 10_000_000)
    time.sleep(0.002)
"""


def test_a_program_that_allocates_without_end_is_stopped(kept):
    outcome = kept.python(HUNGRY, memory=200e6, wall=PATIENCE)
    assert (outcome.limit, outcome.code) == ("memory", -signal.SIGKILL)
    assert outcome.memory == 0 or 190e6 < outcome.memory < 2e9  # 0: the keeper was larger


def test_the_memory_of_several_processes_is_counted_together(kept):
    code = "import time; kept = b'x' * 60_000_000; time.sleep(1000)"
    outcome = kept.python(
        f"import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        {code}\nos.wait()",
        memory=200e6,
        wall=PATIENCE,
    )
    assert outcome.limit == "memory"
    assert outcome.memory < 150e6


def test_memory_that_processes_share_is_counted_once(kept):
    code = """
import os, time
kept = b"x" * 150_000_000
for _ in range(3):
    if os.fork() == 0: break
time.sleep(0.6)
"""
    outcome = kept.python(code, memory=350e6, wall=PATIENCE)
    assert (outcome.limit, outcome.code) == ("", 0)


UNMAPPED = """
import os, time
file = os.memfd_create("hidden")
for _ in range(300):
    os.write(file, b"x" * 1_000_000)
time.sleep(1000)
"""

IN_SHM = UNMAPPED.replace('os.memfd_create("hidden")', "os.open({0!r}, os.O_CREAT | os.O_RDWR)")

FILLED_BY_ANOTHER = """
import mmap, os, time
shared = mmap.mmap(-1, 300_000_000)  # no process has a file of it, and the parent touches nothing
if os.fork() == 0:
    for at in range(0, 300_000_000, 4096):
        shared[at] = 1
    os._exit(0)
os.wait()
time.sleep(1000)
"""

MAPPED_BY_SEVERAL = """
import mmap, os, time
file = os.memfd_create("shared")
os.ftruncate(file, 150_000_000)
shared = mmap.mmap(file, 150_000_000)
for _ in range(2):
    if os.fork() == 0:
        break
for at in range(0, 150_000_000, 4096):
    shared[at] = 1
time.sleep(0.7)
"""


def test_memory_that_is_in_no_page_table_is_counted(kept):
    assert kept.python(UNMAPPED, memory=200e6, wall=PATIENCE).limit == "memory"


LEADERLESS = """
import ctypes, threading, time
def fill():
    kept = [time.sleep(0.01) or b"x" * 10_000_000 for _ in range(60)]
    time.sleep(1000)
threading.Thread(target=fill).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_memory_is_counted_when_the_first_thread_has_ended(kept):
    assert kept.python(LEADERLESS, memory=200e6, wall=PATIENCE).limit == "memory"


SPOILED = """
import os, resource
resource.prlimit(os.getppid(), resource.RLIMIT_AS, (10**6, 10**6))
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (8, 8))
os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
"""
TOLD = "import os, resource; print(os.nice(0), resource.getrlimit(resource.RLIMIT_NOFILE))"


def test_what_a_run_does_to_its_keeper_is_not_the_fate_of_others(kept):
    before = kept.python(TOLD)
    assert kept.python(SPOILED).code == 0
    after = kept.python(TOLD)
    assert (after.code, after.output) == (0, before.output)


def test_keepers_that_all_were_changed_cost_an_innocent_run_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(MARK, "")
    kept = Kept(str(tmp_path), f"{os.getpid()} changed", count=3)
    try:
        before = kept.python(TOLD)
        for _ in range(4):  # the first of them may be another keeper than the next
            assert kept.python(SPOILED).code == 0
        after = kept.python(TOLD)
        assert (after.trouble, after.code, after.output) == ("", 0, before.output)
    finally:
        kept.supervised.close()


@pytest.fixture
def in_shm():
    path = f"/dev/shm/paramhs-test-{os.getpid()}"
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no /dev/shm here")
    yield path
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


@pytest.mark.parametrize("code", [IN_SHM, IN_SHM.replace("for _", "os.unlink({0!r})\nfor _")])
def test_memory_in_files_that_are_in_memory_is_counted(kept, in_shm, code):
    assert kept.python(code.format(in_shm), memory=200e6, wall=PATIENCE).limit == "memory"


def test_a_file_in_memory_that_was_there_before_is_not_the_runs_memory(kept, in_shm):
    with open(in_shm, "wb") as file:
        file.write(b"x" * 300_000_000)
    os.utime(in_shm, (0, 0))
    code = f"import time; file = open({in_shm!r}, 'rb'); time.sleep(0.7)"
    outcome = kept.python(code, memory=200e6, wall=PATIENCE)
    assert (outcome.limit, outcome.code) == ("", 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="Linux lets only root look at mappings")
def test_shared_memory_that_another_process_filled_is_counted(kept):
    assert kept.python(FILLED_BY_ANOTHER, memory=200e6, wall=PATIENCE).limit == "memory"


MAPPED = """
import mmap, time
with open({!r}, "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
total = sum(mapped[at] for at in range(0, len(mapped), 4096))
time.sleep(1000)
"""


def test_what_a_run_shares_with_others_than_its_own_processes_is_counted_in_full(kept):
    """How many workers run at a time must not change what a run may use."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        file.write(b"x" * 120_000_000)
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert sum(mapped[at] for at in range(0, len(mapped), 4096)) > 0
            code = MAPPED.format(file.name)
            assert kept.python(code, memory=100e6, wall=PATIENCE).limit == "memory"


def test_shared_memory_is_counted_once(kept):
    outcome = kept.python(MAPPED_BY_SEVERAL, memory=300e6, wall=PATIENCE)
    assert (outcome.limit, outcome.code) == ("", 0)


def test_the_peak_is_that_of_the_run_and_not_of_its_keeper(kept):
    ballast = b"x" * 100_000_000
    large = Kept(kept.folder, kept.mark)
    try:
        assert large.run("/bin/true").memory < 20e6
    finally:
        large.supervised.close()
    assert len(ballast) == 100_000_000


def test_the_peak_is_at_least_what_was_used(kept):
    # Far more than the process that runs the tests, below which nothing is known.
    assert 1.2e9 < kept.python("kept = b'x' * 1_200_000_000").memory < 1.4e9


BURNER = """
import time
while time.process_time() < {}: pass
print(time.process_time())
"""


def test_processor_time_is_that_of_the_whole_tree(kept, tmp_path):
    (tmp_path / "burner.py").write_text(BURNER.format(0.2))
    burner = f"{sys.executable} -I -S burner.py"
    outcome = kept.sh(f"{burner}; {burner} & wait")
    known = sum(map(float, outcome.output.split()))
    assert 0.4 <= known <= outcome.cpu < known + 0.2


def test_processor_time_of_orphans_counts(kept):
    code = """
import os, time
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while time.process_time() < 0.2: pass
        os._exit(0)
    os._exit(0)
os.close(writing)
os.read(reading, 1)
"""
    outcome = kept.python(code)
    assert outcome.code == 0
    assert 0.2 <= outcome.cpu < 0.5


def test_each_run_has_its_own_account(kept):
    kept.sh("while :; do :; done", cpu=0.3)
    begin = time.monotonic()
    outcome = kept.run("/bin/true")
    assert outcome.cpu < 0.2
    assert outcome.wall <= time.monotonic() - begin


def test_sizes_are_written_for_people():
    sizes = (512e6, 1.5e9, 2048, 12)
    assert [memory_text(size) for size in sizes] == ["512 MB", "1.5 GB", "2.048 kB", "12 B"]


# What a keeper uses.


def switches(process: psutil.Process) -> int:
    return process.num_ctx_switches().voluntary


def test_an_idle_keeper_sleeps(kept):
    kept.run("/bin/true")
    time.sleep(0.1)
    before, cpu = switches(kept.keeper), kept.keeper.cpu_times()[:2]
    time.sleep(0.5)
    assert switches(kept.keeper) == before
    assert kept.keeper.cpu_times()[:2] == cpu


def test_a_keeper_whose_run_is_far_from_its_limits_sleeps(kept):
    before = switches(kept.keeper)
    assert kept.run("sleep", "0.5", wall=100, cpu=100, memory=8e9).code == 0
    assert switches(kept.keeper) - before < 30


def test_runs_leave_no_open_file_behind(kept):
    kept.run("/bin/true")
    ours, before = len(os.listdir("/proc/self/fd")), kept.keeper.num_fds()
    for _ in range(10):
        kept.start("/bin/true")
        kept.start("no-such-program-xyz")
        kept.start("cat", given=b"x")
        kept.start("/bin/sh", "-c", "exec >&-; exit 1")
        kept.start("sleep", "1000", wall=0.001)
    assert kept.keeper.num_fds() == before
    assert len(os.listdir("/proc/self/fd")) <= ours


def test_a_run_writes_no_file(kept, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    outcome = kept.python("print('x' * 3_000_000); raise SystemExit(1)")
    assert outcome.code == 1
    assert os.listdir(tmp_path) == []


# Two runs at a time, and runs that are interrupted.


def test_two_jobs_do_not_disturb_each_other(kept):
    kept.supervised.close()
    both = Kept(kept.folder, kept.mark, 2)
    with ThreadPoolExecutor(2) as pool:
        waiting = "until [ -e wild ]; do sleep 0.02; done & wait; echo calm"
        calm = pool.submit(both.start, "/bin/sh", "-c", waiting, wall=PATIENCE)
        wild = [pool.submit(both.start, *PYTHON, DAEMON, wall=PATIENCE) for _ in range(3)]
        assert [future.result().left_behind for future in wild] == [1, 1, 1]
        assert not calm.done()
        Path(kept.folder, "wild").touch()
        outcome = calm.result()
    assert (outcome.limit, outcome.code, outcome.output) == ("", 0, b"calm\n")
    assert outcome.left_behind == 0
    both.supervised.close()
    assert both.left() == []


def test_closing_ends_a_run_at_once(kept):
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(kept.start, *PYTHON, DAEMON + "time.sleep(1000)")
        assert eventually(lambda: is_ready(kept.folder))
        kept.supervised.close()
        assert kept.left() == []
        with pytest.raises(TargetError, match="the run was ended"):
            run.result(timeout=PATIENCE)


ONCE = f"""
import os, sys
if os.path.exists("again"):
    sys.exit(3)
open("again", "w").close()
{DAEMON}
time.sleep(1000)
"""


def test_a_run_whose_keeper_is_killed_is_ended_and_made_again(kept):
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(kept.start, *PYTHON, ONCE)
        assert eventually(lambda: is_ready(kept.folder))
        os.kill(kept.keeper.pid, signal.SIGKILL)
        assert run.result(timeout=PATIENCE).code == 3
    assert eventually(lambda: kept.left() == [], 5.0)
    assert kept.start("/bin/sh", "-c", "exit 4").code == 4


def test_a_keeper_leaves_signals_to_paramhs(kept):
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(kept.start, "/bin/sh", "-c", "sleep 0.5; exit 5")
        for _ in range(20):
            os.kill(kept.keeper.pid, signal.SIGTERM)
            os.kill(kept.keeper.pid, signal.SIGINT)
            time.sleep(0.01)
        assert run.result(timeout=PATIENCE).code == 5
    assert kept.left() == []


# What a run does to its keeper, and to the keeper's own keeper.

KILLED = (
    "the process that supervises the run was killed, in 2 of 2 attempts;"
    " does the target send signals to its parent?"
)
STOPPED = KILLED.replace("killed", "stopped")


@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "TERM", "USR1", "ALRM", "TSTP", "RTMIN"])
def test_a_keeper_survives_the_signals_of_its_run(kept, name):
    before = kept.keeper.pid
    number = int(getattr(signal, f"SIG{name}"))
    outcome = kept.sh(f"kill -{number} $PPID; sleep 0.1; exit 5")
    assert (outcome.code, outcome.trouble) == (5, "")
    assert kept.keeper.pid == before


def test_a_run_that_kills_its_keeper_has_failed_and_leaves_no_process(kept):
    outcome = kept.sh("sleep 1000 & kill -9 $PPID; sleep 1000")
    assert (outcome.trouble, outcome.code) == (KILLED, None)
    assert kept.sh("exit 4").code == 4


LAST_WORDS = """
import os, signal, sys, time
pid = os.getppid()
for _ in range({}):
    pid = int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
name = open(f"/proc/{{pid}}/comm").read().strip()
assert name.startswith("run-"), name
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        break
with open("pids", "a") as file:
    file.write(f"{{os.getpid()}} ")
if {}:
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c",
        f"import os, time; os.kill({{pid}}, {}); time.sleep(1000)"], {{}})
os.kill(pid, {})
time.sleep(1000)
"""


def last_words(generations: int, number: int, bare: bool = True) -> str:
    """A program of three sessions that signals an ancestor; bare: without any environment."""
    return LAST_WORDS.format(generations, bare, int(number), int(number))


def alive(folder: Path) -> list[int]:
    pids = [psutil.Process(int(w)) for w in (folder / "pids").read_text().split() if is_alive(w)]
    return [process.pid for process in pids if not is_gone(process)]


def is_alive(word: str) -> bool:
    return psutil.pid_exists(int(word))


def test_a_run_without_environment_that_kills_its_keeper_leaves_no_process(kept, tmp_path):
    outcome = kept.python(last_words(0, signal.SIGKILL))
    assert outcome.trouble == KILLED
    assert alive(tmp_path) == []
    assert kept.sh("exit 4").code == 4


def test_a_run_that_kills_the_warden_leaves_no_process(kept, tmp_path):
    outcome = kept.python(last_words(1, signal.SIGKILL))
    assert outcome.trouble == KILLED
    assert eventually(lambda: alive(tmp_path) == [])
    assert kept.sh("exit 4").code == 4


@pytest.fixture
def impatient(monkeypatch):
    """A process that is stopped is so at once, and stays so: no busy machine is mistaken for it."""
    monkeypatch.setattr(warden, "_MAX_STOPPED_SECONDS", 0.2)
    monkeypatch.setattr(line, "_MAX_STOPPED_SECONDS", 0.2)
    monkeypatch.setattr(line, "_POLL_SECONDS", 0.25)


def test_a_run_that_stops_its_keeper_switches_no_limit_off(impatient, kept, tmp_path):
    outcome = kept.python(last_words(0, signal.SIGSTOP), wall=1.0)
    assert outcome.trouble == STOPPED
    assert alive(tmp_path) == []
    assert kept.sh("exit 4").code == 4


def test_a_run_that_stops_the_keeper_of_its_keeper_changes_nothing(kept, tmp_path):
    outcome = kept.python(last_words(1, signal.SIGSTOP), wall=1.0, grace=0.1)
    assert (outcome.limit, outcome.trouble) == ("wall", "")
    assert alive(tmp_path) == []
    kept.supervised.close()
    assert kept.left() == []


def test_a_run_that_stops_both_switches_no_limit_off(impatient, kept):
    assert kept.python(STOP_BOTH, wall=1.0).trouble == STOPPED


STOPPED_LIFE = """
import os, sys
from tests.support.keepers import PYTHON, Kept
from tests.support.keepers import STOP_BOTH
Kept(os.getcwd(), sys.argv[1]).start(*PYTHON, STOP_BOTH)
"""


def test_all_is_gone_after_paramhs_is_killed_though_its_keepers_are_stopped(
    kept, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with child(STOPPED_LIFE, kept.mark, **{MARK: ""}) as process:
        assert eventually(lambda: is_ready(tmp_path))
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) == 3
        os.kill(process.pid, signal.SIGKILL)
        assert eventually(lambda: all(map(is_gone, family)) and not kept.left())


def test_a_keeper_that_dies_while_it_has_nothing_to_do_costs_no_run(kept):
    for _ in range(3):
        kept.keeper.kill()
        assert kept.sh("exit 4").code == 4


class Deaf(Bare):
    """A target whose keepers neither answer nor hear that paramhs waits no more."""

    def job(self):
        return self

    def begin(self, keeper):
        pass

    def run(self, first, second, limits=None):
        if limits is None:
            return second(*first)
        subprocess.Popen(["sleep", "1000"])
        while True:
            time.sleep(1000)


def test_a_keeper_that_does_not_answer_is_replaced_and_its_run_has_failed(monkeypatch):
    monkeypatch.setattr(line, "_ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(line, "_END_SECONDS", 0.5)
    supervised = Supervised(Deaf(), 1)
    family = [psutil.Process(supervised._all[0].warden), psutil.Process(supervised._all[0].keeper)]
    outcome = supervised(Request(None, Limits(wall=0.1, grace=0.1)))
    assert outcome.trouble == KILLED.replace("was killed", "did not answer in time")
    assert eventually(lambda: all(map(is_gone, family)))
    supervised.close()


def test_an_answer_to_another_request_is_no_answer(kept):
    keeper = kept.supervised.take()
    send_message(keeper._line, (7, Command(("/bin/echo", "old"), "/"), Limits()))
    with pytest.raises(line.Lost):
        keeper.ask(Command(("/bin/echo", "new"), "/"), Limits())


# A stop of everything does not count as time.

PAUSED = """
import json, os, sys
from tests.support.keepers import Kept
kept = Kept(os.getcwd(), sys.argv[1], 1)
script = "touch begun; until [ -e go ]; do sleep 0.01; done; exit 5"
outcome = kept.start("/bin/sh", "-c", script, wall=float(sys.argv[2]))
print(json.dumps([outcome.limit, outcome.code, outcome.wall]))
"""


def test_a_stop_of_everything_is_not_counted(kept, tmp_path):
    """In whichever order: paramhs first, or its run."""
    limit, pause = 8.0, 9.0  # generous: all that is not the pause must fit within the limit
    folders = [tmp_path / "paramhs first", tmp_path / "the run first"]
    with contextlib.ExitStack() as stack:
        families = []
        processes = [stack.enter_context(paused(folder, kept.mark, limit)) for folder in folders]
        for process, order in zip(processes, (1, -1), strict=True):
            family = [process.pid, *(p.pid for p in offspring(process.pid))][::order]
            families += family
            for pid in family:
                send(pid, signal.SIGSTOP)
        time.sleep(pause)
        for pid in families:
            send(pid, signal.SIGCONT)
        for folder, process in zip(folders, processes, strict=True):
            (folder / "go").touch()
            out, err = process.communicate(timeout=PATIENCE)
            reached, code, wall = json.loads(out)
            assert (reached, code) == ("", 5), err
            assert wall < limit


@contextlib.contextmanager
def paused(folder, mark, limit):
    """A child whose run has begun, and goes on only when it is told to."""
    folder.mkdir()
    with contextlib.chdir(folder), child(PAUSED, mark, limit, **{MARK: ""}) as process:
        assert eventually((folder / "begun").exists, PATIENCE)
        yield process


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # a sleep that has ended meanwhile
        os.kill(pid, number)


def test_a_stopwatch_counts_a_stop_as_one_step(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: now[0])
    watch = stopwatch.Stopwatch(0.1)

    def later(seconds: float) -> float:
        now[0] += seconds
        return watch.look()

    assert later(0.05) == pytest.approx(0.05)
    assert later(0.9) == pytest.approx(0.95)  # a busy machine
    assert later(3600.0) == pytest.approx(1.05)  # much too long: an unreported stop
    stopwatch.note_continued(signal.SIGCONT, None)
    assert later(0.5) == pytest.approx(1.15)
    stopwatch.note_continued(signal.SIGCONT, None)
    assert later(0.03) == pytest.approx(1.18)  # a flood of SIGCONT stops no watch


FLOOD = "import os\nwhile True: os.kill(os.getppid(), 18)"


def test_a_run_that_tells_its_keeper_to_continue_gains_no_time(kept):
    assert kept.python(FLOOD, wall=0.5, grace=0.1).limit == "wall"


LIFE = """
import os, sys
from tests.support.keepers import PYTHON, Kept
from tests.support.keepers import DAEMON
kept = Kept(os.getcwd(), sys.argv[1], 2)
kept.start(*PYTHON, DAEMON + "time.sleep(1000)")
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_all_is_gone_soon_after_paramhs_is_killed(kept, number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with child(LIFE, kept.mark, **{MARK: ""}) as process:
        assert eventually(lambda: is_ready(tmp_path))
        assert len(kept.left()) == 2
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) == 6  # two keepers with their wardens, the program, what it left
        os.kill(process.pid, number)
        assert eventually(lambda: all(map(is_gone, family)) and not kept.left())


CTRL_C = """
import json, os, signal, sys
from tests.support.keepers import Kept
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append("INT"))
kept = Kept(os.getcwd(), sys.argv[1])
script = "trap 'echo INT' INT; touch begun; until [ -e go ]; do sleep 0.01; done; echo end"
outcome = kept.start("/bin/sh", "-c", script)
print(json.dumps([heard, outcome.code, outcome.output.decode().split()]))
"""


def test_ctrl_c_in_the_terminal_does_not_reach_the_run(kept, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with child(CTRL_C, kept.mark, **{MARK: ""}) as process:
        assert eventually((tmp_path / "begun").exists)
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.1)
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=PATIENCE)
    assert json.loads(out) == [["INT"], 0, ["end"]], err


def test_what_ctrl_c_does_to_a_program_is_left_to_it(kept):
    code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert kept.python(code).output == b"True\n"


def test_there_is_a_keeper_for_every_thread(kept):
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(pool.map(lambda k: kept.start("/bin/sh", "-c", f"exit {k}"), range(12)))
    assert [outcome.code for outcome in outcomes] == list(range(12))
    assert threading.active_count() < 10


def test_limits_hold_where_linux_lists_no_children(tmp_path, monkeypatch):
    monkeypatch.setattr("paramhs.execution.supervisor.tree._children", lambda pid: None)
    kept = Kept(str(tmp_path), f"{os.getpid()} unlisted")
    try:
        outcome = kept.sh("trap '' TERM; while :; do :; done", cpu=0.2, grace=0.1)
        assert (outcome.limit, outcome.code) == ("cpu", -signal.SIGKILL)
    finally:
        kept.supervised.close()


def test_grace_is_for_all_processes_of_a_run(kept):
    # The shell dies of SIGTERM at once; what it has started takes a moment to say its answer.
    inner = (
        "import signal, time; signal.signal(15, lambda *_: (time.sleep(0.2), print(42), exit()))"
    )
    script = f"{sys.executable} -I -S -c '{inner}\ntime.sleep(1000)'; true"
    outcome = kept.sh(script, wall=1.0, grace=20.0)
    assert (outcome.limit, outcome.output) == ("wall", b"42\n")


def test_many_open_files_are_no_trouble(kept_elsewhere):
    assert kept_elsewhere.sh("setsid sleep 100 & exit 7").code == 7


@pytest.fixture
def kept_elsewhere(tmp_path):
    """A keeper whose files have numbers beyond what select can take."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit[1] < 2048:
        pytest.skip("this many files may not be opened here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, limit[1]))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    kept = Kept(str(tmp_path), f"{os.getpid()} crowded")
    yield kept
    kept.supervised.close()
    for number in opened:
        os.close(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)
