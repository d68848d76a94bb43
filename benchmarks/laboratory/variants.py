"""Ways of searching that the laboratory compares."""

from paramhs.search.comparison import Growing
from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.model.model import MainEffects
from paramhs.search.operators import Learned, SeveralParameters

VARIANTS: dict[str, Configurator] = {
    "plain": ParamHS(SeveralParameters()),
    "plain, 3 first runs": ParamHS(SeveralParameters(), Growing(min_runs=3)),
    "learned": ParamHS(),
    "learned, 1 first run": ParamHS(comparison=Growing(min_runs=1)),
    "learned, 3 first runs": ParamHS(comparison=Growing(min_runs=3)),
    "learned, epsilon 0.1": ParamHS(Learned(epsilon=0.1)),
    "learned, epsilon 0.5": ParamHS(Learned(epsilon=0.5)),
    "learned, spread 0": ParamHS(Learned(model=MainEffects(spread=0.0))),
    "learned, spread 0.5": ParamHS(Learned(model=MainEffects(spread=0.5))),
    "learned, 1 try": ParamHS(Learned(tries=1)),
    "learned, 8 tries": ParamHS(Learned(tries=8)),
    "learned, again 0.4": ParamHS(Learned(again=0.4)),
    "learned, 1 candidate": ParamHS(Learned(candidates=1)),
    "learned, 8 candidates": ParamHS(Learned(candidates=8)),
    "learned, 32 candidates": ParamHS(Learned(candidates=32)),
}
