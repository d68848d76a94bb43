import os
import signal
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from paramhs.core.errors import StoreError
from paramhs.core.runs import Instance, Point, Run, Status, Task, answer
from paramhs.execution.storage import MemoryStore, open_store
from paramhs.execution.storage.diff import differences
from paramhs.execution.storage.sqlite import SqliteStore, read_runs
from paramhs.execution.storage.stats import summary
from tests.support.scale import examples
from tests.support.stores import CONFIGS, SCENARIO, SPACE, contents, filled, opened, rows, run_of

tasks = st.builds(
    Task,
    st.sampled_from(CONFIGS),
    st.sampled_from(["-", "", "a b", "ü\n'\"", "x\x00y"]).map(Instance),
    st.integers(0, 3) | st.just(2**31 - 1),
    st.sampled_from([1.5, float("inf")]),
)
runs = st.builds(
    Run,
    tasks,
    st.sampled_from(Status),
    st.floats(0, 1e9),
    st.none() | st.floats(allow_nan=False),
    st.text(max_size=20),
    others=st.lists(st.floats(allow_nan=False), max_size=2).map(tuple),
)
points = st.builds(
    Point,
    st.sampled_from(CONFIGS),
    st.integers(0, 10**9),
    st.floats(0, 1e9),
    st.none() | st.floats(allow_nan=False),
    st.integers(0, 100),
)


class _StoreAgainstDict(RuleBasedStateMachine):
    """What every store must do; a dictionary says what that is."""

    def __init__(self):
        super().__init__()
        self.model: dict[Task, Run] = {}

    @rule(run=runs)
    def put(self, run):
        self.store.put(run)
        self.model.setdefault(run.task, run)  # the first answer stays

    @rule(run=runs)
    def put_another_answer(self, run):
        for task in list(self.model)[:1]:
            self.store.put(run._replace(task=task))

    @rule(task=tasks)
    def get(self, task):
        assert self.store.get(task) == self.expected(task)

    def expected(self, task):
        """Several cutoffs: the answer is that of the smallest that has one."""
        same = sorted((t for t in self.model if t.call == task.call), key=lambda t: t.cutoff)
        answers = (answer(self.model[t], task) for t in same)
        return next((found for found in answers if found is not None), None)

    @rule(some=st.lists(tasks, max_size=3), data=st.data())
    def forget(self, some, data):
        if self.model:
            some.append(data.draw(st.sampled_from(list(self.model))))
        self.store.forget(iter(some))
        for task in some:
            self.model.pop(task, None)

    @rule(point=points)
    def record(self, point):
        self.store.record(0, point)

    @invariant()
    def it_counts_what_the_dict_counts(self):
        assert len(self.store) == len(self.model)

    @rule()
    def it_lists_what_the_dict_lists(self):
        listed = list(self.store)
        assert len(listed) == len(self.model)
        assert set(listed) == set(self.model.values())

    @rule()
    def it_has_all_that_the_dict_has(self):
        for task in self.model:
            assert self.store.get(task) == self.expected(task)

    def teardown(self):
        self.store.close()


class MemoryAgainstDict(_StoreAgainstDict):
    def __init__(self):
        super().__init__()
        self.store = MemoryStore()


