"""Configurators: generators of tasks that read like the paper's pseudocode."""

from paramhs.search.comparison import FixedRuns, Growing
from paramhs.search.configurators.configurator import Configurator, check_configurator
from paramhs.search.configurators.param_ils import ParamILS
from paramhs.search.configurators.param_rls import ParamRLS
from paramhs.search.operators import Anywhere, One, Several

__all__ = ["CONFIGURATORS", "Configurator", "ParamILS", "ParamRLS", "check_configurator"]

CONFIGURATORS: dict[str, Configurator] = {
    "paramhs": ParamRLS(Several(), Growing()),
    "paramrls": ParamRLS(One(), Growing()),
    "paramils": ParamILS(comparison=FixedRuns()),
    "random": ParamRLS(Anywhere(), Growing()),
}
"""The configurators with a name, set as we advise for real targets."""
