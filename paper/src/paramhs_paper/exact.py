"""Figure 2 by exact laws: no run is made, no comparison drawn."""

from functools import lru_cache

import numpy as np

from paramhs.results.landscape.calls import Calls, param_rls_chain, without_replacement
from paramhs.results.landscape.first_improvement import first_improvement_calls
from paramhs.results.landscape.outcomes import Array, Outcomes, outcomes
from paramhs_paper.scenarios import RUNS, SCENARIOS, Curve, operator_of, space_of


@lru_cache(maxsize=16)
def scenario_outcomes(name: str, runs: int = RUNS) -> Outcomes:
    """Who wins, for every two values of a scenario's parameter."""
    scenario = SCENARIOS[name]
    return outcomes([scenario.heuristic.law(value) for value in scenario.values], runs)


@lru_cache(maxsize=1024)
def exact_calls(name: str, curve: Curve, size: int, runs: int = RUNS) -> Calls:
    """The law of the number of calls at one point of Figure 2."""
    if curve.operator in ("random-without-replacement", "random"):
        return without_replacement(size)
    scenario = SCENARIOS[name]
    beats = scenario_outcomes(name, runs).beats()[:size, :size]
    if curve.configurator == "paramils":
        return first_improvement_calls(_harmonic_weights(size), beats, {scenario.optimum})
    space = space_of(size)
    chain = param_rls_chain(
        space,
        operator_of(curve, scenario.step),
        list(space.configs()),
        lambda x, y: float(beats[x, y]),
        {scenario.optimum},
    )
    return chain.law()


def _harmonic_weights(size: int) -> Array:
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return np.divide(1.0, distance, out=np.zeros((size, size)), where=distance > 0)


def cliffs_delta(first: Calls, second: Calls) -> float:
    """Pr(second > first) - Pr(second < first): positive if the first is faster."""
    length = max(len(first.pmf), len(second.pmf))
    a, b = (np.pad(calls.pmf, (0, length - len(calls.pmf))) for calls in (first, second))
    return float(b @ (np.cumsum(a) - a) - a @ (np.cumsum(b) - b))
