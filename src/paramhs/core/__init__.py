"""The types that every other layer uses: scenario, space, target, task, run, cost.

A target of your own derives from `Target`: called with a `Task`, it returns a `Run`.
"""

from paramhs.core.capping import Capping
from paramhs.core.costs import CostMetric, CountedWork, Quality, Runtime, RuntimeThenQuality
from paramhs.core.runs import Evaluate, Incumbent, Instance, Pair, Run, Status, Target, Task
from paramhs.core.scenario import Scenario

__all__ = [
    "Capping",
    "CostMetric",
    "CountedWork",
    "Evaluate",
    "Incumbent",
    "Instance",
    "Pair",
    "Quality",
    "Run",
    "Runtime",
    "RuntimeThenQuality",
    "Scenario",
    "Status",
    "Target",
    "Task",
]
