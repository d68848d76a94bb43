"""Conformance suite for targets."""

import json
import math

from paramhs.core.runs import Run, Target, Task


def check_target(target: Target, task: Task) -> None:
    """Check that a target runs a task, repeatedly, and describes itself."""
    first, second = target(task), target(task)
    for run in (first, second):
        assert isinstance(run, Run), f"{run!r} is not a Run"
        assert run.task == task, "the run is of another task"
        assert 0 <= run.runtime < math.inf, f"a runtime of {run.runtime}"
    same = (first.status, first.quality) == (second.status, second.quality)
    assert same, f"the same task gave {first} and {second}"
    assert target.name, "it has no name"
    described = target.describe()
    again = json.loads(json.dumps(described))
    assert again == json.loads(json.dumps(target.describe())), "it describes itself in two ways"
    assert isinstance(target.shown(task), str)
