"""paramhs: good parameters for a solver, a heuristic or any program, honestly compared.

What users need is here. Targets of your own are made from `paramhs.core`, configurators, operators
and comparisons from `paramhs.search`; `paramhs.testing` holds them to our conformance suites.
"""

from importlib import import_module

from paramhs.analysis.verdict import Verdict
from paramhs.api.ask_tell import AskTell
from paramhs.api.command import Command
from paramhs.api.import_search import import_search
from paramhs.api.load import load
from paramhs.api.portfolio import portfolio
from paramhs.api.simplify import simplify
from paramhs.api.tune import tune
from paramhs.api.validate import validate
from paramhs.core.errors import BadInput, ParamhsError, ParamhsWarning, StoreError, TargetError
from paramhs.core.space import Boolean, Categorical, Config, Integer, Ordinal, Real, Space
from paramhs.core.version import __version__
from paramhs.execution.cluster import Dask
from paramhs.execution.driver import Budget, Watcher
from paramhs.execution.targets import Answered
from paramhs.execution.targets.command import JsonLine, Pattern
from paramhs.report.result import Result


def __getattr__(name: str) -> object:
    """`paramhs.solvers`, imported when it is first used."""
    if name == "solvers":
        return import_module("paramhs.solvers")
    raise AttributeError(f"module 'paramhs' has no attribute {name!r}")


__all__ = [
    "Answered",
    "AskTell",
    "BadInput",
    "Boolean",
    "Budget",
    "Categorical",
    "Command",
    "Config",
    "Dask",
    "Integer",
    "JsonLine",
    "Ordinal",
    "ParamhsError",
    "ParamhsWarning",
    "Pattern",
    "Real",
    "Result",
    "Space",
    "StoreError",
    "TargetError",
    "Verdict",
    "Watcher",
    "__version__",
    "import_search",
    "load",
    "portfolio",
    "simplify",
    "tune",
    "validate",
]
