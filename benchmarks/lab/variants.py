"""Ways of searching that the laboratory compares."""

from paramhs.search.comparison import Growing
from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.operators.learned import Learned

VARIANTS: dict[str, Configurator] = {
    "plain": ParamHS(),
    "plain 2": ParamHS(comparison=Growing(min_runs=2)),
    "learned": ParamHS(Learned(), Growing(min_runs=2)),
    "learned e0.1": ParamHS(Learned(epsilon=0.1), Growing(min_runs=2)),
    "learned e0.5": ParamHS(Learned(epsilon=0.5), Growing(min_runs=2)),
    "learned spread 1": ParamHS(Learned(spread=1.0), Growing(min_runs=2)),
    "learned spread 0": ParamHS(Learned(spread=0.0), Growing(min_runs=2)),
}
