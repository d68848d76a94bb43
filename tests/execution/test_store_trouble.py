import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import Budget, tune
from paramhs.core.errors import StoreError
from paramhs.core.runs import Run
from paramhs.execution.storage import sqlite
from paramhs.execution.storage.sqlite import read_runs
from paramhs.execution.storage.stats import summary
from tests.support.children import child, output
from tests.support.scale import examples
from tests.support.stores import SCENARIO, SPACE, contents, filled, opened, rows, run_of

NOBODY = 65534


def refusal(path: Path, description: object = SCENARIO) -> str:
    """What is said when a store cannot be opened."""
    with pytest.raises(StoreError) as caught:
        opened(path, description)
    return str(caught.value)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "nowhere" / "runs.sqlite"
    assert refusal(path) == f"cannot make {path}: there is no folder {path.parent}"


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "runs").mkdir()
    assert refusal(tmp_path / "runs") == f"{tmp_path / 'runs'} is a folder; a store is a file"


def test_a_store_that_does_not_exist_cannot_be_read(tmp_path):
    with pytest.raises(StoreError, match="there is no store"):
        summary(tmp_path / "runs.sqlite")
    assert files(tmp_path) == {}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)
        os.chmod(name, 0o755)


def without_rights(act: Callable[[], object]) -> str:
    """What an act says as a user without special rights: a StoreError, or what it returns."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.getuid() == 0:
                os.setuid(NOBODY)
            try:
                printed = f"returned {act()}"
            except StoreError as error:
                printed = f"StoreError: {error}"
            except BaseException as error:
                printed = f"{type(error).__name__}: {error}"
            os.write(writer, printed.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        printed = pipe.read()
    os.waitpid(pid, 0)
    return printed


def test_a_read_only_folder_is_reported(open_folder):
    open_folder.chmod(0o555)
    printed = without_rights(lambda: opened(open_folder / "runs.sqlite"))
    assert printed.startswith(
        f"StoreError: {open_folder / 'runs.sqlite'}: it cannot be used: Permission"
    )


def test_a_store_in_a_read_only_folder_keeps_what_it_has(open_folder):
    path = open_folder / "runs.sqlite"
    expected = filled(path, 20)
    open_folder.chmod(0o555)
    printed = without_rights(lambda: opened(path))
    assert printed.startswith(f"StoreError: {path}: it cannot be used: Permission denied")
    open_folder.chmod(0o755)
    assert contents(path) == set(expected)


def test_a_read_only_file_is_reported_and_keeps_its_content(open_folder):
    path = open_folder / "runs.sqlite"
    expected = filled(path, 20)
    path.chmod(0o444)
    open_folder.chmod(0o777)

    def put() -> None:
        store = opened(path)
        store.put(run_of(20))

    printed = without_rights(put)
    assert printed.startswith(
        f"StoreError: {path}: it cannot be written: the file or its folder is"
    )
    assert contents(path) == set(expected)


def test_a_store_in_a_read_only_folder_is_read_or_said_to_need_rights(open_folder):
    path = open_folder / "runs.sqlite"
    filled(path, 20)
    open_folder.chmod(0o555)
    printed = without_rights(lambda: len(list(read_runs(path, SPACE))))
    assert printed == "returned 20" or ("StoreError" in printed and "read-only" in printed)


def put_until_refused(store: sqlite.SqliteStore, first: int, detail: str) -> tuple[list[Run], str]:
    stored: list[Run] = []
    for k in range(first, first + 100_000):
        try:
            store.put(run_of(k, detail))
        except StoreError as error:
            return stored, str(error)
        stored.append(run_of(k, detail))
    raise AssertionError("it never got full")


def test_a_full_file_is_reported_and_keeps_its_content(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store._db.execute("PRAGMA max_page_count = 40")
    stored, message = put_until_refused(store, 0, "x" * 300)
    assert f"{path}: the disk is full" in message
    assert len(stored) > 20
    assert len(store) == len(stored)
    assert set(store) == set(stored)
    store.close()
    assert contents(path) == set(stored)


def test_a_store_resumes_when_there_is_room_again(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store._db.execute("PRAGMA max_page_count = 20")
    stored, _ = put_until_refused(store, 0, "x" * 300)
    store._db.execute("PRAGMA max_page_count = 1000000")
    for k in range(len(stored), len(stored) + 50):
        store.put(run_of(k))
        stored.append(run_of(k))
    store.close()
    assert contents(path) == set(stored)


def test_a_limit_on_the_size_of_files_is_reported_and_nothing_is_lost(tmp_path):
    path = tmp_path / "runs.sqlite"
    expected = filled(path, 10)
    printed = output(
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from tests.support.stores import opened, run_of\n"
        "from paramhs.core.errors import StoreError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
        "store = opened(Path(sys.argv[1]))\n"
        "try:\n"
        "    for k in range(10, 100_000):\n"
        "        store.put(run_of(k, 'x' * 300))\n"
        "except StoreError as error:\n"
        "    print(k, error)\n",
        path,
    )
    count, message = printed.split(" ", 1)
    assert f"{path}: the disk cannot be written or read" in message
    more = {run_of(k, "x" * 300) for k in range(10, int(count))}
    assert more
    assert contents(path) == set(expected) | more


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 300 kB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("this user cannot mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


TUNE_UNTIL_FULL = """
import sys
from paramhs import tune
from paramhs.core.errors import StoreError
from tests.support.targets import SPACE, noisy
try:
    result = tune(noisy, SPACE, budget=3_000, store=sys.argv[1])
    print("done", [(p.config.key, p.runs) for p in result.trajectory])
