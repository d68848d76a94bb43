"""The examples, as a reader would run them: a copy of the folder, the commands of its comments."""

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from paramhs.formats.scenario import read_scenario
from tests.support.command_line import paramhs

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["heuristic"]


def commands(scenario: Path) -> Iterator[list[str]]:
    """What the comments at its head tell a reader to type."""
    for line in scenario.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            return
        if line.startswith("#   "):
            yield shlex.split(line[1:], comments=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the heuristic's folder, with fewer steps."""
    made = tmp_path_factory.mktemp("examples") / "heuristic"
    shutil.copytree(EXAMPLES / "heuristic", made, ignore=shutil.ignore_patterns("*.sqlite*"))
    file = made / "annealing.py"
    text = file.read_text(encoding="utf-8")
    assert text.count("STEPS = 6_000") == 1
    file.write_text(text.replace("STEPS = 6_000", "STEPS = 60"), encoding="utf-8")
    return made


def test_every_example_is_tested():
    assert sorted(path.parent.name for path in EXAMPLES.glob("*/scenario.toml")) == NAMES


def test_the_example_is_a_valid_scenario_with_held_out_instances(folder):
    message = read_scenario(folder / "scenario.toml")
    assert len(message.scenario.space.parameters) == 7
    assert message.test_set is not None
    assert message.test_set.held_out
    assert message.jobs == 2


def test_the_comments_lead_to_tuning():
    found = list(commands(EXAMPLES / "heuristic" / "scenario.toml"))
    assert found[-1] == ["paramhs", "tune", "scenario.toml"]


def test_a_short_search_ends_and_its_default_never_fails(folder):
    done = paramhs("tune", "scenario.toml", "--runs", 30, "--jobs", 1, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 25 <= result["runs"] <= 30  # a sixth is reserved to finish a race
    assert result["stopped"].startswith("the budget of 30 runs is spent")
    assert result["default_failed"] == 0
