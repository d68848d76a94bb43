"""What is in a store, as tables for other programs."""

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import paramhs
from paramhs import Categorical, Space, tune
from paramhs.faces.cli import app
from paramhs.faces.exporting import (
    FORMATS,
    TABLES,
    as_csv,
    as_json_lines,
    as_parquet,
    export_table,
)
from paramhs.values.errors import BadInput

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
    return export_table(paramhs.open(path), what, "csv", None)[0]


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
    assert numbers[: result.asked] == list(range(40))
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
    opened = paramhs.open(made[0])
    table, text = export_table(opened, what, "csv", None)
    read = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in table] == read
    lines = export_table(opened, what, "jsonl", None)[1].decode().splitlines()
    assert [json.loads(line) for line in lines] == table


TEXTS = st.text(max_size=5) | st.sampled_from(["a\rb", "\r\n", '"', "\x00", "\ud800", "=1+1", ","])
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), min_size=1, max_size=4))
def test_any_text_can_be_read_back_from_any_format(table):
    def kept(value):
        return (
            value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        )

    text = as_csv(table).decode()
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    assert read == [{k: "" if v is None else kept(str(v)) for k, v in row.items()} for row in table]
    finite = [{k: None if v in (math.inf, -math.inf) else v for k, v in r.items()} for r in table]
    assert [json.loads(line) for line in as_json_lines(finite).split(b"\n")[:-1]] == finite
    columns = read_parquet(as_parquet(table))
    assert [row["a"] is None for row in columns] == [row["a"] is None for row in table]
    numbers = [{"a": 2**70}, {"a": 10**400}, {"a": 0.5}]
    again = read_parquet(as_parquet(numbers))
    assert [row["a"] for row in again] == [str(row["a"]) for row in numbers]


def test_parquet_keeps_numbers_and_writes_mixed_values_as_texts(made):
    table, content = export_table(paramhs.open(made[0]), "runs", "parquet", None)
    read = read_parquet(content)
    assert [row["quality"] for row in read] == [row["quality"] for row in table]
    assert [row["config.mode"] for row in read] == [str(row["config.mode"]) for row in table]
    wide = [{"n": 2**70, "m": 1}, {"n": None, "m": 0.5}, {"n": 3, "m": None}]
    again = read_parquet(as_parquet(wide))
    assert [row["m"] for row in again] == [1.0, 0.5, None]
    assert read_parquet(as_parquet([])) == []


def test_a_result_is_a_data_frame(made):
    pytest.importorskip("pandas")
    path, result = made
    for frame in (result.to_dataframe(), paramhs.open(path).to_dataframe()):
        assert list(frame["config.x"]) == [run.task.config["x"] for run in result.runs]
        assert list(frame["status"]) == [run.status.value for run in result.runs]


class TestCommand:
    def call(self, *words):
        return CliRunner().invoke(app, ["export", *map(str, words)])

    def test_a_file_has_the_format_of_its_name(self, made, tmp_path):
        for kind in FORMATS:
            out = tmp_path / f"rows.{kind}"
            done = self.call(made[0], "--out", out)
            assert done.exit_code == 0, done.output
            if kind != "parquet":
                assert (
                    out.read_bytes() == export_table(paramhs.open(made[0]), "runs", kind, None)[1]
                )

    def test_standard_output_is_the_table(self, made):
        done = self.call(made[0], "--what", "trajectory", "--format", "jsonl")
        assert [json.loads(line)["runs"] for line in done.stdout.splitlines()] == [
            point.runs for point in made[1].trajectory
        ]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--format", "xls"), "there is no such format"),
            (("--what", "everything"), "there is no such table"),
            (("--out", "rows.xls"), "there is no such format"),
            (("--format", "parquet"), "needs a file to write into"),
            (("--json",), "needs a file to write into"),
            (("--out", "nowhere/at/all/rows.csv"), "cannot be written"),
        ],
    )
    def test_what_cannot_be_is_refused(self, made, words, message):
        done = self.call(made[0], *words)
        assert isinstance(done.exception, BadInput)
        assert message in str(done.exception)
