"""Commands that take a solver instead of a scenario."""

import json

import pytest
from typer.testing import CliRunner

from paramhs.cli import app
from paramhs.core.errors import BadInput
from paramhs.formats.scenario import read_scenario
from tests.support.own_solver import own_solver


@pytest.fixture
def folder(tmp_path, monkeypatch):
    own_solver(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*words):
    done = CliRunner().invoke(app, [*words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_a_solver_and_its_instances_are_tuned_and_what_was_decided_is_kept(folder):
    instances = [f"{number}.num" for number in range(8)]
    words = ["tune", "--solver", "mine.toml", *instances, "--runs", "12", "--cost", "work"]
    called(*words, "--no-verdict", "--no-report", "--store", "first.sqlite")
    kept = read_scenario(folder / "first.toml")
    assert kept.budget.runs == 12
    assert list(kept.scenario.space.parameters) == ["speed", "boost"]
    line = called("show", "first.sqlite", "--best")
    assert line.count("\n") == 1
    assert "--seed=SEED" in line
    text = (folder / "first.toml").read_text()
    (folder / "first.toml").write_text(text + "# edited\n")
    called(*words, "--no-verdict", "--no-report", "--store", "first.sqlite")
    assert (folder / "first.toml").read_text().endswith("# edited\n")


def test_the_scenario_for_an_entry_in_this_folder_has_a_name_of_its_own(folder):
    words = ["tune", "--solver", "./mine.toml", "0.num", "1.num", "--runs", "2", "--no-report"]
    called(*words, "--no-verdict")
    assert read_scenario(folder / "mine-scenario.toml").budget.runs == 2
    assert (folder / "mine.toml").read_text().startswith("title = ")


def test_a_program_is_named_by_its_place_in_this_folder(folder):
    output = called("solvers", "--solver", "mine.toml", "--program", "./own")
    assert str(folder / "own") in "".join(output.split())


def test_a_scenario_that_was_made_for_something_else_is_not_overwritten(folder):
    words = ["tune", "--solver", "mine.toml", "0.num", "1.num", "--runs", "2", "--no-report"]
    called(*words, "--no-verdict", "--store", "a.sqlite")
    with pytest.raises(BadInput, match="was not written for this solver with these options"):
        called(*words, "2.num", "--store", "a.sqlite")


def test_the_best_is_printed_as_the_solvers_own_file(folder):
    entry = folder / "mine.toml"
    text = entry.read_text()
    entry.write_text(text.replace("booleans =", 'native = {line = "name: value"}\nbooleans ='))
    words = ["tune", "--solver", "mine.toml", "4.num", "--runs", "40", "--cost", "work"]
    called(*words, "--no-verdict", "--no-report", "--store", "first.sqlite")
    best = json.loads(called("show", "first.sqlite", "--json"))["best"]
    expected = {"speed": f"speed: {best['speed']}", "boost": f"boost: {int(best['boost'])}"}
    different = [
        expected[name]
        for name, default in (("speed", 3), ("boost", False))
        if best[name] != default
    ]
    assert called("show", "first.sqlite", "--best").splitlines() == different
    assert different
    assert 'native = {line = "name: value"}' in (folder / "first.toml").read_text()


@pytest.mark.parametrize(
    ("instance", "problem"),
    [("other.cnf", "there is no file"), ("mine.toml", "reads files that end with .num")],
)
def test_instances_that_cannot_be_meant_are_refused_before_anything_is_written(
    folder, instance, problem
):
    with pytest.raises(BadInput, match=problem):
        called("tune", "--solver", "mine.toml", instance, "--store", "a.sqlite")
    assert not (folder / "a.toml").exists()


@pytest.mark.parametrize(
    ("instances", "problem"),
    [("none/*.num", "no file matches none/"), ("empty", "no file is in empty")],
)
def test_a_pattern_or_a_folder_without_files_is_refused_before_anything_is_written(
    folder, instances, problem
):
    (folder / "empty").mkdir()
    with pytest.raises(BadInput, match=problem):
        called("tune", "--solver", "mine.toml", instances, "--store", "a.sqlite")
    assert not (folder / "a.toml").exists()


def test_the_program_of_a_solver_in_this_folder_does_not_hide_its_entry(folder):
    (folder / "kissat").write_text("a program")
    with pytest.raises(BadInput, match=r"there is no file or folder nothing.cnf|not installed"):
        called("tune", "kissat", "nothing.cnf", "--store", "a.sqlite")


def test_init_writes_a_scenario_for_a_solver(folder):
    called("init", "new", "--solver", "mine.toml", "--instances", "*.num", "--cutoff", "3 s")
    read = read_scenario(folder / "new" / "scenario.toml")
    assert read.scenario.cutoff == 3.0
    assert len(read.scenario.instances) == 8


def test_the_space_of_a_solver_is_converted(folder):
    assert "speed integer [0, 9] [3]" in called("space", "--from", "mine.toml", "--to", "pcs-new")
    assert '"--speed="' in called("space", "--from", "mine.toml", "--to", "irace")
    assert "[space]" in called("space", "--from", "mine.toml", "--to", "toml")
