"""Scenario files changed at random: each is read, or refused by one message that names the file."""

import os
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paramhs.core.errors import BadInput
from paramhs.formats.scenario import read_scenario
from tests.support.aclib_tree import SCENARIO as ACLIB
from tests.support.aclib_tree import aclib

TOML = """\
command = "true {instance} {seed} {params}"
cost = "runtime"
cutoff = "5 s"
memory = "2 GB"
instances = ["a", "b"]
conditions = {rate = "mode == slow"}
forbidden = ["k > 40 and flag"]
initial = [{k = 3, mode = "slow", rate = 0.5}]
[space]
k = [1, 50]
rate = {type = "real", low = 0.001, high = 1.0, log = true}
mode = ["fast", "slow"]
flag = true
[budget]
runs = 100
[configurator]
name = "paramils"
kicks = 3
"""

IRACE = f"""\
parameterFile = "parameters.txt"
targetRunner = "{sys.executable}"
trainInstancesFile <- 'list.txt'
configurationsFile = "begin.txt" # where to begin
forbiddenFile = "forbidden.txt"
maxExperiments = 60
boundMax = 5
seed = 12L
deterministic = TRUE
"""

BESIDE = {
    "parameters.txt": 'k "--k " i (0, 60)\nmode "--mode " c (fast, slow)\n',
    "begin.txt": 'k mode\n3 "fast"\nNA slow\n',
    "forbidden.txt": '(k > 50) & (mode == "slow")\n',
    "list.txt": "a\nb 3\n",
}

# No slash and no dot: a folder elsewhere may be large.
PIECES = st.sampled_from(
    [
        *('"', "'", '"""', "[", "]", "{", "}", "=", ",", "#", "\n", "\\", " ", "<-", "-", "(", ")"),
        *("\\u0000", "\x1b", "nan", "inf", "1e999", "9" * 5000, "true", "NA", "[" * 500, "k", "é"),
    ]
)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), PIECES | st.just("")), max_size=4)


def edited(text, edits):
    for where, cut, piece in edits:
        at = int(where * len(text))
        text = text[:at] + piece + text[at + cut :]
    return text


@pytest.fixture
def folder(tmp_path):
    for name, text in BESIDE.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def tree(tmp_path):
    return aclib(tmp_path)


def refuse_or_read(path, text):
    path.write_text(text, encoding="utf-8")
    try:
        read_scenario(path)
    except BadInput as error:
        return str(error)
    return f"{path}"


MANY = settings(
    max_examples=int(os.environ.get("FUZZ", "200")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


class TestAnyText:
    @MANY
    @given(edits=EDITS)
    def test_toml(self, folder, edits):
        path = folder / "scenario.toml"
        assert refuse_or_read(path, edited(TOML, edits)).startswith(f"{path}")

    @MANY
    @given(edits=EDITS)
    def test_irace(self, folder, edits):
        path = folder / "scenario.txt"
        assert refuse_or_read(path, edited(IRACE, edits)).startswith(f"{path}")

    @MANY
    @given(edits=EDITS)
    def test_aclib(self, tree, edits):
        path = tree
        assert refuse_or_read(path, edited(ACLIB, edits)).startswith(f"{path}")

    @MANY
    @given(edits=EDITS, name=st.sampled_from(sorted(BESIDE)))
    def test_files_beside_a_scenario_of_irace(self, folder, edits, name):
        (folder / name).write_text(edited(BESIDE[name], edits), encoding="utf-8")
        path = folder / "scenario.txt"
        assert refuse_or_read(path, IRACE).startswith(f"{path}")
