"""How well the search's model and the page's regression agree on what matters.

The search draws proposals from `search.model.main_effects`; the page ranks parameters by
`analysis.regression`. Both are fitted to the runs of the same searches of random targets with known
effects: log-normal times with instance effects, noise, one joint effect of two parameters, and, in
half of the searches, capped runs. The table says how often each names the parameter that matters
most, and how often both name the same one.
"""

import argparse
from collections.abc import Iterator
from math import exp
from random import Random
from statistics import pvariance
from typing import NamedTuple

from paramhs import AskTell, Result
from paramhs.core.runs import Task
from paramhs.search.model.dataset import dataset
from paramhs.search.model.main_effects import Effects, fitted

PARAMETERS = 8
VALUES = 5
NAMES = [f"p{number}" for number in range(PARAMETERS)]


class Case(NamedTuple):
    """First parameters of one search."""

    capped: bool
    clear: bool
    """Whether the true first parameter has at least twice the variance of the second."""
    truth: str
    searched: str
    shown: str


def effects(rng: Random) -> list[list[float]]:
    """Effect of each value of each parameter; a few parameters matter most."""
    sizes = [rng.expovariate(1.0) ** 2 / 4 for _ in NAMES]
    return [[size * rng.gauss(0, 1) for _ in range(VALUES)] for size in sizes]


def search(seed: int, capped: bool, runs: int) -> tuple[Result, list[float]]:
    """Tune a random target; return the result and the true variance of each parameter."""
    rng = Random(seed)
    of = effects(rng)

    def cost(task: Task) -> float:
        config = [task.config[name] for name in NAMES]
        noise = Random(f"{config} {task.instance} {task.seed}").gauss(0, 0.3)
        joint = 0.3 if (config[0] > 2) != (config[1] > 2) else 0.0
        own = sum(effect[value] for effect, value in zip(of, config, strict=True))
        return exp(own + joint + noise + int(task.instance) / 4)

    ways = {"cost": "runtime", "cutoff": 1e6} if capped else {"cost": "minimise"}
    loop = AskTell({name: range(VALUES) for name in NAMES}, instances=range(12), seed=seed, **ways)
    for _ in range(runs):
        task = loop.ask()
        if capped:
            loop.tell(task, runtime=cost(task))
        else:
            loop.tell(task, cost(task))
    return loop.result, [pvariance(one) for one in of]


def named_by_search(result: Result) -> str:
    """The parameter whose mean effect varies most in the model of the search."""
    model = fitted(dataset(result.record.history))
    return max(NAMES, key=lambda name: pvariance(_mean_effects(model, NAMES.index(name))))


def _mean_effects(model: Effects, position: int) -> list[float]:
    guess = model.guess(model.mean)
    return [guess(position, index) for index in range(VALUES)]


def cases(count: int, runs: int) -> Iterator[Case]:
    """First parameters by truth, search and page, for each search."""
    for seed in range(count):
        capped = seed % 2 == 1
        result, variances = search(seed, capped, runs)
        first, second = sorted(variances, reverse=True)[:2]
        truth = NAMES[variances.index(first)]
        shown = result.importance
        yield Case(capped, first >= 2 * second, truth, named_by_search(result), shown[0].name)


def main() -> None:
    """Print one row for each kind of search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=60)
    parser.add_argument("--runs", type=int, default=400)
    given = parser.parse_args()
    found = list(cases(given.searches, given.runs))
    print("| searches | number | search names it | page names it | both agree |")
    print("|---|---|---|---|---|")
    for capped in (False, True):
        for clear in (True, False):
            kind = f"{'capped' if capped else 'complete'} runs, {'clear' if clear else 'close'}"
            here = [one for one in found if (one.capped, one.clear) == (capped, clear)]
            right = [
                sum(one.truth == getattr(one, by) for one in here) for by in ("searched", "shown")
            ]
            agreed = sum(one.searched == one.shown for one in here)
            print(f"| {kind} | {len(here)} | {right[0]} | {right[1]} | {agreed} |")


if __name__ == "__main__":
    main()
