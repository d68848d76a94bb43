"""A search, read from its store alone."""

import pytest

from paramhs.api.tune import tune
from paramhs.api.validate import validate
from paramhs.core.costs import Quality, Runtime, RuntimeThenQuality, cost_of
from paramhs.core.description import description
from paramhs.core.errors import BadInput, StoreError
from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Real, Space
from paramhs.core.space.from_description import space_of
from paramhs.execution.storage.load import read_record
from paramhs.execution.storage.lock import WriterLock, is_held
from paramhs.execution.targets.command.template import Style, Template, command_line_of
from paramhs.procedures.validate import read_verdict_of
from paramhs.search.history import History
from tests.support.command_line import paramhs, scenario
from tests.support.stores import filled

SPACE = Space(
    {
        "x": Real(0.01, 1.0, 33, log=True, default=0.9),
        "size": Integer(1, 1000, log=True, levels=20, default=37),
        "k": Integer(2, 20, 3),
        "mode": Categorical(["a", "two words", 'quo"te', "1"], default="two words"),
        "level": Ordinal([1, 10, 100]),
        "flag": Boolean(default=True),
    },
    conditions={"k": 'mode in {a, "two words"}', "size": "flag == true && level >= 10"},
    forbidden=["k == 5 && x > 0.5", "k * 2 < level && x < 0.02"],
)


def stored_verdict(store, record):
    return read_verdict_of(store, record.scenario, record.default, record.best)


def noisy(config, instance, seed):
    return (config["x"] - 0.3) ** 2 * instance + seed % 97 / 1000


class TestRebuilding:
    def test_a_space_is_rebuilt_from_its_description(self):
        again = space_of(SPACE.describe())
        assert again == SPACE
        assert again.default.key == SPACE.default.key

    @pytest.mark.parametrize(
        "wrong", [{}, {"parameters": {"x": {"type": "odd"}}}, {"parameters": 3}]
    )
    def test_what_describes_no_space_is_refused(self, wrong):
        with pytest.raises(BadInput, match="describe a space"):
            space_of(wrong)

    @pytest.mark.parametrize(
        "metric", [Quality(), Quality(True), Runtime(3.0), RuntimeThenQuality(10.0, True)]
    )
    def test_a_cost_is_rebuilt_from_its_description(self, metric):
        assert cost_of(description(metric)) == metric

    def test_a_cost_of_another_program_is_not_guessed(self):
        with pytest.raises(BadInput, match="only the program"):
            cost_of({"kind": "mine:Cost", "power": 2})

    @pytest.mark.parametrize(
        "style",
        [
            Style("-name value", ("on", "off")),
            Style("--name=value", ("--name", "--no-name")),
            Style(switches={"x": "-x ", "mode": "--mode="}, booleans=("1", "0")),
        ],
    )
    def test_a_command_line_needs_no_target(self, style):
        template = Template("solver {instance} -s {seed} {params}", SPACE, style, whole=True)
        described = {"command": template.text, "style": repr(style)}
        config = SPACE.config(mode='quo"te')
        assert command_line_of(described, config) == template.line(config)
        assert "INSTANCE" in template.line(config)

    def test_a_function_has_no_command_line(self):
        assert command_line_of({"function": "module:name"}, SPACE.default) == ""


class TestReading:
    def test_a_stored_search_is_the_search(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        space = {"x": (0.0, 1.0), "mode": ["a", "b"]}
        how = {"instances": range(1, 9), "test_instances": range(20, 32), "store": store}
        result = tune(noisy, space, budget=150, **how)
        read = read_record(store)
        assert read.scenario.space == result.best.space
        assert tuple(read.trajectory) == result.trajectory
        assert list(read.history.runs) == list(result.runs)
        assert (read.best, read.default) == (result.best, result.default)
        assert read.elapsed[-1] <= read.wall_time
        assert sorted(read.elapsed) == list(read.elapsed)
        assert (read.sessions, read.speculative) == (1, 0)
        assert stored_verdict(store, read) == result.verdict

    def test_sessions_follow_each_other(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        for budget in (20, 60):
            tune(noisy, {"x": (0.0, 1.0)}, instances=range(1, 9), budget=budget, store=store)
        read = read_record(store)
        assert read.sessions == 2
        assert sorted(read.elapsed) == list(read.elapsed)
        assert len(read.elapsed) == len(read.history.runs) >= 50
        assert read.target_time == pytest.approx(sum(run.runtime for run in read.history.runs))

    def test_what_was_known_before_comes_first(self, tmp_path):
        how = {"instances": range(1, 9), "budget": 40}
        old = tune(noisy, {"x": (0.0, 1.0)}, store=tmp_path / "old.sqlite", **how)
        new = tmp_path / "new.sqlite"
        result = tune(
            noisy, {"x": (0.0, 1.0)}, store=new, warm_start=tmp_path / "old.sqlite", **how
        )
        read = read_record(new)
        assert isinstance(read.history, History)
        assert len(read.history.runs) == old.asked + result.asked
        assert list(read.history.runs) == list(result.history.runs)
        assert read.scenario.initial == result.history.scenario.initial

    def test_other_stores_are_refused(self, tmp_path):
        with pytest.raises(StoreError, match="there is no store"):
            read_record(tmp_path / "none.sqlite")
        filled(tmp_path / "odd.sqlite", 3)
        with pytest.raises(StoreError):
            read_record(tmp_path / "odd.sqlite")
        configs, store = [{"x": 0.0}, {"x": 1.0}], tmp_path / "runs.sqlite"
        validate(noisy, {"x": (0.0, 1.0)}, configs, instances=[1], runs=1, store=store)
        with pytest.raises(StoreError, match="holds only the runs of verdict"):
            read_record(store)

    def test_a_writer_is_noticed(self, tmp_path):
        path = tmp_path / "runs.sqlite"
        assert not is_held(path)
        lock = WriterLock(path)
        assert is_held(path)
        lock.release()
        assert not is_held(path)
        path.with_name("runs.sqlite.lock").touch()  # what a killed one leaves
        assert not is_held(path)


class TestStoredVerdicts:
    def test_a_verdict_that_was_not_finished_is_none(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        how = {"instances": range(1, 9), "store": store}
        tune(noisy, {"x": (0.0, 1.0)}, budget=60, **how)
        assert stored_verdict(store, read_record(store)) is None

    def test_a_verdict_is_of_the_best_of_its_time(self, tmp_path):
        path = scenario(tmp_path)
        assert paramhs("tune", path, "--runs", 30, cwd=tmp_path).returncode == 0
        store = tmp_path / "scenario.sqlite"
        before = read_record(store)
        assert stored_verdict(store, before).second.config == before.best
        assert paramhs("tune", path, "--runs", 400, "--no-verdict", cwd=tmp_path).returncode == 0
        after = read_record(store)
        assert after.best != before.best
        assert stored_verdict(store, after) is None
