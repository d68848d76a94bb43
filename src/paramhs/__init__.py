"""paramhs: good parameters for a solver, a heuristic or any program, honestly compared."""

from paramhs.ask_tell import AskTell
from paramhs.comparison import FixedRuns, FreshRuns, Growing
from paramhs.configurators import ParamILS, ParamRLS
from paramhs.costs import Quality, Runtime, RuntimeThenQuality
from paramhs.driver import Budget, Watcher
from paramhs.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.operators import Anywhere, BothSides, Harmonic, LStep, One, Several, Uniform
from paramhs.space import Boolean, Categorical, Config, Integer, Ordinal, Real, Space
from paramhs.tuning import Result, tune

__version__ = "0.1.0"

__all__ = [
    "Anywhere",
    "AskTell",
    "BadInput",
    "Boolean",
    "BothSides",
    "Budget",
    "Categorical",
    "Config",
    "FixedRuns",
    "FreshRuns",
    "Growing",
    "Harmonic",
    "Integer",
    "LStep",
    "One",
    "Ordinal",
    "ParamILS",
    "ParamRLS",
    "ParamhsError",
    "Quality",
    "Real",
    "Result",
    "Runtime",
    "RuntimeThenQuality",
    "Several",
    "Space",
    "StoreError",
    "TargetError",
    "Uniform",
    "Watcher",
    "tune",
]
