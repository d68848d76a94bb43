"""The examples, as a reader would run them: a copy of the folder, the commands of its comments."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from paramhs.core.space import Config, Space
from paramhs.formats.scenario import ScenarioFile, read_scenario
from tests.support.command_line import paramhs

EXAMPLES = Path(__file__).parents[2] / "examples"

TINY = {
    "cadical": "--variables 40 --count 12",
    "heuristic": "",
    "highs": "--rows 10 --columns 20 --count 12",
    "kissat": "--vertices 20 --count 12",
    "minisat": "--variables 40 --count 12",
}
"""What is added to the commands that make instances."""

PARAMETERS = {"cadical": 38, "heuristic": 7, "highs": 19, "kissat": 147, "minisat": 18}


def missing(name: str) -> str:
    """Why an example cannot run here, if it cannot."""
    if name in ("cadical", "minisat") and not shutil.which(name):
        return f"{name} is not installed: apt-get install {name}"
    if name == "highs" and not find_spec("highspy"):
        return "highspy is not installed: pip install highspy"
    if name == "kissat" and not (find_spec("sage_wheels") or shutil.which("kissat")):
        return "kissat is not installed: pip install passagemath-kissat"
    return ""


def commands(scenario: Path) -> Iterator[list[str]]:
    """What the comments at its head tell a reader to type."""
    for line in scenario.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            return
        if line.startswith("#   "):
            yield shlex.split(line[1:], comments=True)


def run(*words: str, cwd: Path) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A copy of an example with tiny instances, made once; skips where its solver is absent."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if reason := missing(name):
            pytest.skip(reason)
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / name
            _prepare(name, made[name])
        return made[name]

    return folder


def _prepare(name: str, folder: Path) -> None:
    ignored = shutil.ignore_patterns("instances", "kissat", "*.pcs", "*.sqlite*", "__pycache__")
    shutil.copytree(EXAMPLES / name, folder, ignore=ignored)
    if name == "heuristic":
        _shorten(folder / "annealing.py", "STEPS = 6_000", "STEPS = 60")
    for words in commands(folder / "scenario.toml"):
        if words[:2] == ["paramhs", "instances"]:
            done = paramhs(*words[1:], *TINY[name].split(), cwd=folder)
            assert done.returncode == 0, done.stderr
        elif words[0] == "python":
            run(sys.executable, *words[1:], cwd=folder)


def _shorten(file: Path, long: str, short: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(long) == 1
    file.write_text(text.replace(long, short), encoding="utf-8")


def read(folder: Path) -> ScenarioFile:
    return read_scenario(folder / "scenario.toml")


def extremes(space: Space) -> Iterator[Config]:
    """All parameters at their first value, and at their last."""
    yield space.configured([0 for _ in space.parameters.values()])
    yield space.configured([p.levels - 1 for p in space.parameters.values()])


def solved(folder: Path, config: Config) -> bool:
    """Whether the program of an example solves an instance with this configuration."""
    target: Any = read(folder).target
    instance = min((folder / "instances").iterdir())
    words = target.command_line(config).replace("INSTANCE", str(instance)).replace("SEED", "7")
    done = subprocess.run(shlex.split(words), cwd=folder, capture_output=True, check=False)
    return done.returncode in (10, 20)


def test_every_example_is_tested():
    assert sorted(path.parent.name for path in EXAMPLES.glob("*/scenario.toml")) == sorted(TINY)


@pytest.mark.parametrize("name", TINY)
def test_an_example_is_a_valid_scenario_with_held_out_instances(name: str, prepared) -> None:
    message = read(prepared(name))
    assert len(message.scenario.space.parameters) == PARAMETERS[name]
    assert message.test_set is not None
    assert message.test_set.held_out
    assert message.jobs == 2


@pytest.mark.parametrize("name", TINY)
def test_the_comments_lead_to_tuning(name: str) -> None:
    assert list(commands(EXAMPLES / name / "scenario.toml"))[-1] == [
        "paramhs",
        "tune",
        "scenario.toml",
    ]


@pytest.mark.parametrize("name", TINY)
def test_a_short_search_ends_and_its_default_never_fails(name: str, prepared) -> None:
    done = paramhs("tune", "scenario.toml", "--runs", 30, "--jobs", 1, "--json", cwd=prepared(name))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 29 <= result["runs"] <= 30
    assert result["stopped"].startswith("the budget of 30 runs is spent")
    assert result["default_failed"] == 0
    if result["best"] != result["default"]:
        assert result["verdict"]["first"]["failed"] == 0
        assert result["verdict"]["first"]["solved"] == result["verdict"]["first"]["runs"]


@pytest.mark.parametrize("name", ["cadical", "kissat", "minisat"])
def test_a_solver_takes_the_ends_of_all_ranges(name: str, prepared) -> None:
    folder = prepared(name)
    space = read(folder).scenario.space
    assert solved(folder, space.default)
    for config in extremes(space):
        assert solved(folder, config), config


def assert_own_defaults(folder: Path, message: Mapping[str, str]) -> None:
    """The example has the defaults that the program says it has."""
    words = {"on": "1", "off": "0", "true": "1", "false": "0"}
    space = read(folder).scenario.space
    own = {name: float(words.get(message[name], message[name])) for name in space.parameters}
    defaults: dict[str, Any] = {name: p.default for name, p in space.parameters.items()}
    assert {name: float(value) for name, value in defaults.items()} == own


def test_the_default_of_minisat_is_its_own(prepared):
    folder = prepared("minisat")
    text = subprocess.run(["minisat", "--help-verb"], capture_output=True, text=True, check=False)
    message = dict(re.findall(r"^ +-([\w-]+)[ ,].*\(default: (.*)\)$", text.stderr, re.MULTILINE))
    assert_own_defaults(folder, message)


def test_the_default_of_cadical_is_its_own(prepared):
    folder = prepared("cadical")
    message = dict(
        re.findall(r"^ +--(\w+)=.*\[(\S+)\]$", run("cadical", "--help", cwd=folder), re.M)
    )
    assert_own_defaults(folder, message)


def test_the_default_of_kissat_is_its_own_and_every_other_option_has_a_reason(prepared):
    folder = prepared("kissat")
    rows = [line.split() for line in run("./kissat", "--range", cwd=folder).splitlines()]
    assert_own_defaults(folder, {name: default for name, _, default, _ in rows})
    left = {name for name, *_ in rows} - read(folder).scenario.space.parameters.keys()
    assert left == {"flushproof", "incremental", "profile", "seed", "statistics", "verbose"}


def ranges(name: str, folder: Path) -> dict[str, tuple[float, float]]:
    """What a solver says of its options; cadical corrects what lies outside without a word."""
    if name == "kissat":
        rows = [line.split() for line in run("./kissat", "--range", cwd=folder).splitlines()]
        return {option: (float(low), float(high)) for option, low, _, high in rows}
    found = re.findall(r"^ +--(\w+)=(\S+)\.\.(\S+) ", run(name, "--help", cwd=folder), re.MULTILINE)
    return {option: (float(low), float(high)) for option, low, high in found}


@pytest.mark.parametrize("name", ["cadical", "kissat"])
def test_all_values_lie_in_the_ranges_of_the_solver(name: str, prepared) -> None:
    folder = prepared(name)
    space = read(folder).scenario.space
    for option, (low, high) in ranges(name, folder).items():
        if option in space.parameters:
            parameter = space.parameters[option]
            values = [float(str(parameter.value(i))) for i in range(parameter.levels)]
            assert values == sorted(set(values)), option
            assert low <= values[0] < values[-1] <= high, option


def test_the_default_of_highs_is_its_own(prepared):
    folder = prepared("highs")
    highs = pytest.importorskip("highspy").Highs()
    for name, value in read(folder).scenario.space.default.as_dict().items():
        assert highs.getOptionValue(name)[1] == value, name


@pytest.mark.parametrize("given", ["no/such/kissat", sys.executable, shutil.which("echo")])
def test_preparing_with_what_is_no_kissat_is_one_clear_line(given: str, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "kissat" / "prepare.py", tmp_path)
    words = [sys.executable, "prepare.py", given]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert given in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "kissat.pcs").exists()