class SqliteAgainstDict(_StoreAgainstDict):
    """Besides, it is closed and opened, and killed."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "runs.sqlite"
        self.points: dict[int, Point] = {}
        self.store = opened(self.path)

    @rule(point=points)
    def record(self, point):
        self.store.record(len(self.points), point)
        self.points[len(self.points)] = point

    @rule()
    def reopen(self):
        self.store.close()
        self.store = opened(self.path)

    @rule(some=st.lists(runs, max_size=4))
    def another_process_puts_and_is_killed(self, some):
        self.store.close()
        pid = os.fork()
        if pid == 0:
            try:
                store = opened(self.path)
                for run in some:
                    store.put(run)
                os.kill(os.getpid(), signal.SIGKILL)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        for run in some:
            self.model.setdefault(run.task, run)
        self.store = opened(self.path)

    @rule()
    def the_file_has_the_trajectory(self):
        with closing(sqlite3.connect(self.path)) as db:
            found = db.execute(
                "SELECT position, key, runs, target_time, cost, evidence"
                " FROM trajectory JOIN configs ON configs.id = config"
            ).fetchall()
        expected = [(at, point.config.key, *point[1:]) for at, point in self.points.items()]
        assert sorted(found) == sorted(expected)

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


TestMemoryStoreActsAsADict = MemoryAgainstDict.TestCase
TestMemoryStoreActsAsADict.settings = examples(25, stateful_step_count=30)
TestSqliteStoreActsAsADict = SqliteAgainstDict.TestCase
TestSqliteStoreActsAsADict.settings = examples(20, stateful_step_count=25)


def test_without_a_path_the_store_is_in_memory():
    assert isinstance(open_store(None, SPACE, SCENARIO), MemoryStore)


def test_with_a_path_the_store_is_a_file(tmp_path):
    store = open_store(str(tmp_path / "runs"), SPACE, SCENARIO)
    assert isinstance(store, SqliteStore)
    store.close()
    assert (tmp_path / "runs").exists()


def test_a_closed_store_leaves_one_file_behind(tmp_path):
    filled(tmp_path / "runs.sqlite", 10)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.sqlite"]


def test_a_closed_store_can_still_be_listed(tmp_path):
    expected = filled(tmp_path / "runs.sqlite", 10)
    store = opened(tmp_path / "runs.sqlite")
    store.close()
    assert set(store) == set(expected)


def test_a_closed_store_can_still_be_counted(tmp_path):
    filled(tmp_path / "runs.sqlite", 10)
    store = opened(tmp_path / "runs.sqlite")
    store.close()
    assert len(store) == 10


def test_closing_twice_does_not_take_the_lock_from_the_next_writer(tmp_path):
    path = tmp_path / "runs.sqlite"
    first = opened(path)
    first.close()
    second = opened(path)
    with suppress(OSError, StoreError):
        first.close()
    assert (tmp_path / "runs.sqlite.lock").exists()
    second.close()


def test_runs_can_be_read_while_the_store_is_written(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    for k in range(20):
        store.put(run_of(k))
        assert set(read_runs(path, SPACE)) == {run_of(i) for i in range(k + 1)}
    store.close()


def test_the_sqlite3_module_reads_while_the_store_grows(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    with closing(sqlite3.connect(path)) as reader:
        for k in range(20):
            store.put(run_of(k))
            assert reader.execute("SELECT count(*) FROM runs").fetchone() == (k + 1,)
    store.close()


def test_a_reader_in_the_middle_of_reading_does_not_stop_the_writer(tmp_path):
    path = tmp_path / "runs.sqlite"
    filled(path, 500)
    store = opened(path)
    with closing(sqlite3.connect(path)) as reader:
        cursor = reader.execute("SELECT * FROM readable")
        cursor.fetchone()
        store.put(run_of(500))
        assert len(cursor.fetchall()) == 499
    assert len(store) == 501
    store.close()


def test_readable_shows_a_run_in_words(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    task = Task(SPACE.config(k=3, mode="two words"), Instance("easy.cnf"), 7, 2.5)
    store.put(Run(task, Status.TIMEOUT, 2.5, None, "stopped"))
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        (row,) = db.execute("SELECT * FROM readable")
        shown = dict(row)
    store.close()
    assert shown.pop("finished").startswith("20")
    assert shown == {
        "record": "search",
        "config": 'k=3 mode="two words"',
        "instance": "easy.cnf",
        "seed": 7,
        "cutoff": 2.5,
        "status": "timeout",
        "runtime": 2.5,
        "quality": None,
        "detail": "stopped",
        "answer": None,
        "others": None,
        "asked": None,
        "session": 1,
    }


def test_each_opening_that_stores_runs_is_a_session(tmp_path):
    path = tmp_path / "runs.sqlite"
    for k in range(3):
        store = opened(path)
        store.put(run_of(k))
        store.close()
        opened(path).close()
    assert sorted(row[8] for row in rows(path)) == [1, 2, 3]


def test_wall_time_is_the_sum_over_sessions_up_to_their_last_run(tmp_path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    clock = iter([1000.0, 1003.0, 1005.0, 2000.0, 2002.0, 9000.0, 9999.0])
    ours = SimpleNamespace(monotonic=lambda: next(clock), time=time.time)
    monkeypatch.setattr("paramhs.execution.storage.sqlite.time", ours)
    store = opened(path)
    assert store.wall_time == 0
    store.put(run_of(0))
    store.put(run_of(1))
    store.close()
    store = opened(path)
    assert store.wall_time == 5
    store.put(run_of(2))
    store.close()
    store = opened(path)
    assert store.wall_time == 7
    store.close()


@pytest.mark.parametrize("jump", [-1e9, 1e9])
def test_a_clock_that_is_set_changes_no_wall_time(tmp_path, monkeypatch, jump):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store.put(run_of(0))
    real = time.time
    monkeypatch.setattr("paramhs.execution.storage.sqlite.time.time", lambda: real() + jump)
    store.put(run_of(1))
    store.close()
    store = opened(path)
    assert 0 <= store.wall_time < 1000
    store.close()


def test_a_store_keeps_as_which_run_the_search_asked_for_it(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store.put(run_of(0), asked=0)
    store.put(run_of(1))
    assert store.get(run_of(1).task, asked=1) == run_of(1)
    store.put(run_of(2), asked=2)
    store.close()
    store = opened(path)
    for k in range(3):
        assert store.get(run_of(k).task, asked=k) == run_of(k)
    assert store.get(run_of(3).task, asked=3) is None
    store.close()


@pytest.mark.parametrize("task", [run_of(1).task, run_of(9).task], ids=["stored", "new"])
def test_a_diverging_replay_names_the_run(tmp_path, task):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    for k in range(4):
        store.put(run_of(k), asked=k)
    store.close()
    store = opened(path)
    assert store.get(run_of(0).task, asked=0) == run_of(0)
    with pytest.raises(StoreError, match=r"a different search: at run 3 it had") as caught:
        store.get(task, asked=2)
    store.close()
    for run in (run_of(2), Run(task, Status.OK, 0.0)):
        assert f"{run.task.config.key} on {run.task.instance.name}" in str(caught.value)
    assert "warm_start" in str(caught.value)


def test_a_run_that_was_killed_before_it_was_stored_is_no_other_way(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store.put(run_of(0), asked=0)
    store.put(run_of(2), asked=2)
    store.close()
    store = opened(path)
    assert store.get(run_of(1).task, asked=1) is None
    assert store.get(run_of(2).task, asked=2) == run_of(2)
    store.close()


def test_asking_again_for_the_same_run_is_no_other_way(tmp_path):
    path = tmp_path / "runs.sqlite"
    for _ in range(2):
        store = opened(path)
        for position in range(3):
            if store.get(run_of(0).task, asked=position) is None:
                store.put(run_of(0), asked=position)
        store.close()


def test_another_incumbent_is_another_way_and_names_the_version(tmp_path, monkeypatch):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store.record(0, Point(CONFIGS[0], 3, 1.5, 2.0, 3))
    store.close()
    monkeypatch.setattr("paramhs.execution.storage.sqlite.__version__", "99.1")
    store = opened(path)
    store.record(0, Point(CONFIGS[0], 3, 9.5, 9.0, 3))
    with pytest.raises(StoreError, match=r"with paramhs .* \(this is 99.1\): at incumbent 1"):
        store.record(0, Point(CONFIGS[1], 3, 1.5, 2.0, 3))
    store.close()


@pytest.mark.parametrize("replace", [False, True])
def test_a_store_that_is_deleted_while_it_is_written_is_noticed_and_saved(
    tmp_path, replace, monkeypatch
):
    monkeypatch.setattr("paramhs.execution.storage.sqlite._CHECK_SECONDS", 0.0)
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    for k in range(3):
        store.put(run_of(k))
    path.unlink()
    if replace:
        path.write_text("something else")
    with pytest.raises(StoreError, match=r"deleted or replaced .* saved as .*runs.rescued.sqlite"):
        store.put(run_of(3))
    store.close()
    assert contents(tmp_path / "runs.rescued.sqlite") == {run_of(k) for k in range(3)}


def test_summary_tells_what_is_in_the_file(tmp_path):
    path = tmp_path / "runs.sqlite"
    filled(path, 30)
    store = opened(path)
    store.put(run_of(30)._replace(status=Status.CRASHED, quality=None), 30)
    store.record(0, Point(CONFIGS[0], 3, 1.5, 2.0, 3))
    store.close()
    about = summary(path)
    assert about["runs"] == 31
    assert about["statuses"] == {"crashed": 1}
    assert about["speculative"] == 30
    assert about["configurations"] == len(CONFIGS)
    assert about["sessions"] == 2
    assert about["scenario"] == SCENARIO
    assert about["trajectory"] == [
        {"config": CONFIGS[0].key, "runs": 3, "target_time": 1.5, "cost": 2.0, "evidence": 3}
    ]


def test_a_detail_that_utf_8_cannot_write_is_stored_all_the_same(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = opened(path)
    store.put(run_of(0, detail="no file caf\udce9.cnf"))
    store.close()
    (run,) = contents(path)
    assert run.detail.startswith("no file caf")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=6,
)


def written(value: object) -> str:
    """The value as a text that differs wherever a type or an order does."""
    return repr(value).replace("-0.0", "0.0")


@examples(133)
@given(json_values, json_values)
def test_values_have_differences_if_and_only_if_they_are_written_differently(stored, now):
    assert bool(differences(stored, now)) == (written(stored) != written(now))


@given(json_values)
def test_a_value_does_not_differ_from_itself(value):
    assert differences(value, value) == []


@pytest.mark.parametrize(
    ("stored", "now", "line"),
    [
        ({"seed": 0}, {"seed": 1}, "seed: stored 0, now 1"),
        ({"a": {"b": 1}}, {"a": {"b": "1"}}, "a.b: stored 1, now '1'"),
        ({"a": 1}, {}, "a: stored 1, now missing"),
        ({}, {"a": 1}, "a: not stored, now 1"),
        ({"a": 0}, {"a": False}, "a: stored 0, now False"),
        ({"l": ["x", "y"]}, {"l": ["y", "z"]}, "l: 'x' is gone"),
        ({"l": ["x", "y"]}, {"l": ["y", "z"]}, "l: 'z' is new"),
        ({"l": ["x", "y"]}, {"l": ["y", "x"]}, "l: the order or the count changed"),
        ({"l": ["x", "x"]}, {"l": ["x"]}, "l: the order or the count changed"),
        ({"l": list("abcdefg")}, {"l": []}, "l: in all 7 gone, 0 new"),
    ],
)
def test_a_difference_is_reported_with_its_place(stored, now, line):
    assert line in differences(stored, now)


def test_a_changed_order_of_parameters_is_a_difference():
    (line,) = differences({"p": {"x": 1, "y": 2}}, {"p": {"y": 2, "x": 1}})
    assert line == "p: the order changed from ['x', 'y'] to ['y', 'x']"


def test_long_values_are_shortened():
    (line,) = differences({"a": "x" * 500}, {"a": 1})
    assert len(line) < 120
