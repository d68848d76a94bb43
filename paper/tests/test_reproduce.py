import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command_line import environment, paramhs

FIGURE1 = ["scenario", "value", "published", "exact_mean", "exact_sd", "z_published"]
FIGURE2 = [
    "scenario",
    "configurator",
    "operator",
    "size",
    "published",
    "exact_mean",
    "exact_sd",
    "searched_mean",
    "repetitions",
    "z_published",
    "z_searched",
]
SEARCH = ("--scenario", "leadingones", "--method", "search", "--repetitions", 5)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """All that there is, on reduced sizes: the folder and what was printed."""
    folder = tmp_path_factory.mktemp("reproduced") / "new" / "folder"
    done = paramhs("reproduce", "all", *SEARCH, "--out", folder, "--json", cwd=folder.parents[1])
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_everything_has_its_three_parts(everything: tuple[Path, dict]) -> None:
    _, printed = everything
    assert list(printed) == ["figure1", "figure2", "theorems"]
    assert set(printed["theorems"]) == {"study", "growth"}
    assert [list(row) for row in printed["figure1"]] == [FIGURE1] * 50


def test_a_folder_holds_tables_figures_and_summaries(everything: tuple[Path, dict]) -> None:
    folder, _ = everything
    tables = ["figure1", "figure2", "figure2_deltas", "theorems_study", "theorems_growth"]
    figures = ["figure1_leadingones", "figure2_leadingones", "figure2_leadingones_runs"]
    figures += ["theorems_growth", "theorems_looseness"]
    summaries = ["figure1", "figure2", "theorems"]
    expected = {f"{name}.{end}" for name in tables for end in ("csv", "json")}
    expected |= {f"{name}.{end}" for name in figures for end in ("html", "svg")}
    expected |= {f"{name}.md" for name in summaries}
    assert expected <= {path.name for path in folder.iterdir()}


def test_what_is_printed_is_what_is_written(everything: tuple[Path, dict]) -> None:
    folder, printed = everything
    for name in ("figure1", "figure2"):
        assert json.loads((folder / f"{name}.json").read_text("utf-8")) == printed[name]
    for name in ("study", "growth"):
        written = json.loads((folder / f"theorems_{name}.json").read_text("utf-8"))
        assert written == printed["theorems"][name]


def test_csv_and_json_say_the_same(everything: tuple[Path, dict]) -> None:
    folder, _ = everything
    for path in folder.glob("*.csv"):
        rows = json.loads(path.with_suffix(".json").read_text("utf-8"))
        with path.open(newline="", encoding="utf-8") as file:
            read = list(csv.DictReader(file))
        plain = [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]
        assert read == plain
        assert rows


def test_vector_graphics_are_xml(everything: tuple[Path, dict]) -> None:
    folder, _ = everything
    for path in folder.glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 3


def test_pages_work_offline(everything: tuple[Path, dict]) -> None:
    folder, _ = everything
    for path in folder.glob("*.html"):
        page = path.read_text("utf-8")
        assert "<script" in page
        assert not re.search(r"<script[^>]*\ssrc\s*=", page)
        assert not re.search(r"<link[^>]*\shref\s*=", page)
        assert not re.search(r"import\s*\(?\s*[\"']https?:", page)


def test_summaries_name_every_curve(everything: tuple[Path, dict]) -> None:
    folder, printed = everything
    text = (folder / "figure2.md").read_text("utf-8")
    for row in printed["figure2"]:
        assert f"| leadingones | {row['configurator']}/{row['operator']} |" in text
    assert "Bounds violated: 0." in (folder / "theorems.md").read_text("utf-8")


def test_no_theorem_is_violated(everything: tuple[Path, dict]) -> None:
    for row in everything[1]["theorems"]["study"]:
        assert row["upper_ratio"] >= 1
        assert row["l_step_ratio"] is None or row["l_step_ratio"] >= 1
    assert [row["levels"] for row in everything[1]["theorems"]["growth"]] == [
        10**k for k in range(1, 7)
    ]


