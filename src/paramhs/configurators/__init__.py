"""Configurators: generators of tasks that read like the paper's pseudocode."""

from paramhs.comparison import FixedRuns, Growing
from paramhs.configurators.configurator import Configurator, check_configurator
from paramhs.configurators.param_ils import ParamILS
from paramhs.configurators.param_rls import ParamRLS
from paramhs.operators import Anywhere, One, Several

__all__ = ["CONFIGURATORS", "Configurator", "ParamILS", "ParamRLS", "check_configurator"]

CONFIGURATORS: dict[str, Configurator] = {
    "paramhs": ParamRLS(Several(), Growing()),
    "paramrls": ParamRLS(One(), Growing()),
    "paramils": ParamILS(comparison=FixedRuns()),
    "random": ParamRLS(Anywhere(), Growing()),
}
"""The configurators with a name, set as we advise for real targets."""
