"""paramhs: good parameters for a solver, a heuristic or any program, honestly compared."""

from paramhs.faces.ask_tell import AskTell
from paramhs.faces.command import Command
from paramhs.faces.opening import Opened, open
from paramhs.faces.result import Result
from paramhs.faces.simplifying import simplify
from paramhs.faces.tuning import tune
from paramhs.results.ablation import Simplified
from paramhs.results.verdict import NoVerdict, Verdict
from paramhs.search.comparison import Comparison, FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators import (
    Afresh,
    Asynchronous,
    Configurator,
    ParamHS,
    ParamILS,
    ParamRLS,
    Race,
    Undiscovered,
)
from paramhs.search.history import History
from paramhs.search.operators import (
    Anywhere,
    BothSides,
    Harmonic,
    Learned,
    Learner,
    LStep,
    Narrowing,
    One,
    Operator,
    Several,
    Step,
    Uniform,
)
from paramhs.values.capping import Capping
from paramhs.values.costs import CostMetric, Quality, Runtime, RuntimeThenQuality
from paramhs.values.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.values.runs import Evaluate, Incumbent, Instance, Run, Status, Target, Task
from paramhs.values.scenario import Scenario
from paramhs.values.space import Boolean, Categorical, Config, Integer, Ordinal, Real, Space
from paramhs.values.version import __version__
from paramhs.world.cluster import Dask
from paramhs.world.driver import Budget, Watcher
from paramhs.world.store import Store
from paramhs.world.targets.command import JsonLine, Pattern

__all__ = [
    "Afresh",
    "Anywhere",
    "AskTell",
    "Asynchronous",
    "BadInput",
    "Boolean",
    "BothSides",
    "Budget",
    "Capping",
    "Categorical",
    "Command",
    "Comparison",
    "Config",
    "Configurator",
    "CostMetric",
    "Dask",
    "Evaluate",
    "FixedRuns",
    "Focused",
    "FreshRuns",
    "Growing",
    "Harmonic",
    "History",
    "Incumbent",
    "Instance",
    "Integer",
    "JsonLine",
    "LStep",
    "Learned",
    "Learner",
    "Narrowing",
    "NoVerdict",
    "One",
    "Opened",
    "Operator",
    "Ordinal",
    "ParamHS",
    "ParamILS",
    "ParamRLS",
    "ParamhsError",
    "Pattern",
    "Quality",
    "Race",
    "Real",
    "Result",
    "Run",
    "Runtime",
    "RuntimeThenQuality",
    "Scenario",
    "Several",
    "Simplified",
    "Space",
    "Status",
    "Step",
    "Store",
    "StoreError",
    "Target",
    "TargetError",
    "Task",
    "Undiscovered",
    "Uniform",
    "Verdict",
    "Watcher",
    "__version__",
    "open",
    "simplify",
    "tune",
]
