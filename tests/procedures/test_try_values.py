"""`check --values`: each value once, and which of them fail."""

import json
import re
import tomllib

import pytest
from hypothesis import given

from paramhs import Boolean, Categorical, Integer, Real, Space
from paramhs.procedures.try_values import config_with, planned, tried_indices
from tests.support.command_line import flat, paramhs
from tests.support.scale import examples
from tests.support.spaces import spaces

SPACE = Space(
    {"x": Real(0.0, 1.0), "mode": ["flat", "deep"], "depth": Integer(1, 100), "k": Integer(1, 3)},
    conditions={"depth": "mode == deep", "k": "depth > 90"},
)

TARGET = """\
def cost(config, seed):
    if config["heuristic"] == "Vsid":
        raise ValueError("'Vsid' invalid value")
    if config.get("depth", 0) > 60:
        raise MemoryError("too deep")
    return config["x"] + seed % 7

def broken(config, seed):
    raise ValueError("never")
"""
SCENARIO = """\
function = "target:cost"
configurator = {name = "paramhs-plain"}
budget = {runs = 300}
conditions = {depth = "mode == deep", k = "depth > 50"}
[space]
x = [0.0, 1.0]
heuristic = ["vsids", "vmtf", "Vsid"]
mode = ["flat", "deep"]
depth = [1, 100]
k = [1, 3]
"""


class TestPlan:
    def test_all_values_of_lists_and_ends_and_a_few_of_grids(self):
        assert tried_indices(Categorical(list(range(40)))) == list(range(40))
        assert tried_indices(Boolean()) == [0, 1]
        assert tried_indices(Integer(1, 5)) == [0, 1, 2, 3, 4]
        assert tried_indices(Integer(1, 101)) == [0, 100, 50, 25, 75]

    def test_one_parameter_is_changed_and_what_it_needs(self):
        assert config_with(SPACE, "x", 64) == SPACE.config(x=1.0)
        assert config_with(SPACE, "depth", 9) == SPACE.config(mode="deep", depth=10)
        reached = config_with(SPACE, "k", 2)
        assert (reached["mode"], reached["k"]) == ("deep", 3)
        assert reached["depth"] > 90

    def test_each_parameter_comes_once_before_any_comes_again(self):
        plan, unreachable = planned(SPACE)
        assert [one.name for one in plan[:4]] == ["x", "mode", "depth", "k"]
        assert unreachable == []

    def test_what_can_never_be_active_is_named(self):
        space = Space(
            {"a": Boolean(), "b": Boolean()}, conditions={"b": "a == true and a == false"}
        )
        plan, unreachable = planned(space)
        assert unreachable == ["b"]
        assert {one.name for one in plan} == {"a"}

    def test_what_is_forbidden_is_not_tried(self):
        space = Space({"a": Boolean(), "m": ["x", "y", "z"]}, forbidden=["m == z"])
        assert {one.value for one in planned(space)[0] if one.name == "m"} == {"y"}

    @examples(25)
    @given(spaces())
    def test_every_planned_configuration_is_allowed_and_has_its_value(self, space):
        for one in planned(space)[0]:
            assert space.allowed(one.config)
            assert one.config[one.name] == one.value
            assert one.config != space.default


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "target.py").write_text(TARGET, encoding="utf-8")
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


class TestCheck:
    def test_what_fails_is_named_with_its_message_and_the_line_that_forbids_it(self, folder):
        message = paramhs("check", "s.toml", "--values", cwd=folder)
        assert message.returncode == 0, message.stderr
        text = flat(message.stdout)
        assert "15 of 15 values tried, 3 of them failed" in text
        assert "heuristic == \"Vsid\" crashed: ValueError: 'Vsid' invalid value" in text
        (line,) = [x for x in message.stdout.splitlines() if "forbidden =" in x]
        assert tomllib.loads(line.strip()) == {"forbidden": ['heuristic == "Vsid"', "depth >= 76"]}
        (folder / "s.toml").write_text(line.strip() + "\n" + SCENARIO, encoding="utf-8")
        again = paramhs("check", "s.toml", "--values", "--json", cwd=folder)
        assert json.loads(again.stdout)["values"]["failing"] == []

    def test_a_budget_in_runs_is_kept(self, folder):
        message = paramhs("check", "s.toml", "--values", "--budget", 4, "--json", cwd=folder)
        values = json.loads(message.stdout)["values"]
        assert values["stopped"] == "the budget of 4 runs is spent"
        assert values["tried"] < values["planned"] == 15

    def test_a_budget_may_be_a_time(self, folder):
        message = paramhs("check", "s.toml", "--values", "--budget", "10 min", "--json", cwd=folder)
        assert json.loads(message.stdout)["values"]["stopped"] == ""
        bad = paramhs("check", "s.toml", "--values", "--budget", "soon", cwd=folder)
        assert (bad.returncode, bad.stderr) == (2, bad.stderr)
        assert "'soon' is not a duration" in bad.stderr

    def test_a_default_that_fails_ends_it(self, folder):
        text = SCENARIO.replace("target:cost", "target:broken")
        (folder / "s.toml").write_text(text, encoding="utf-8")
        message = paramhs("check", "s.toml", "--values", cwd=folder)
        assert message.returncode == 1
        assert "the default fails" in message.stderr


class TestTune:
    def test_failures_are_counted_grouped_and_said_at_the_end(self, folder):
        message = paramhs("tune", "s.toml", "--no-verdict", cwd=folder)
        assert message.returncode == 0  # a configuration that crashes is data
        assert "failures:" in message.stdout
        assert re.search(r'runs with heuristic == "Vsid" crashed, \d of', flat(message.stdout))
        assert 'forbidden = [\'heuristic == "Vsid"' in message.stdout
        found = json.loads(paramhs("tune", "s.toml", "--no-verdict", "--json", cwd=folder).stdout)
        assert found["failed_runs"] == sum(group["failed"] for group in found["failures"]) > 0
