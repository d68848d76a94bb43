"""paramhs: good parameters for a solver, a heuristic or any program, honestly compared."""

from paramhs.faces.ask_tell import AskTell
from paramhs.faces.tuning import Result, tune
from paramhs.search.comparison import FixedRuns, FreshRuns, Growing
from paramhs.search.configurators import ParamILS, ParamRLS
from paramhs.search.operators import Anywhere, BothSides, Harmonic, LStep, One, Several, Uniform
from paramhs.values.costs import Quality, Runtime, RuntimeThenQuality
from paramhs.values.errors import BadInput, ParamhsError, StoreError, TargetError
from paramhs.values.space import Boolean, Categorical, Config, Integer, Ordinal, Real, Space
from paramhs.world.driver import Budget, Watcher

__version__ = "0.2.0.dev0"

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
