import csv
import itertools
import lzma
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from paramhs.values.errors import BadInput, StoreError
from paramhs.values.seeds import below, stream
from paramhs_paper.cli import app
from paramhs_paper.saps import grid
from paramhs_paper.saps.grid import (
    Block,
    Cell,
    Part,
    blocks,
    counts_of,
    instances_in,
    measure,
    written,
)
from paramhs_paper.saps.measurement import Measurement
from paramhs_paper.saps.table import kept, kept_smoothings, landscape_of, merged, read_table
from paramhs_paper.saps.table import write_table as write

HEADER = ",".join(grid.HEADER)
RUNS, STEPS = 7, 60
CELLS = 2 * 2 * 3
BLOCKS = CELLS * 3  # of 3, 3 and 1 runs


def formula(path: Path, seed: int) -> None:
    """Random clauses, many more than can be satisfied."""
    rng = stream(seed, "formula")
    clauses = [
        " ".join(str((1 + below(12, rng)) * (1 if rng.random() < 0.5 else -1)) for _ in range(3))
        for _ in range(90)
    ]
    path.write_text("p cnf 12 90\n" + "".join(f"{clause} 0\n" for clause in clauses), "utf-8")


@pytest.fixture
def instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Two formulas, and a grid of 2 alphas and 3 rhos with 3 runs in a block."""
    monkeypatch.setattr(grid, "ALPHAS", (16, 30))
    monkeypatch.setattr(grid, "RHOS", (0, 8, 15))
    monkeypatch.setattr(grid, "BLOCK", 3)
    folder = tmp_path / "formulas"
    folder.mkdir()
    for seed, name in enumerate(("one", "two")):
        formula(folder / f"{name}.cnf", seed)
    return instances_in(folder)


class Stop(Exception):
    pass


def make(
    instances: dict[str, Path], file: Path, runs: int = RUNS, jobs: int = 1, stop: int = 10**9
) -> list[str]:
    """Measure until so many blocks were made; the sorted lines of the file."""
    left = itertools.count(stop, -1)

    def advance(done: int) -> None:
        if next(left) <= 0:
            raise Stop

    with suppress(Stop):
        measure(instances, "ubcsat", runs, file, jobs, advance, steps=STEPS)
    return sorted(file.read_text("utf-8").splitlines())


def test_every_setting_is_run_on_every_instance(instances: dict[str, Path], tmp_path: Path) -> None:
    make(instances, tmp_path / "blocks.csv")
    found = list(blocks(tmp_path / "blocks.csv"))
    assert len(found) == BLOCKS == grid.blocks_of(2, RUNS)
    firsts = {block.part.first_run for block in found[: CELLS - 2]}
    assert firsts == {0}, "nobody's second block first"
    for block in found:
        assert sum(block.best.values()) == sum(block.final.values()) == block.part.runs
        assert max(block.best) <= max(block.final)
    assert sum(block.part.runs for block in found) == CELLS * RUNS


@pytest.mark.parametrize("stop", [1, 5, 17, BLOCKS])
def test_a_stopped_measurement_goes_on_to_the_same_end(
    instances: dict[str, Path], tmp_path: Path, stop: int
) -> None:
    whole = make(instances, tmp_path / "whole.csv")
    begun = make(instances, tmp_path / "parts.csv", stop=stop)
    assert len(begun) < len(whole) or stop == BLOCKS
    assert make(instances, tmp_path / "parts.csv") == whole


def test_what_is_there_is_not_made_again(
    instances: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "blocks.csv"
    make(instances, file)
    monkeypatch.setattr(grid, "solve", lambda *_, **__: pytest.fail("made again"))
    told: list[int] = []
    measure(instances, "ubcsat", RUNS, file, 1, told.append, steps=STEPS)
    assert told == [BLOCKS]


@pytest.mark.parametrize("before", [4, 6, 9, 10])
def test_other_numbers_of_runs_share_what_there_is(
    instances: dict[str, Path], tmp_path: Path, before: int
) -> None:
    """Fewer runs or more; also where the last block is not a whole one, before or after."""
    make(instances, tmp_path / "changed.csv", runs=before)
    wanted = []
    for name in ("changed", "whole"):
        told: list[int] = []
        file = tmp_path / f"{name}.csv"
        made = measure(instances, "ubcsat", RUNS, file, 1, told.append, steps=STEPS)
        wanted.append((merged(made), told[0]))
    (rows, there), (whole, nothing) = wanted
    assert rows == whole
    assert {row.runs for row in rows} == {RUNS}
    assert (there, nothing) == (CELLS * (2 if before >= 6 else 1), 0)


def test_blocks_of_another_formula_seed_or_length_are_not_taken(
    instances: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "blocks.csv"
    first = measure(instances, "ubcsat", RUNS, file, 1, steps=STEPS)

    def again(**how: int) -> tuple[int, list[Block]]:
        told: list[int] = []
        made = measure(instances, "ubcsat", RUNS, file, 1, told.append, **{"steps": STEPS, **how})
        return told[0], made

    for how in ({"seed": 1}, {"steps": 1}):
        there, made = again(**how)
        assert there == 0
        assert merged(made) != merged(first)
    formula(instances["one"], 7)  # another one under the same name
    there, made = again()
    assert there == BLOCKS // 2
    assert merged(made) != merged(first)
    formula(instances["one"], 0)
    assert again() == (BLOCKS, first)


def test_a_second_process_is_refused_and_spoils_nothing(
    instances: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "blocks.csv"

    def intruding(done: int) -> None:
        with pytest.raises(StoreError, match="is in use by process"):
            measure(instances, "ubcsat", RUNS, file, 1, steps=STEPS)
        raise Stop

    with suppress(Stop):
        measure(instances, "ubcsat", RUNS, file, 1, intruding, steps=STEPS)
    assert make(instances, file) == make(instances, tmp_path / "whole.csv")


def test_columns_that_were_cut_off_are_written_again(
    instances: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "blocks.csv"
    file.write_text(HEADER[:20], "utf-8")
    assert make(instances, file) == make(instances, tmp_path / "whole.csv")


def test_formulas_with_weights_are_refused(instances: dict[str, Path], tmp_path: Path) -> None:
    instances["one"].write_text("p wcnf 1 1\n2 1 0\n", "utf-8")
    with pytest.raises(BadInput, match=r"one\.cnf: its clauses have weights"):
        measure(instances, "ubcsat", 3, tmp_path / "blocks.csv", 1)


@pytest.mark.parametrize("cut", [1, 2, 3, 9, 20])
def test_a_last_line_that_was_cut_off_is_made_again(
    instances: dict[str, Path], tmp_path: Path, cut: int
) -> None:
    """However much is missing, be it the line's end only."""
    file = tmp_path / "blocks.csv"
    whole = make(instances, file)
    file.write_bytes(file.read_bytes()[:-cut])
    assert len(list(blocks(file))) == BLOCKS - 1
    assert make(instances, file) == whole


