"""What is in a store, as tables for other programs."""

import csv
import io
import json
import math
import os
import sqlite3
import subprocess
import sys
import tracemalloc
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import paramhs
from paramhs import Categorical, Space, tune
from paramhs.api.export import (
    FORMATS,
    TABLES,
    export_table,
    table_of,
    write_csv,
    write_json_lines,
    write_parquet,
)
from paramhs.cli import app
from paramhs.core.errors import BadInput

SPACE = Space(
    {"x": range(20), "mode": Categorical(["a", 2, True, 'ü,"\n']), "deep": (0.0, 1.0)},
    conditions={"deep": "mode == a"},
)


def noisy(config, instance, seed):
    if config["x"] == 3:
        raise RuntimeError("no, \x1b[2J")
    return (config["x"] - 15) ** 2 + seed % 7


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "runs.sqlite"
    tests = {f"t{k}": k for k in range(2)}
    result = tune(noisy, SPACE, instances={"i": 1}, test_instances=tests, budget=60, store=path)
    return path, result


def read_parquet(content):
    return pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(content)).to_pylist()


def rows(path, what):
    with TABLES[what](path) as table:
        return list(table.rows())


def exported(path, what, kind):
    file = io.BytesIO()
    count, columns = export_table(path, what, kind, file)
    assert count == len(rows(path, what))
    assert all(list(row) == list(columns) for row in rows(path, what))
    return file.getvalue()


def written(write, table):
    file = io.BytesIO()
    assert write(table_of(table), file) == len(table)
    return file.getvalue()


def test_runs_are_those_of_the_search_in_order(made):
    path, result = made
    told = [
        (r["run"], r["config"], r["seed"], r["status"], r["quality"]) for r in rows(path, "runs")
    ]
    assert told == [
        (k, run.task.config.key, run.task.seed, run.status.value, run.quality)
        for k, run in enumerate(result.runs)
    ]
    for row, run in zip(rows(path, "runs"), result.runs, strict=True):
        assert {name: row[f"config.{name}"] for name in run.task.config} == run.task.config
        assert (row["config.deep"] is None) == (run.task.config["mode"] != "a")
        assert row["cost"] == row["quality"]


def test_speculative_runs_are_there_without_a_number(tmp_path):
    path = tmp_path / "runs.sqlite"
    options = {"jobs": 4, "executor": "threads", "store": path, "instances": {"i": 1}}
    result = tune(noisy, SPACE, budget=40, **options)
    numbers = [row["run"] for row in rows(path, "runs")]
    assert numbers[: result.asked] == list(range(result.asked))
    assert numbers[result.asked :] == [None] * result.speculative


def test_a_row_of_a_configuration_is_over_the_runs_it_shares_with_the_best(made):
    path, result = made
    by_key = {row["config"]: row for row in rows(path, "configurations")}
    assert by_key.keys() == {config.key for config in result.history.configs}
    row = by_key[result.default.key]
    assert (row["cost"], row["best_cost"]) == (result.default_cost, result.best_cost)
    assert row["common_runs"] == result.common_runs
    assert by_key[result.best.key]["ratio"] in (1.0, None)


def test_incumbents_and_verdict_are_those_of_the_result(made):
    path, result = made
    told = [(row["config"], row["runs"]) for row in rows(path, "trajectory")]
    assert told == [(point.config.key, point.runs) for point in result.trajectory]
    row = rows(path, "verdict")[0]
    assert row["first.cost"] == result.verdict.first.cost
    assert row["conclusion"] == result.verdict.conclusion
    met = rows(path, "verdict-runs")
    sides = {result.verdict.first.config.key, result.verdict.second.config.key}
    assert sum(row["config"] in sides for row in met) == 2 * result.verdict.first.runs


@pytest.mark.parametrize("what", TABLES)
def test_every_format_has_the_same_rows(made, what):
    table, text = rows(made[0], what), exported(made[0], what, "csv")
    read = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in table] == read
    lines = exported(made[0], what, "jsonl").decode().splitlines()
    assert [json.loads(line) for line in lines] == table


TEXTS = st.text(max_size=5) | st.sampled_from(["a\rb", "\r\n", '"', "\x00", "\ud800", "=1+1", ","])
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), min_size=1, max_size=4))
def test_any_text_can_be_read_back_from_any_format(table):
    def kept(value):
        return (
            value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        )

    text = written(write_csv, table).decode()
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert read == [{k: "" if v is None else kept(str(v)) for k, v in row.items()} for row in table]
    finite = [{k: None if v in (math.inf, -math.inf) else v for k, v in r.items()} for r in table]
    lines = written(write_json_lines, finite).split(b"\n")[:-1]
    assert [json.loads(line) for line in lines] == finite
    columns = read_parquet(written(write_parquet, table))
    assert [row["a"] is None for row in columns] == [row["a"] is None for row in table]
    numbers = [{"a": 2**70}, {"a": 10**400}, {"a": 0.5}]
    again = read_parquet(written(write_parquet, numbers))
    assert [row["a"] for row in again] == [str(row["a"]) for row in numbers]


