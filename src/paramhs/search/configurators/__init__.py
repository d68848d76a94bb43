"""Configurators: generators of tasks that read like the paper's pseudocode."""

from paramhs.search.configurators.configurator import Configurator, check_configurator
from paramhs.search.configurators.front_search import FrontSearch, front_search
from paramhs.search.configurators.iterated_race import IteratedRace
from paramhs.search.configurators.param_hs import ParamHS
from paramhs.search.configurators.param_ils import ParamILS, RestartWalk, TabuWalk, Walk
from paramhs.search.configurators.param_rls import ParamRLS

__all__ = [
    "Configurator",
    "FrontSearch",
    "IteratedRace",
    "ParamHS",
    "ParamILS",
    "ParamRLS",
    "RestartWalk",
    "TabuWalk",
    "Walk",
    "check_configurator",
    "front_search",
]
