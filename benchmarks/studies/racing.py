"""How often a race loses the best of its candidates, where the laws of their costs are known.

python -m benchmarks.studies.racing [--races 400] [--pairs 50] [--candidates 2 5 16]

In each race the first candidate is a best one; all meet on the same pairs, one after the other, and
after five and then after each the clearly worse leave, as in `IteratedRace` with one survivor.
Told is in how many races the first has left, after one look at five pairs and after looks at all
of them; and how many runs were made, of those that as many pairs for all would have been. Laws:
*equal*, all are uniform in [0, 1), so that every loss is a mistake; *normal*, a pair is as
hard as a draw of N(0, 1), a run adds N(0, 1), and the others are worse by 0.5 in the mean;
*exponential*, times whose mean the pair draws from an exponential law, too, and that are 1.3 times
as long for the others.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from random import Random

from rich.console import Console
from rich.table import Table

from paramhs.core.costs import score
from paramhs.core.random_streams import stream
from paramhs.search.configurators.iterated_race_tests import Elimination, Friedman, PairedT

FIRST_RUNS = 5
Law = Callable[[int, Random], list[float]]
"""Costs of this number of candidates on one more pair."""


def equal(candidates: int, rng: Random) -> list[float]:
    return [rng.random() for _ in range(candidates)]


def normal(candidates: int, rng: Random) -> list[float]:
    hardness = rng.gauss(0, 1)
    return [hardness + rng.gauss(0, 1) + 0.5 * (i > 0) for i in range(candidates)]


def exponential(candidates: int, rng: Random) -> list[float]:
    mean = rng.expovariate(1)
    return [mean * rng.expovariate(1) * (1.3 if i else 1.0) for i in range(candidates)]


LAWS: dict[str, Law] = {"equal": equal, "normal": normal, "exponential": exponential}
TESTS: dict[str, Elimination] = {"Friedman": Friedman(), "paired t": PairedT()}


def race(test: Elimination, law: Law, candidates: int, pairs: int, rng: Random) -> tuple[int, int]:
    """After how many pairs the first has left, 0 if never; and how many runs were made."""
    alive: dict[int, list[tuple[float]]] = {i: [] for i in range(candidates)}
    runs = 0
    for pair in range(1, pairs + 1):
        costs = law(candidates, rng)
        runs += len(alive)
        for i, own in alive.items():
            own.append((costs[i],))
        if pair < FIRST_RUNS:
            continue
        names, rows = list(alive), list(alive.values())
        best = min(alive, key=lambda i: score(alive[i]))
        for position in test.worse(rows):
            if names[position] != best:
                del alive[names[position]]
        if 0 not in alive:
            return pair, runs
        if len(alive) == 1:
            break
    return 0, runs


def share(happened: Sequence[bool]) -> str:
    p = sum(happened) / len(happened)
    return f"{p:.3f} ± {math.sqrt(p * (1 - p) / len(happened)):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.racing")
    parser.add_argument("--races", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--candidates", type=int, nargs="+", default=[2, 5, 16])
    options = parser.parse_args()
    columns = ("law", "test", "candidates", "lost at 5 pairs", f"by {options.pairs}", "runs made")
    table = Table(*columns, title="the best is lost, at a confidence of 0.95 a look")
    for law_name, law in LAWS.items():
        for test_name, test in TESTS.items():
            for candidates in options.candidates:
                rng = stream(0, law_name, candidates)
                races = [
                    race(test, law, candidates, options.pairs, rng) for _ in range(options.races)
                ]
                made = sum(runs for _, runs in races)
                table.add_row(
                    law_name,
                    test_name,
                    str(candidates),
                    share([left == FIRST_RUNS for left, _ in races]),
                    share([left > 0 for left, _ in races]),
                    f"{made / (options.races * candidates * options.pairs):.0%}",
                )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