except StoreError as error:
    print("StoreError", error)
"""


def test_a_search_stopped_by_a_full_disk_resumes_when_there_is_room(small_disk, tmp_path):
    path = small_disk / "runs.sqlite"
    printed = output(TUNE_UNTIL_FULL, path)
    assert printed.startswith("StoreError")
    assert str(path) in printed
    assert "the disk is full" in printed or "the disk cannot be written" in printed
    subprocess.run(["mount", "-o", "remount,size=30m", str(small_disk)], check=True)
    before = rows(path)
    assert before
    assert output(TUNE_UNTIL_FULL, path) == output(TUNE_UNTIL_FULL, tmp_path / "other.sqlite")
    assert rows(path) >= before


def test_a_disk_that_is_full_at_the_start_leaves_no_lock_behind(small_disk):
    path = small_disk / "runs.sqlite"
    filler = small_disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    message = refusal(path)
    assert str(path) in message
    assert "No space left" in message or "disk is full" in message
    filler.unlink()
    opened(path).close()


@pytest.mark.parametrize("text", ["hello", "a,b\n1,2\n" * 1000])
def test_a_text_file_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    assert f"{path}: it is not an SQLite file" in refusal(path)
    assert files(tmp_path) == {"notes.txt": text.encode()}


def test_a_truncated_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "runs.sqlite"
    filled(path, 500)
    half = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(half)
    assert f"{path}: the file is damaged" in refusal(path)
    assert files(tmp_path) == {"runs.sqlite": half}


def test_the_message_about_a_damaged_file_does_not_call_its_runs_safe(tmp_path):
    path = tmp_path / "runs.sqlite"
    filled(path, 500)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "safe" not in refusal(path)


@pytest.fixture(scope="module")
def sound_file(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "runs.sqlite"
    filled(path, 300, "detail")
    return path.read_bytes()


def use(path: Path) -> None:
    """Everything that a search does with a store."""
    store = opened(path)
    try:
        for k in range(301):
            store.get(run_of(k).task)
        list(store)
        summary(path)
        store.put(run_of(301))
    finally:
        with suppress(StoreError):
            store.close()


@examples(120)
@given(
    st.floats(0, 1),
    st.binary(min_size=1, max_size=64) | st.sampled_from([bytes(4096), b"\xff" * 1024]),
)
def test_a_store_overwritten_anywhere_gives_a_store_error_or_works(sound_file, where, bytes_):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        start = int(where * (len(sound_file) - len(bytes_)))
        path.write_bytes(sound_file[:start] + bytes_ + sound_file[start + len(bytes_) :])
        with suppress(StoreError):
            use(path)


def test_a_word_in_place_of_a_number_is_damage(tmp_path):
    path = tmp_path / "runs.sqlite"
    filled(path, 3, "detail")
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE runs SET asked = 'detail'")
        db.commit()
    with pytest.raises(StoreError, match="the file is damaged"):
        opened(path)


def test_pages_lost_in_the_middle_are_reported(tmp_path, sound_file):
    path = tmp_path / "runs.sqlite"
    pages = len(sound_file) // 4096
    path.write_bytes(sound_file[: 4096 * 2] + b"\xff" * 4096 * (pages - 2))
    with pytest.raises(StoreError, match="the file is damaged"):
        use(path)


def test_a_foreign_sqlite_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "browser.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE runs (a); INSERT INTO runs VALUES (1);")
    before = files(tmp_path)
    assert refusal(path) == f"{path} is an SQLite file of another program, not a store of paramhs"
    assert files(tmp_path) == before
    with pytest.raises(StoreError, match="of another program"):
        summary(path)


def test_a_store_of_a_later_version_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "runs.sqlite"
    filled(path, 5)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    before = files(tmp_path)
    message = f"{path} has version 99 of the store's format; this paramhs reads"
    assert refusal(path).startswith(message)
    assert files(tmp_path) == before


def test_a_killed_creation_leaves_a_file_that_can_be_used(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.touch()
    store = opened(path)
    store.put(run_of(0))
    store.close()
    assert contents(path) == {run_of(0)}


def journal_mode(store: sqlite.SqliteStore) -> str:
    return store._db.execute("PRAGMA journal_mode").fetchone()[0]


def test_a_local_store_is_in_write_ahead_mode(tmp_path):
    store = opened(tmp_path / "runs.sqlite")
    assert journal_mode(store) == "wal"
    assert store.notices == []
    store.close()


def test_a_store_on_a_network_file_system_works_with_a_notice(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "file_system", lambda path: "nfs")
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    (notice,) = store.notices
    assert f"{path} lies on a network file system (nfs)" in notice
    assert journal_mode(store) != "wal"
    store.put(run_of(0))
    store.close()
    assert contents(path) == {run_of(0)}


def test_a_store_that_moved_to_a_network_file_system_leaves_write_ahead_mode(tmp_path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    expected = filled(path, 20)
    monkeypatch.setattr(sqlite, "file_system", lambda path: "nfs")
    store = opened(path)
    assert journal_mode(store) != "wal"
    assert set(store) == set(expected)
    store.close()


def test_the_file_system_of_a_small_disk_is_tmpfs(small_disk):
    assert sqlite.file_system(small_disk / "runs.sqlite") == "tmpfs"


HOLD = """
import sys, time
from pathlib import Path
from tests.support.stores import opened, run_of
store = opened(Path(sys.argv[1]))
store.put(run_of(0))
print("open", flush=True)
time.sleep(1000)
"""


def test_a_second_process_learns_which_process_holds_the_store(tmp_path):
    path = tmp_path / "runs.sqlite"
    with child(HOLD, path) as process:
        assert process.stdout.readline() == "open\n"
        message = refusal(path)
        assert f"{path} is in use by process {process.pid} on {socket.gethostname()}" in message
        assert set(read_runs(path, SPACE)) == {run_of(0)}


def test_the_lock_is_free_after_its_holder_is_killed(tmp_path):
    path = tmp_path / "runs.sqlite"
    with child(HOLD, path) as process:
        assert process.stdout.readline() == "open\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert contents(path) == {run_of(0)}


def test_a_store_is_not_opened_twice_in_one_process(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    assert f"in use by process {os.getpid()}" in refusal(path)
    store.close()
    opened(path).close()


def test_a_refused_store_is_not_locked(tmp_path):
    path = tmp_path / "runs.sqlite"
    expected = filled(path, 3)
    refusal(path, {**SCENARIO, "seed": 1})
    assert contents(path) == set(expected)


def distance(config):
    return abs(config["x"] - 3)


def distance_with_instance(config, instance):
    return abs(config["x"] - 3)


BEFORE = {
    "function": distance_with_instance,
    "space": {"x": range(10), "y": ["a", "b"]},
    "instances": ["one", "two"],
    "seed": 0,
    "budget": 10,
}


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"seed": 5}, ["seed: stored 0, now 5"]),
        ({"cost": "maximise"}, ["scenario.cost.maximise: stored False, now True"]),
        ({"cutoff": 5.0, "executor": "inline"}, ["scenario.cutoff: stored None, now 5.0"]),
        ({"deterministic": False}, ["scenario.deterministic: stored True, now False"]),
        ({"instances": ["one", "three"]}, ["instances: 'two' is gone", "'three' is new"]),
        ({"instances": ["two", "one"]}, ["instances: the order or the count changed"]),
        ({"configurator": "paramils"}, ["configurator.kind: stored 'ParamHS', now 'ParamILS'"]),
        ({"instances": {"one": 1, "two": 2}}, ["instance_values: not stored, now"]),
        ({"configurator": "random"}, ["configurator.operator.kind: stored 'Learned'"]),
        ({"space": {"x": range(11), "y": ["a", "b"]}}, ["parameters.x.high: stored 9, now 10"]),
        ({"space": {"x": range(10)}}, ["parameters.y: stored", "now missing"]),
        ({"space": {"x": range(10), "y": ["a", "c"]}}, ["values: 'b' is gone", "'c' is new"]),
        (
            {"function": distance},
            ["target.function: stored", "now 'tests.execution.test_store_trouble:distance'"],
        ),
    ],
)
def test_a_changed_scenario_is_refused_with_the_difference(tmp_path, change, lines):
    path = tmp_path / "runs.sqlite"
    tune(**BEFORE, store=path)
    before = rows(path)
    with pytest.raises(StoreError) as caught:
        tune(**{**BEFORE, **change}, store=path)
    message = str(caught.value)
    assert message.startswith(f"{path} holds runs of another scenario; the difference is\n")
    for line in lines:
        assert line in message
    assert rows(path) == before


@pytest.mark.parametrize(
    "change",
    [
        {"budget": 15},
        {"budget": 5},
        {"budget": Budget(wall_time=0.05)},
        {"jobs": 2},
        {"executor": "threads"},
    ],
)
def test_budget_and_workers_are_no_change_of_scenario(tmp_path, change):
    path = tmp_path / "runs.sqlite"
    tune(**BEFORE, store=path)
    before = rows(path)
    tune(**{**BEFORE, **change}, store=path)
    assert rows(path) >= before


def test_a_categorical_value_that_changed_its_type_is_a_change_of_scenario(tmp_path):
    path = tmp_path / "runs.sqlite"
    tune(len, {"mode": ["a", 0]}, budget=2, store=path)
    with pytest.raises(StoreError, match="another scenario"):
        tune(len, {"mode": ["a", False]}, budget=2, store=path)