def test_two_jobs_make_the_same_runs_as_one(instances: dict[str, Path], tmp_path: Path) -> None:
    assert make(instances, tmp_path / "1.csv") == make(instances, tmp_path / "2.csv", jobs=2)


def test_smoothing_forms_differ(instances: dict[str, Path], tmp_path: Path) -> None:
    """On long enough runs, but not if rho = 1 and nothing is smoothed."""
    one, other = (
        {row.cell: row for row in merged(measure(instances, smoothing, 6, file, 1, steps=2_000))}
        for smoothing, file in (("ubcsat", tmp_path / "u.csv"), ("textbook", tmp_path / "t.csv"))
    )
    differing = {cell.rho for cell in one if one[cell] != other[cell]}
    assert differing == {0, 8}


def test_a_measurement_ends_with_a_table(instances: dict[str, Path], tmp_path: Path) -> None:
    plan = Measurement(instances, "ubcsat", RUNS, tmp_path, 1, steps=STEPS)
    landscape = plan.measured()
    told: list[int] = []
    plan.measured(told.append)
    assert told == [BLOCKS] == [plan.blocks()]
    assert landscape.instances == ("one", "two")
    assert landscape.mean["best"].shape == (2, 2, 3)
    assert landscape.runs_text == "7"
    assert (landscape.mean["best"] <= landscape.mean["final"]).all()
    with lzma.open(tmp_path / "ubcsat.csv.xz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == CELLS
    assert [row["runs"] for row in rows] == ["7"] * CELLS


def test_runs_that_are_not_asked_for_are_left_alone(
    instances: dict[str, Path], tmp_path: Path
) -> None:
    """Those of another instance, and those beyond the number of runs."""
    Measurement(instances, "ubcsat", RUNS, tmp_path, 1, steps=STEPS).measured()
    less = Measurement({"two": instances["two"]}, "ubcsat", 3, tmp_path, 1, steps=STEPS)
    told: list[int] = []
    landscape = less.measured(told.append)
    assert told == [less.blocks()] == [CELLS // 2]
    assert (landscape.instances, landscape.runs_text) == (("two",), "3")


def test_a_table_has_the_moments_of_all_runs() -> None:
    cell = Cell("i", 16, 0)
    parts = [
        Block(Part("", cell, 0, 3), {4: 2, 7: 1}, {9: 3}, 10.0),
        Block(Part("", cell, 3, 1), {5: 1}, {10: 1}, 20.0),
    ]
    (row,) = merged(parts)
    numbers = np.array([4, 4, 7, 5])
    assert row.mean["best"] == numbers.mean()
    assert row.error["best"] == pytest.approx(numbers.std(ddof=1) / 2)
    assert row.mean["final"] == 9.25
    assert row.null_flips == 12.5
    assert row.best == {4: 2, 5: 1, 7: 1}


def test_tables_are_read_as_they_were_written(tmp_path: Path) -> None:
    parts = [
        Block(Part("", Cell("i", a, r), 0, 3), {a + r: 2, a + 9: 1}, {50 + r: 3}, 1.5)
        for a in (16, 17)
        for r in (0, 1)
    ]
    write(merged(parts), tmp_path / "t.csv.xz")
    again = landscape_of(read_table(tmp_path / "t.csv.xz"), "textbook")
    assert again.alphas == (16, 17)
    assert again.best[Cell("i", 17, 1)] == {18: 2, 26: 1}
    assert again.mean["best"][0, 1, 1] == pytest.approx((2 * 18 + 26) / 3, abs=1e-6)


@given(st.dictionaries(st.integers(0, 300), st.integers(1, 9), min_size=1))
def test_counts_are_read_as_they_were_written(counts: dict[int, int]) -> None:
    assert counts_of(written(counts)) == counts


def rows_without(tmp_path: Path, runs: int) -> Iterator[Block]:
    for alpha, rho in ((16, 0), (16, 1), (17, 0)):
        yield Block(Part("", Cell("i", alpha, rho), 0, runs), {1: runs}, {1: runs}, 0.0)


def test_a_landscape_with_a_hole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="i at alpha 17/15 and rho 1/15: at least two runs"):
        landscape_of(merged(rows_without(tmp_path, 2)), "ubcsat")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "expected a table with the columns made_of, instance"),
        ("", "expected a table with the columns"),
        (f"{HEADER}\nf,x,16,0,0,3\n", "line 2: expected 9 columns, found 6"),
        (f"{HEADER}\nf,x,16,0,0,3,4: 3,5: 3,1.0\nf,x,y,0,0,3,4: 3,5: 3,1.0\n", "line 3: inv"),
        (f"{HEADER}\nf,x,16,0,0,3,4-3,5: 3,1.0\n", "line 2: '4-3' is not a list of counts"),
    ],
)
def test_a_bad_file_is_one_clear_message(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "blocks.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(BadInput, match=message):
        list(blocks(file))


def test_a_file_that_is_not_compressed_is_said_so(tmp_path: Path) -> None:
    file = tmp_path / "t.csv.xz"
    file.write_text("instance,alpha\n", "utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        read_table(file)
    with pytest.raises(BadInput, match="cannot be read"):
        read_table(tmp_path / "none.csv.xz")


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


@pytest.mark.parametrize("smoothing", kept_smoothings())
def test_the_kept_landscapes_are_the_papers_grid(smoothing: str) -> None:
    landscape = kept(smoothing)
    assert landscape.alphas == tuple(range(16, 46))
    assert landscape.rhos == tuple(range(16))
    assert len(landscape.instances) == 10
    assert landscape.runs.min() >= 100
    assert (landscape.mean["best"] <= landscape.mean["final"]).all()
    for cell in (Cell(landscape.instances[3], 16, 0), Cell(landscape.instances[9], 45, 15)):
        counts = landscape.best[cell]
        place = (landscape.instances.index(cell.instance), cell.alpha - 16, cell.rho)
        assert sum(counts.values()) == landscape.runs[place]
        mean = sum(k * n for k, n in counts.items()) / landscape.runs[place]
        assert landscape.mean["best"][place] == pytest.approx(mean, abs=1e-6)


def test_the_command_measures_resumes_and_draws(instances: dict[str, Path], tmp_path: Path) -> None:
    """In this process, where the grid is small."""
    words = ["measure", str(tmp_path / "formulas"), "--out", str(tmp_path / "out")]
    words += ["--runs", "3", "--threads", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "3 runs a cell" in " ".join(done.output.split())
    assert "resuming" not in done.output
    assert f"measuring: {CELLS} of {CELLS} blocks of runs" in " ".join(done.output.split())
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"saps_ubcsat_blocks.csv", "ubcsat.csv.xz", "figure1_measured.svg"} <= names
    again = CliRunner().invoke(app, words)
    assert f"resuming: {CELLS} of {CELLS} blocks of runs are there" in " ".join(
        again.output.split()
    )


def test_the_command_can_be_interrupted_and_what_was_made_is_kept(tmp_path: Path) -> None:
    """A real process on the whole grid."""
    (tmp_path / "formulas").mkdir()
    formula(tmp_path / "formulas" / "one.cnf", 0)
    code = "from paramhs_paper.cli import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", code, "measure", "formulas", "--out", "out"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    file = tmp_path / "out" / "saps_ubcsat_blocks.csv"
    deadline = time.monotonic() + 240
    while not (file.exists() and len(file.read_bytes().splitlines()) > 3):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=240)
    assert running.returncode == 130
    assert "the same command goes on where it was" in said
    assert len(list(blocks(file))) >= 3
    assert not list(file.parent.glob("*.lock"))
