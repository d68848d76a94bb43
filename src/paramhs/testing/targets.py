"""What every target must do."""

import json
import math

from paramhs.values.runs import Run, Target, Task


def check_target(target: Target, task: Task) -> None:
    """A task gives a run of that task, again and again, and the target says what it is."""
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
