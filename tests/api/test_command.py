"""A command tuned from Python."""

import sys

import pytest

from paramhs import BadInput, Command, Integer, JsonLine, Pattern, Space, StoreError, tune
from paramhs.core import Status
from paramhs.core.costs import Quality
from paramhs.core.runs import NO_INSTANCE, Task
from paramhs.testing import check_target

SPACE = {"x": Integer(0, 9, default=0), "flag": [True, False]}
PRINTS = "import sys; x = int(sys.argv[1]); print('cost:', abs(x - 6), 'of', 9)"


def command(code=PRINTS, words="{x} {flag}", **more):
    quoted = code.replace("{", "{{").replace("}", "}}")
    return Command(f'{sys.executable} -I -S -c "{quoted}" {words}', **more)


def test_a_command_is_tuned_with_its_output():
    result = tune(command(read=Pattern(r"cost: (\d+)")), SPACE, budget=40)
    assert result.best["x"] == 6
    assert result.best_cost == 0


@pytest.mark.parametrize(
    ("read", "code"),
    [
        ("last number", "import sys; print('a 77 b', abs(int(sys.argv[1]) - 6))"),
        (JsonLine("cost"), "import sys; print('{\\'cost\\': %d}' % abs(int(sys.argv[1]) - 6))"),
    ],
)
def test_what_is_read(read, code):
    code = code.replace("\\'", '\\"')
    assert tune(command(code, read=read), SPACE, budget=40).best["x"] == 6


def test_a_command_is_tuned_for_time_and_stopped_at_the_cutoff():
    code = "import sys, time; x = int(sys.argv[1]); time.sleep(60 * (x > 4))"
    rules = {"cost": "runtime", "cutoff": 0.5, "initial": [{"x": 9}]}
    result = tune(command(code, clock="wall"), SPACE, budget=8, **rules)
    late = [run for run in result.runs if run.task.config["x"] > 4]
    assert late
    assert {run.status for run in late} <= {Status.CAPPED, Status.TIMEOUT}


def test_a_command_can_be_called_without_a_search():
    space = Space(SPACE)
    target = command(read=Pattern(r"cost: (\d+)")).target(space, Quality(), None)
    check_target(target, Task(space.config(x=2, flag=True), NO_INSTANCE, 1, 20.0))
    assert target(Task(space.config(x=2, flag=True), NO_INSTANCE, 1, 20.0)).quality == 4


def test_another_command_does_not_share_a_store(tmp_path):
    how = {"budget": 9, "store": tmp_path / "runs.sqlite"}
    tune(command(read="last number"), SPACE, **how)
    with pytest.raises(StoreError, match=r"target\.command: stored"):
        tune(command(PRINTS + "; 1", read="last number"), SPACE, **how)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "needs a reader for its output"),
        (
            {"read": "all"},
            "read must be one of 'last number', 'aclib', 'irace', 'aclib2' or a reader",
        ),
        ({"words": "{x}", "read": "last number"}, "the command does not mention flag"),
        ({"read": "last number", "style": "x"}, "is not a style"),
    ],
)
def test_what_is_wrong_is_said(wrong, message):
    with pytest.raises(BadInput, match=message):
        tune(command(**wrong), SPACE, budget=9)


def test_no_program_is_said():
    with pytest.raises(BadInput, match="there is no program nowhere"):
        tune(Command("nowhere {x} {flag}", read="last number"), SPACE, budget=9)
