import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from paramhs.core.errors import BadInput
from paramhs_paper import cli, points
from paramhs_paper.cli import app
from paramhs_paper.scenarios import HEURISTICS, SCENARIOS, HeuristicScenario, SapsScenario
from paramhs_paper.writing import Output


def run(*words: object) -> tuple[str, dict]:
    """In this process; what was said, and the tables if they were asked for."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output, json.loads(done.stdout) if "--json" in words else {}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sizes of each scenario, and small studies."""
    monkeypatch.setattr(HeuristicScenario, "sizes", (5, 10))
    monkeypatch.setattr(SapsScenario, "sizes", (48, 64))
    monkeypatch.setattr("paramhs_paper.theorems.STUDY_SIZES", (5, 10))
    monkeypatch.setattr("paramhs_paper.theorems.GROWTH_SIZES", (10, 100))
    monkeypatch.setattr("paramhs_paper.theorems.SHAPES", ((2, 2), (4, 5)))
    monkeypatch.setattr("paramhs_paper.reproduction.STUDY_LANDSCAPES", 2)


def pretend(output: Output, name: str, figure: object, *parts: object) -> None:
    """A file in place of a figure: drawing has tests of its own."""
    path = output.folder / f"{name}.svg"
    path.touch()
    output.written.append(path)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("words", "figures"),
    [
        (("figure1", "onemax", "saps"), {"figure1_onemax", "figure1_saps"}),
        (("figure2", "onemax", "saps", "--searches", 3), {"figure2_onemax", "figure2_saps"}),
        (("theorems",), {"theorems_growth", "theorems_looseness"}),
    ],
)
def test_figures_are_drawn(tmp_path: Path, words: tuple, figures: set[str]) -> None:
    run(*words, "--out", tmp_path)
    assert {path.stem for path in tmp_path.glob("*.svg")} == figures
    for path in tmp_path.glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 3


@pytest.mark.usefixtures("small")
def test_all_writes_tables_figures_and_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Output, "draw", pretend)
    folder = tmp_path / "new" / "folder"
    message, _ = run("all", "--searches", 3, "--out", folder)
    names = {path.name for path in folder.iterdir()}
    kept = Path(__file__).parents[2] / "docs" / "reproduction"
    assert names == {path.name for path in kept.iterdir() if path.is_file()}
    assert all(f"wrote {folder / name}" in message for name in names)
    page = (folder / "README.md").read_text("utf-8")
    assert "Bounds violated: 0." in page
    assert "$" not in page
    for word in ("nan", "None"):
        assert word not in page
    for name in SCENARIOS:
        assert f"| {name} | paramrls/harmonic |" in page


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["leadingones", "saps-textbook"])
def test_figure2_prints_rows_of_one_kind_for_all_scenarios(name: str) -> None:
    _, printed = run("figure2", name, "--searches", 3, "--json")
    assert list(printed) == ["figure2", "figure2_deltas"]
    scenario = SCENARIOS[name]
    rows = printed["figure2"]
    assert len(rows) == (len(scenario.curves) + len(scenario.others)) * 2
    assert [list(row) for row in rows] == [list(points.Point.__dataclass_fields__)] * len(rows)
    assert {row["searches"] for row in rows} == {3}
    text, _ = run("figure2", name)
    assert f"| {name} | paramrls/harmonic |" in text


def test_figure1_prints_a_summary_for_people() -> None:
    message, _ = run("figure1", "leadingones", "saps-textbook")
    assert "| chi = 1.6 | 49.5095 |" in message
    assert "500 runs a cell (the paper had 2,000)" in message
    assert "Figure 1, SAPS with textbook smoothing" in message


def test_figure1_prints_its_rows() -> None:
    _, printed = run("figure1", "--json")
    assert list(printed) == [*(f"figure1_{name}" for name in HEURISTICS), "figure1_saps"]
    assert [row["published"] for row in printed["figure1_ridge"][:2]] == [65.6382, 69.4835]
    settings = printed["figure1_saps"]
    assert len(settings) == 480
    assert sum(row["five_best"] for row in settings) == 5


@pytest.mark.usefixtures("small")
def test_theorems_print_their_tables() -> None:
    _, printed = run("theorems", "--seed", 1, "--json")
    assert list(printed) == ["theorems_study", "theorems_several", "theorems_growth"]
    for row in printed["theorems_study"]:
        assert row["upper_ratio"] >= 1
        assert row["l_step_ratio"] is None or row["l_step_ratio"] >= 1


def test_the_names_of_scenarios_are_the_commands_choices() -> None:
    assert [s.value for s in cli.Scenario] == list(SCENARIOS)


@pytest.mark.parametrize(
    "words",
    [
        ("figure3",),
        ("figure1", "knapsack"),
        ("figure1", "--searches", 3),
        ("figure1", "--seed", "x"),
        ("figure2", "ridge", "--searches", -5),
        ("figure2", "--jobs", 0),
        ("figure2", "--runs", 10),
        ("theorems", "ridge"),
        ("all",),
        ("measure", "."),
        ("measure", ".", "--out", "o", "--smoothing", "none"),
        ("measure", ".", "--out", "o", "--runs", 1),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 2
    assert "Usage" in done.output
    assert "Traceback" not in done.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("out", ["taken", "taken/below"])
def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path: Path, out: str) -> None:
    (tmp_path / "taken").touch()
    done = CliRunner().invoke(app, ["figure1", "onemax", "--out", str(tmp_path / out)])
    assert isinstance(done.exception, BadInput)
    assert "cannot write into" in str(done.exception)


def test_bad_input_is_one_message_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["paramhs-paper", "measure", "nowhere", "--out", "out"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    message = capfd.readouterr()
    assert (ended.value.code, message.out) == (2, "")
    assert message.err.startswith("paramhs-paper: nowhere: there are no .cnf files")
    assert message.err.strip().count("\n") == 0


def test_progress_without_a_terminal_is_a_few_lines(capsys):
    from paramhs_paper.cli import _progress

    with _progress(40, False) as advance:
        for _ in range(40):
            advance()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "computing: 0 of 40"
    assert lines[-1].startswith("computing: 40 of 40 after ")
    assert len(lines) == 11
    with _progress(40, True) as advance:
        advance(40)
    assert capsys.readouterr().err == ""
