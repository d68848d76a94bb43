"""What every command prints with --json is what docs/json says that it prints."""

import contextlib
import json
from pathlib import Path

import pytest
import typer
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from typer.testing import CliRunner

from paramhs.bundled.instances.dimacs import dimacs
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.bundled.plain_saps import PlainSaps
from paramhs.cli import app
from paramhs.core.random_streams import stream
from paramhs.execution.driver import Budget
from tests.support.command_line import TARGET
from tests.support.own_solver import own_solver

FOLDER = Path(__file__).parents[2] / "docs/json"
SMAC3 = Path(__file__).parents[1] / "formats/data/smac3"
SCHEMAS = {path.name: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}

SCENARIO = """\
function = "target:noisy"
executor = "inline"
instances = ["a", "b"]
verdict = {runs = 4}

[space]
x = [0, 99]
mode = ["a", "b"]

[budget]
runs = 30
"""

COMMAND = """\
command = "awk 'BEGIN {{ print ({x} - 3) ^ 2 + {instance} }}'"
read = "last number"
deterministic = true
instances = ["1", "2", "3"]
test_instances = ["4", "5"]

[space]
x = [0, 9]

[budget]
runs = 12
"""

SMALL = """\
function = "fragile:fragile"

[space]
k = [0, 3]
mode = ["a", "b"]

[budget]
runs = 12
"""

FRONT = """\
function = "fragile:both"
cost = ["minimise size", "minimise loss"]
subject_to = "loss <= 9"
instances = [1, 2, 3]
test_instances = [4, 5]

[space]
k = [0, 9]

[budget]
runs = 25
"""

FRAGILE = """\
def fragile(config):
    if config["mode"] == "b":
        raise RuntimeError("no such mode")
    return config["k"]


def both(config, instance):
    return {"size": instance + config["k"], "loss": instance + (9 - config["k"])}
"""

CALLS = {
    "check": [["scenario.toml", "--runs", "2"], ["small.toml", "--runs", "1", "--values"]],
    "demo": [[]],  # made short below
    "export": [["scenario.sqlite", "--what", "configurations", "--out", "rows.csv"]],
    "import": [[str(SMAC3), "--store", "imported.sqlite"]],
    "init": [["new"]],
    "instances": [["random-ksat", "--variables", "10", "--count", "1", "--out", "generated"]],
    "landscape": [["table.csv"], ["two.csv"]],
    "portfolio": [["scenario.sqlite", "-k", "2", "--runs", "20"]],
    "report": [["scenario.sqlite", "--figures", "figures"]],
    "saps": [["small.cnf", "--cutoff", "20", "--runs", "2"]],
    "show": [
        ["scenario.sqlite"],
        ["one.sqlite"],
        ["broken.sqlite"],
        ["front.sqlite", "--pick", "loss <= 99"],
    ],
    "simplify": [["scenario.toml", "--budget", "40"]],
    "solvers": [[], ["--solver", "mine.toml"]],
    "space": [["scenario.toml"], ["scenario.toml", "--to", "pcs-new"]],
    "tune": [
        ["scenario.toml"],
        ["scenario.toml", "--no-verdict", "--no-report"],
        ["scenario.toml", "--runs", "1", "--store", "one.sqlite", "--no-report"],
        ["scenario.toml", "--runs", "20", "--store", "short.sqlite", "--no-report"],
        ["command.toml"],
        [
            "scenario.toml",
            "--runs",
            "40",
            "--portfolio",
            "2",
            "--store",
            "both.sqlite",
            "--no-report",
        ],
        ["small.toml", "--store", "broken.sqlite", "--no-report"],
        ["front.toml", "--no-report"],
    ],
    "validate": [["scenario.toml", "-c", "default", "-c", "x=70"]],
}
"""Calls of each command, in a folder that has all they need; --json is added."""


def commands():
    """The names of all commands that print JSON."""
    group = typer.main.get_command(app)
    return sorted(group.commands)


def validator(name):
    registry = Registry().with_resources(
        (schema, Resource.from_contents(content)) for schema, content in SCHEMAS.items()
    )
    return Draft202012Validator(SCHEMAS[name], registry=registry)


def test_every_command_has_a_schema_and_every_schema_a_command():
    assert set(commands()) == set(CALLS)
    assert {f"{name}.schema.json" for name in CALLS} | {"common.schema.json"} == set(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas_and_say_what_is_there(name):
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == name
    if name != "common.schema.json":
        assert schema["additionalProperties"] is False
        assert schema["properties"]["version"]["const"] == 1


def furnish(folder):
    (folder / "target.py").write_text(TARGET, encoding="utf-8")
    (folder / "scenario.toml").write_text(SCENARIO)
    (folder / "command.toml").write_text(COMMAND)
    (folder / "small.toml").write_text(SMALL)
    (folder / "front.toml").write_text(FRONT)
    (folder / "fragile.py").write_text(FRAGILE)
    (folder / "table.csv").write_text("x,cost\n1,5\n2,3\n3,4\n4,1\n")
    (folder / "two.csv").write_text("x,y,cost\n1,a,5\n1,b,3\n2,a,4\n2,b,1\n")
    formula = random_ksat(3, 20, 3.0, False, stream(0, "schemas"))
    (folder / "small.cnf").write_text(dimacs(formula))
    own_solver(folder)
    return folder


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A folder with the stores that other commands read, made by the first test."""
    folder = furnish(tmp_path_factory.mktemp("json"))
    with contextlib.chdir(folder):
        for words in CALLS["tune"]:
            assert CliRunner().invoke(app, ["tune", *words]).exit_code == 0
    return folder


@pytest.mark.parametrize("name", CALLS)
def test_what_is_printed_is_what_the_schema_says(name, request, tmp_path, monkeypatch):
    new = name == "tune"
    monkeypatch.chdir(furnish(tmp_path) if new else request.getfixturevalue("searched"))
    monkeypatch.setattr("paramhs.cli.demonstration.BUDGET", Budget(runs=150))
    monkeypatch.setattr("paramhs.cli.demonstration.target", lambda: PlainSaps(20))
    for words in CALLS[name]:
        done = CliRunner().invoke(app, [name, *words, "--json"])
        assert done.exit_code == 0, done.output
        message = json.loads(done.stdout)
        validator(f"{name}.schema.json").validate(message)
        assert next(iter(message)) == "version"


def test_the_demo_prints_what_tune_does():
    demo, tune = (SCHEMAS[f"{name}.schema.json"]["properties"] for name in ("demo", "tune"))
    assert demo.keys() - {"pictures"} == tune.keys() - {"command", "page", "portfolio"}
    assert all(demo[name] == tune[name] for name in demo.keys() & tune.keys())


def test_a_schema_refuses_what_is_not_said_there():
    message = {"version": 1, "files": ["a"]}
    assert validator("init.schema.json").is_valid(message)
    assert not validator("init.schema.json").is_valid({**message, "more": 1})
    assert not validator("init.schema.json").is_valid({"version": 2, "files": []})
