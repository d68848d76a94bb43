"""The parts of a search: configurators, operators, comparisons, and the history they read.

Every part is a value. `ParamHS(SeveralParameters(Harmonic()), Growing())` is a configurator: it
races challengers that the operator draws, each against the incumbent as the comparison says. A part
of your own derives from the class of its kind; `register` gives it a name in scenario files. No
part knows a clock, a file or a process.
"""

from paramhs.search.comparison import Comparison, FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators import (
    Configurator,
    FrontSearch,
    IteratedRace,
    ParamHS,
    ParamILS,
    ParamRLS,
    RestartWalk,
    TabuWalk,
    Walk,
)
from paramhs.search.history import History, Race
from paramhs.search.model.model import ByNoise, Draw, GaussianProcess, MainEffects, Model, Posterior
from paramhs.search.operators import (
    BothSides,
    Guide,
    Harmonic,
    Learned,
    Learner,
    LStep,
    Mixture,
    Move,
    Narrowing,
    OneParameter,
    Operator,
    SeveralParameters,
    Step,
    Uniform,
    UniformRandom,
)
from paramhs.search.record import Record
from paramhs.search.registry import register

__all__ = [
    "BothSides",
    "ByNoise",
    "Comparison",
    "Configurator",
    "Draw",
    "FixedRuns",
    "Focused",
    "FreshRuns",
    "FrontSearch",
    "GaussianProcess",
    "Growing",
    "Guide",
    "Harmonic",
    "History",
    "IteratedRace",
    "LStep",
    "Learned",
    "Learner",
    "MainEffects",
    "Mixture",
    "Model",
    "Move",
    "Narrowing",
    "OneParameter",
    "Operator",
    "ParamHS",
    "ParamILS",
    "ParamRLS",
    "Posterior",
    "Race",
    "Record",
    "RestartWalk",
    "SeveralParameters",
    "Step",
    "TabuWalk",
    "Uniform",
    "UniformRandom",
    "Walk",
    "register",
]
