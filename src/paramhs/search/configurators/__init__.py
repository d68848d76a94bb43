"""Configurators: generators of tasks that read like the paper's pseudocode."""

from paramhs.search.comparison import Growing
from paramhs.search.configurators.asynchronous import Asynchronous, asynchronous
from paramhs.search.configurators.configurator import Configurator, check_configurator
from paramhs.search.configurators.param_hs import ParamHS
from paramhs.search.configurators.param_ils import Afresh, ParamILS, Undiscovered
from paramhs.search.configurators.param_rls import ParamRLS
from paramhs.search.configurators.racing import Race
from paramhs.search.operators import Anywhere, One, Several

__all__ = [
    "CONFIGURATORS",
    "Afresh",
    "Asynchronous",
    "Configurator",
    "ParamHS",
    "ParamILS",
    "ParamRLS",
    "Race",
    "Undiscovered",
    "asynchronous",
    "check_configurator",
]

CONFIGURATORS: dict[str, Configurator] = {
    "paramhs": ParamHS(),
    "paramhs-plain": ParamHS(Several(), Growing()),
    "paramrls": ParamHS(One(), Growing()),
    "paramils": ParamILS(),
    "race": Race(),
    "random": ParamHS(Anywhere(), Growing()),
}
"""The configurators with a name, set as we advise for real targets."""