def test_parquet_keeps_numbers_and_writes_mixed_values_as_texts(made):
    table, content = rows(made[0], "runs"), exported(made[0], "runs", "parquet")
    read = read_parquet(content)
    assert [row["quality"] for row in read] == [row["quality"] for row in table]
    assert [row["config.mode"] for row in read] == [str(row["config.mode"]) for row in table]
    wide = [{"n": 2**70, "m": 1}, {"n": None, "m": 0.5}, {"n": 3, "m": None}]
    again = read_parquet(written(write_parquet, wide))
    assert [row["m"] for row in again] == [1.0, 0.5, None]
    assert read_parquet(written(write_parquet, [])) == []


def test_a_result_is_a_data_frame(made):
    pytest.importorskip("pandas")
    path, result = made
    for frame in (result.to_dataframe(), paramhs.load(path).to_dataframe()):
        assert list(frame["config.x"]) == [run.task.config["x"] for run in result.runs]
        assert list(frame["status"]) == [run.status.value for run in result.runs]


def test_a_long_table_takes_no_more_memory_than_a_short_one(tmp_path):
    """Bytes that Python has at a time, of 20,000 runs: 35 MB if they were all there at once."""
    path = tmp_path / "runs.sqlite"
    tune(noisy, SPACE, instances={"i": 1}, budget=20, store=path)
    with closing(sqlite3.connect(path)) as db:
        for k in range(1, 1_000):
            db.execute(
                f"INSERT OR IGNORE INTO runs SELECT record, config, instance, seed + {k},"
                f" cutoff, status, runtime, quality, detail, answer, others,"
                f" asked + {k} * 30, session, finished, elapsed FROM runs WHERE asked < 20"
            )
        db.commit()
    for kind in FORMATS:
        if kind == "parquet":
            pytest.importorskip("pyarrow")
        with (tmp_path / "short").open("wb") as file:  # imports what the format needs
            export_table(path, "trajectory", kind, file)
        tracemalloc.start()
        with (tmp_path / "out").open("wb") as file:
            count, _ = export_table(path, "runs", kind, file)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count > 15_000
        assert peak < 15_000_000


@pytest.mark.parametrize("out", [(), ("--out", "/dev/tty")])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_terminal_shows_escapes_and_obeys_none(tmp_path, out, kind):
    """A run's message may be anything that a program has printed."""
    path = tmp_path / "runs.sqlite"
    tune(noisy, SPACE, instances={"i": 1}, initial=[{"x": 3}], budget=20, store=path)
    words = ["export", str(path), "--format", kind, *out]
    call = "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    call += "from paramhs.cli import main; sys.argv = ['paramhs', *sys.argv[1:]]; main()"
    master, slave = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", call, *words], stdin=slave, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        printed = b"".join(iter(lambda: _read(master), b""))
    os.close(master)
    assert process.returncode == 0, printed
    assert b"[2J" in printed
    assert b"\x1b" not in printed


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other side is closed
        return b""


def test_the_reader_of_a_pipe_may_leave_early(made):
    call = f"{sys.executable} -m paramhs export {made[0]} | head -c 10"
    done = subprocess.run(["bash", "-c", call], capture_output=True, timeout=120, check=True)
    assert len(done.stdout) == 10
    assert b"damaged" not in done.stderr
    assert b"Traceback" not in done.stderr


class TestCommand:
    def call(self, *words):
        return CliRunner().invoke(app, ["export", *map(str, words)])

    def test_a_file_has_the_format_of_its_name(self, made, tmp_path):
        for kind in FORMATS:
            out = tmp_path / f"rows.{kind}"
            done = self.call(made[0], "--out", out)
            assert done.exit_code == 0, done.output
            if kind != "parquet":
                assert out.read_bytes() == exported(made[0], "runs", kind)

    def test_standard_output_is_the_table(self, made):
        done = self.call(made[0], "--what", "trajectory", "--format", "jsonl")
        assert [json.loads(line)["runs"] for line in done.stdout.splitlines()] == [
            point.runs for point in made[1].trajectory
        ]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--format", "xls"), "unknown format"),
            (("--what", "everything"), "unknown table"),
            (("--out", "rows.xls"), "unknown format"),
            (("--format", "parquet"), "needs a file to write into"),
            (("--json",), "needs a file to write into"),
            (("--out", "nowhere/at/all/rows.csv"), "cannot write"),
        ],
    )
    def test_what_cannot_be_is_refused(self, made, words, message):
        done = self.call(made[0], *words)
        assert isinstance(done.exception, BadInput)
        assert message in str(done.exception)
