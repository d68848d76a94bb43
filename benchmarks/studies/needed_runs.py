"""How many runs a comparison needs: `python -m benchmarks.studies.needed_runs`.

The paper's scenarios with ten values, from a uniformly random one, with the harmonic step. A run's
quality is drawn from its exact law. For each comparison, the number of runs from which on the
incumbent is the best value in 95 % of the searches, up to the budget.
"""

import argparse
from collections.abc import Mapping

import numpy as np

from paramhs.core.costs import Quality
from paramhs.core.random_streams import ShortStream
from paramhs.core.runs import Incumbent, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.search.comparison import FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators import Configurator, ParamRLS
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import Harmonic, OneParameter
from paramhs.testing.driving import steps
from paramhs_paper.scenarios import HEURISTICS, HeuristicScenario

VALUES = 10
CONFIDENCE = 0.95
COMPARISONS: Mapping[str, Configurator] = {
    name: ParamRLS(OneParameter(Harmonic()), comparison, "uniform")
    for name, comparison in {
        "growing": Growing(),
        "focused": Focused(),
        "focused, shared order": Focused("shared"),
        "fixed, r = 5": FixedRuns(5),
        "fixed, r = 20": FixedRuns(20),
        "fresh, r = 5": FreshRuns(5),
        "fresh, r = 20": FreshRuns(20),
    }.items()
}


class Laws:
    """A scenario whose runs are drawn from their laws."""

    def __init__(self, scenario: HeuristicScenario) -> None:
        self.optimum = scenario.optimum
        laws = (scenario.heuristic.law(value) for value in scenario.values[:VALUES])
        self.sums = [np.cumsum(law) for law in laws]
        self.scenario = Scenario(scenario.space(VALUES), cost=Quality(maximise=True))

    def run(self, task: Task) -> Run:
        """A level by its law, which is a function of the task."""
        value = task.config["value"]
        u = ShortStream(task.seed, "level", value).random()
        return Run(task, Status.OK, 0.0, float(np.searchsorted(self.sums[value], u, "right")))

    def is_best(self, rules: Configurator, seed: int, budget: int) -> np.ndarray:
        """After each run, whether the incumbent is the best value."""
        history = History(self.scenario, seed)
        search, best = Dialogue(rules.search(history)), np.zeros(budget, bool)
        now, made = False, 0
        for step in steps(search, self.run):
            if isinstance(step, Incumbent):
                now = step.config["value"] == self.optimum
            else:
                best[made : made + len(step.tasks)] = now
                made += len(step.tasks)
            if made >= budget:
                break
        best[made:] = now
        return best


def needed(laws: Laws, rules: Configurator, searches: int, budget: int) -> tuple[int | None, float]:
    """From how many runs on it is found, and how often in the end."""
    found = np.mean([laws.is_best(rules, seed, budget) for seed in range(searches)], axis=0)
    below = np.flatnonzero(found < CONFIDENCE)
    first = int(below[-1]) + 1 if len(below) else 0
    return (None if first >= budget else first), float(found[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--budget", type=int, default=2_000)
    args = parser.parse_args()
    print("| comparison |", " | ".join(HEURISTICS), "|")
    print("|---|" + "---|" * len(HEURISTICS))
    for name, rules in COMPARISONS.items():
        cells = []
        for scenario in HEURISTICS.values():
            first, share = needed(Laws(scenario), rules, args.searches, args.budget)
            cells.append(f"{first:,}" if first is not None else f"no ({100 * share:.0f} %)")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
