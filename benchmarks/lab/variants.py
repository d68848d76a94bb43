"""Ways of searching that the laboratory compares."""

from paramhs.search.comparison import Growing
from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.operators.learned import Learned

VARIANTS: dict[str, Configurator] = {
    "plain": ParamHS(),
    "plain 2": ParamHS(comparison=Growing(min_runs=2)),
    "plain 1": ParamHS(comparison=Growing(min_runs=1)),
    "learned": ParamHS(Learned(), Growing(min_runs=2)),
    "learned 1": ParamHS(Learned(), Growing(min_runs=1)),
    "learned 3": ParamHS(Learned(), Growing(min_runs=3)),
    "learned e0.1": ParamHS(Learned(epsilon=0.1), Growing(min_runs=2)),
    "learned spread 1": ParamHS(Learned(spread=1.0), Growing(min_runs=2)),
    "learned climbing": ParamHS(Learned(rounds=2), Growing(min_runs=2)),
}
