"""Conformance suite for targets."""

import json
import math

from paramhs.core.runs import Run, Target, Task


def check_target(target: Target, task: Task) -> None:
    """Check that a target runs a task, repeatedly, and describes itself.

    Args:
        target: The target to check.
        task: A run that should succeed.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.core import Instance, Run, Status, Target, Task
        >>> from paramhs.testing import check_target
        >>> class Double(Target):
        ...     def __call__(self, task):
        ...         return Run(task, Status.OK, 0.0, quality=2.0 * task.config["x"])
        >>> check_target(Double(), Task(Space({"x": range(3)}).default, Instance("a"), seed=1))
    """
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
