import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from paramhs.bundled.instances.dimacs import read_formula
from paramhs.bundled.saps import SMOOTHINGS, Settings, encoded, solve
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below, stream
from paramhs_paper.cli import app
from paramhs_paper.saps import measuring
from paramhs_paper.saps.measuring import Measurement, instances_in
from paramhs_paper.saps.table import kept, read_landscape

RUNS, STEPS = 7, 60
CELLS = 2 * 2 * 3


def formula(path: Path, seed: int) -> None:
    """Random clauses, many more than can be satisfied."""
    rng = stream(seed, "formula")
    clauses = [
        " ".join(str((1 + below(12, rng)) * (1 if rng.random() < 0.5 else -1)) for _ in range(3))
        for _ in range(90)
    ]
    path.write_text("p cnf 12 90\n" + "".join(f"{clause} 0\n" for clause in clauses), "utf-8")


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measurement:
    """Table of two formulas, on a grid of 2 alphas and 3 rhos."""
    monkeypatch.setattr(measuring, "ALPHAS", (16, 30))
    monkeypatch.setattr(measuring, "RHOS", (0, 8, 15))
    folder = tmp_path / "formulas"
    folder.mkdir()
    for seed, name in enumerate(("one", "two")):
        formula(folder / f"{name}.cnf", seed)
    return Measurement(instances_in(folder), "ubcsat", RUNS, tmp_path, steps=STEPS)


def measured(plan: Measurement, jobs: int = 1) -> list[str]:
    plan.measure(jobs, lambda: None)
    return lzma.open(plan.table, "rt", encoding="utf-8").read().splitlines()


def elsewhere(plan: Measurement, name: str) -> Measurement:
    folder = plan.folder / name
    folder.mkdir()
    return replace(plan, folder=folder)


def test_a_measurement_ends_with_a_table_of_every_setting_on_every_instance(
    plan: Measurement,
) -> None:
    assert len(measured(plan)) == 1 + CELLS
    landscape = read_landscape(plan.table, "ubcsat")
    assert (landscape.instances, landscape.runs) == (("one", "two"), RUNS)
    assert landscape.mean["best"].shape == (2, 2, 3)
    assert (landscape.mean["best"] <= landscape.mean["final"]).all()


def test_a_cell_has_the_moments_of_its_runs(plan: Measurement) -> None:
    (line,) = [x for x in measured(plan) if x.startswith("two,30,8,")]
    landscape = read_landscape(plan.table, "ubcsat")
    clauses = encoded(read_formula(plan.instances["two"]))
    outcomes = solve(clauses, Settings(2, 8 / 15, 0.05, 0.01), STEPS, 0, RUNS, "ubcsat")
    for quality, numbers in (("best", outcomes.best_false), ("final", outcomes.final_false)):
        error = numbers.std(ddof=1) / np.sqrt(RUNS)
        assert landscape.mean[quality][1, 1, 1] == pytest.approx(numbers.mean(), abs=1e-6)
        assert landscape.error[quality][1, 1, 1] == pytest.approx(error, abs=1e-4)
    assert landscape.null_flips[1, 1, 1] == pytest.approx(outcomes.null_flips.mean(), abs=0.05)
    low, counts = line.rsplit(",", 1)[1].split(": ")
    values = np.arange(len(counts.split())) + int(low)
    assert np.repeat(values, [int(n) for n in counts.split()]).tolist() == sorted(
        outcomes.best_false.tolist()
    )


class Stop(Exception):
    pass


@pytest.mark.parametrize("cells", [0, 5, 7, CELLS - 1])
def test_a_stopped_measurement_resumes_to_the_same_end(
    plan: Measurement, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    whole, made = measured(elsewhere(plan, "whole")), []

    def stopping(*words: object) -> object:
        if len(made) == cells:
            raise Stop
        made.append(words)
        return solve(*words)

    monkeypatch.setattr(measuring, "solve", stopping)
    with pytest.raises(Stop):
        measured(plan)
    monkeypatch.setattr(measuring, "solve", solve)
    files = list(plan.folder.glob("*_one.csv")) + list(plan.folder.glob("*_two.csv"))
    assert len(files) == cells // 6
    assert measured(plan) == whole


def test_an_instance_that_was_measured_is_not_measured_again(
    plan: Measurement, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = measured(plan)
    monkeypatch.setattr(measuring, "solve", lambda *_: pytest.fail("made again"))
    assert measured(plan) == before
    for other in ({"seed": 1}, {"runs": 6}, {"smoothing": "textbook"}):
        with pytest.raises(pytest.fail.Exception):
            measured(replace(plan, **other))


def test_two_jobs_make_the_same_runs_as_one(plan: Measurement) -> None:
    assert measured(plan) == measured(elsewhere(plan, "two"), jobs=2)


def test_smoothing_forms_differ(plan: Measurement) -> None:
    """On long enough runs, but not if rho = 1 and nothing is smoothed."""
    tables = []
    for smoothing in SMOOTHINGS:
        longer = replace(elsewhere(plan, smoothing), smoothing=smoothing, steps=2_000)
        measured(longer)
        tables.append(read_landscape(longer.table, smoothing).mean["final"])
    assert (tables[0] != tables[1]).any(axis=(0, 1)).tolist() == [True, True, False]


def test_formulas_with_weights_are_refused(plan: Measurement) -> None:
    plan.instances["one"].write_text("p wcnf 1 1\n2 1 0\n", "utf-8")
    with pytest.raises(BadInput, match=r"one\.cnf: its clauses have weights"):
        measured(plan)


def test_a_folder_without_formulas_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.cnf.bak").touch()
    (tmp_path / "b.wcnf").touch()
    with pytest.raises(BadInput, match=r"there are no \.cnf files"):
        instances_in(tmp_path)


def test_formulas_are_found_compressed_too_but_once_only(tmp_path: Path) -> None:
    for name in ("a.cnf", "b.1.cnf.gz", "c.cnf.xz", "c.cnf~"):
        (tmp_path / name).touch()
    assert list(instances_in(tmp_path)) == ["a", "b.1", "c"]
    (tmp_path / "a.cnf.bz2").touch()
    with pytest.raises(BadInput, match=r"has both a\.cnf and a\.cnf\.bz2"):
        instances_in(tmp_path)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_kept_landscapes_are_the_papers_grid(smoothing: str) -> None:
    landscape = kept(smoothing)
    assert landscape.alphas == tuple(range(16, 46))
    assert landscape.rhos == tuple(range(16))
    assert (len(landscape.instances), landscape.runs) == (10, 500)
    assert (landscape.mean["best"] <= landscape.mean["final"]).all()


def test_the_command_measures_resumes_and_draws(plan: Measurement, tmp_path: Path) -> None:
    words = ["measure", str(tmp_path / "formulas"), "--out", str(tmp_path / "out")]
    words += ["--runs", "3", "--threads", "1"]
    for _ in range(2):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        assert "3 runs a cell" in " ".join(done.output.split())
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"ubcsat.csv.xz", "figure1_measured.svg"} <= names