def test_figure2_prints_a_list_of_rows_with_the_promised_keys(
    everything: tuple[Path, dict], tmp_path: Path
) -> None:
    done = paramhs("reproduce", "figure2", *SEARCH, "--jobs", 2, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)
    assert [list(row) for row in rows] == [FIGURE2] * 70
    assert {row["scenario"] for row in rows} == {"leadingones"}
    assert {row["repetitions"] for row in rows} == {5}
    assert rows == everything[1]["figure2"], "the same whatever else is computed, by two processes"
    assert not list(tmp_path.iterdir())


def test_figure1_prints_a_summary_for_people(tmp_path: Path) -> None:
    done = paramhs("reproduce", "figure1", cwd=tmp_path)
    assert done.returncode == 0
    assert "best chi = 1.6" in " ".join(done.stdout.split())
    assert "--out DIR" in done.stdout
    assert not list(tmp_path.iterdir())


def test_figure1_prints_its_rows_of_all_scenarios(tmp_path: Path) -> None:
    done = paramhs("reproduce", "figure1", "--json", cwd=tmp_path)
    rows = json.loads(done.stdout)
    assert [list(row) for row in rows] == [FIGURE1] * 150
    assert [row["published"] for row in rows[:2]] == [65.6382, 69.4835]


def test_theorems_print_their_tables(tmp_path: Path) -> None:
    done = paramhs("reproduce", "theorems", "--seed", 1, "--json", cwd=tmp_path)
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert set(printed) == {"study", "growth"}
    assert all(row["upper_ratio"] >= 1 for row in printed["study"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--scenario", "knapsack"), "there is no scenario 'knapsack'"),
        (("--scenario", ""), "there is no scenario ''"),
        (("--method", "guess"), "there is no method 'guess'"),
        (("--method", "search", "--repetitions", -5), "repetitions must be at least 1, not -5"),
        (("--method", "search", "--repetitions", 0), "repetitions must be at least 1, not 0"),
        (("--repetitions", 9), "--repetitions goes with --method search or simulate"),
        (("--runs", 10**7), "runs must be at most 20,000, not 10,000,000"),
        (("--jobs", 0), "jobs must be at least 1, not 0"),
        (("--runs", -1), "runs must be at least 1, not -1"),
        (("--out", "taken"), "cannot write into taken"),
        (("--out", "taken/below"), "cannot write into taken/below"),
    ],
)
def test_bad_options_are_one_message_and_exit_code_2(
    tmp_path: Path, words: tuple, message: str
) -> None:
    (tmp_path / "taken").touch()
    done = paramhs("reproduce", "figure2", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("figure1", "--method", "search"), "--method and --repetitions are for figure2"),
        (("theorems", "--repetitions", 3), "--method and --repetitions are for figure2"),
        (("figure1", "--runs", 3), "--runs is for figure2"),
        (("theorems", "--scenario", "ridge"), "--scenario is not for theorems"),
        (("all", "--runs", 10), "--runs goes with one --scenario"),
        (("figure1", "--scenario", "knapsack", "--out", "made"), "there is no scenario"),
    ],
)
def test_options_without_effect_are_refused(tmp_path: Path, words: tuple, message: str) -> None:
    done = paramhs("reproduce", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [(), ("figure3",), ("figure1", "--repetitions", "many"), ("figure1", "--seed", "x")]
)
def test_what_cannot_be_read_is_a_usage_error(tmp_path: Path, words: tuple) -> None:
    done = paramhs("reproduce", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Usage" in done.stderr


def without(module: str, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as if a package were not installed."""
    code = f"import sys; sys.modules[{module!r}] = None; from paramhs.faces.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("module", ["numpy", "scipy", "numba", "altair", "vl_convert"])
def test_an_extra_that_is_missing_is_named(tmp_path: Path, module: str) -> None:
    words = ("reproduce", "figure1", "--scenario", "onemax", "--out", "out")
    done = without(module, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert module in done.stderr.replace("vl-convert", "vl_convert")
    assert "pip install" in done.stderr


def test_help_needs_no_extra(tmp_path: Path) -> None:
    done = without("numpy", "reproduce", "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "--repetitions" in done.stdout
