"""One parameter of many values: calls until the best value is met, without noise.

python -m benchmarks.studies.one_parameter           500 values, 100 landscapes of each kind
python -m benchmarks.studies.one_parameter --levels 50 --times 200

Landscapes are those of the reproduction: random ones of several kinds, and the exact mean costs of
the paper's heuristics for their 50 values. All searches start at the same uniformly drawn value and
try nothing twice: the plain harmonic law, `Narrowing`, the default, which learns, and golden
section, which knows no start and ends where it ends; how often it misses stands beside its calls.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from statistics import fmean, stdev

from rich.console import Console
from rich.table import Table

from paramhs import tune
from paramhs.core.random_streams import below, stream
from paramhs.core.space import Integer, Space
from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.operators import Narrowing, OneParameter
from paramhs_paper.landscapes import fitness_points
from paramhs_paper.random_landscapes import KINDS
from paramhs_paper.scenarios import HEURISTICS

Costs = Sequence[float]
Search = Callable[[Costs, int, int], int | None]
"""The calls until the best value is met, given costs, where to start and a seed; None if never."""

GOLDEN = (math.sqrt(5) - 1) / 2


def searched(configurator: Configurator) -> Search:
    """A real search; every value is called once at most, so that it ends."""

    def calls(costs: Costs, start: int, seed: int) -> int | None:
        met: list[int] = []

        def target(config: dict[str, int]) -> float:
            met.append(config["x"])
            return float(costs[config["x"]])

        space = Space({"x": Integer(0, len(costs) - 1, default=start)})
        tune(target, space, budget=len(costs), configurator=configurator, seed=seed)
        return called(met, costs)

    return calls


def golden_section(costs: Costs, _start: int, _seed: int) -> int | None:
    """Two values inside an interval; the part beyond the worse one is left."""
    met: list[int] = []

    def cost(x: int) -> float:
        met.append(x)
        return costs[x]

    low, high = 0, len(costs) - 1
    while high - low > 2:
        step = max(1, round(GOLDEN * (high - low)))
        left, right = high - step, low + step
        if left >= right:
            left, right = right - 1, left
        if cost(left) <= cost(right):
            high = right
        else:
            low = left
    for x in range(low, high + 1):
        cost(x)
    return called(met, costs)


def called(met: Sequence[int], costs: Costs) -> int | None:
    """How many different values were met up to the best."""
    order = list(dict.fromkeys(met))
    best = min(range(len(costs)), key=costs.__getitem__)
    return order.index(best) + 1 if best in order else None


SEARCHES: dict[str, Search] = {
    "harmonic": searched(ParamHS(OneParameter())),
    "narrowing": searched(ParamHS(Narrowing())),
    "the default": searched(ParamHS()),
    "golden section": golden_section,
}


def landscapes(levels: int, times: int) -> Iterator[tuple[str, list[Costs]]]:
    """Yield `times` landscapes of each kind; those of the paper's heuristics are all equal."""
    for kind, draw in KINDS.items():
        rng = Random(f"one parameter {kind}")
        yield kind, [[float(x) for x in draw(levels, rng)] for _ in range(times)]
    for name, scenario in HEURISTICS.items():
        costs = [-point.exact_mean for point in fitness_points(scenario)]
        yield f"{name}, {len(costs)} values", [costs] * times


def cell(calls: Sequence[int | None]) -> str:
    """The mean of those that met it, its standard error, and how many did not."""
    met = [n for n in calls if n is not None]
    missed = f" ({len(calls) - len(met)} missed)" if len(met) < len(calls) else ""
    if len(met) < 2:
        return f"-{missed}"
    return f"{fmean(met):.1f} ± {stdev(met) / math.sqrt(len(met)):.1f}{missed}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.one_parameter")
    parser.add_argument("--levels", type=int, default=500)
    parser.add_argument("--times", type=int, default=100)
    given = parser.parse_args()
    table = Table("landscape", *SEARCHES)
    for kind, many in landscapes(given.levels, given.times):
        starts = [below(len(costs), stream(k, "start")) for k, costs in enumerate(many)]
        cells = [
            cell([search(costs, starts[k], k) for k, costs in enumerate(many)])
            for search in SEARCHES.values()
        ]
        table.add_row(kind, *cells)
        print(kind, *cells, sep=" | ", flush=True)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
