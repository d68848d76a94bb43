"""What stopping by a rule saves, and how much more the best then costs.

python -m benchmarks.calibration.stopping                  the rows kept, by target
python -m benchmarks.calibration.stopping --budget 2000    the same searches with a smaller budget
python -m benchmarks.calibration.stopping --hour clasp     one search of an hour, replayed

The rule is applied to the searches of `benchmarks.calibration.searches` afterwards: a search with a
smaller budget, or with a rule, is the beginning of a longer one.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.calibration.searches import DATA, Kept, read
from benchmarks.landscapes.labs import Replayed
from paramhs.analysis.expected_gain import Improvement, predicted
from paramhs.api.tune import tune_scenario
from paramhs.core.costs import Runtime
from paramhs.core.random_streams import stream
from paramhs.core.runs import Run, Status, Target, Task
from paramhs.execution.driver import Budget
from paramhs.execution.driver.stopping import LOOK_GROWTH, MIN_SHARE, is_enough, next_runs
from paramhs.search.registry import CONFIGURATORS

BUDGETS = (1_000, 2_000, 5_000)
SECONDS = 0.72
"""Of a run of the default: an hour has 5,000 of them."""


def stopped_after(found: Kept, budget: int, least: float) -> int:
    """Runs after which the rule ends a search; those of the whole search if it does not."""
    last = 0
    for race in found.races:
        if race * MIN_SHARE < budget or race * LOOK_GROWTH < last * (LOOK_GROWTH + 1):
            continue
        last = race
        past = [Improvement(*gain) for gain in found.gains if gain[0] <= race]
        gain = predicted(past, race, next_runs(budget), stream(found.seed, "gain"))
        if race < min(budget, found.runs) and is_enough(gain, least):
            return race
    return min(budget, found.runs)


def outcomes(
    searches: Sequence[Kept], budget: int, least: float
) -> dict[str, list[tuple[float, float]]]:
    """Share of the runs that was saved, and regret, of each search by target."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in searches:
        runs, whole = stopped_after(one, budget, least), min(budget, one.runs)
        regret = one.cost_after(runs) / one.cost_after(whole) - 1
        found[one.case].append((1 - runs / whole, regret))
    return found


def table(searches: Sequence[Kept], budget: int, least: float) -> Iterator[str]:
    """One row a target, then their mean."""
    yield "| target | searches | runs saved | regret | largest |"
    yield "|---|---|---|---|---|"
    groups = outcomes(searches, budget, least)
    for name, pairs in sorted(groups.items()):
        saved, regrets = zip(*pairs, strict=True)
        error = f" ± {math.sqrt(_error(regrets)):.1%}" if len(regrets) > 1 else ""
        yield (
            f"| {name} | {len(pairs)} | {fmean(saved):.0%} | {fmean(regrets):.1%}{error} |"
            f" {max(regrets):.1%} |"
        )
    yield f"| mean of {len(groups)} targets | {len(searches)} | {_mean(groups)} |"


def budget_table(searches: Sequence[Kept], least: float) -> Iterator[str]:
    """The means over targets by budget, with the rule and without it."""
    yield "| budget | runs saved | regret | largest |"
    yield "|---|---|---|---|"
    for budget in BUDGETS:
        yield f"| {budget:,} | {_mean(outcomes(searches, budget, least))} |"


def _mean(groups: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Mean over targets of their mean savings and regrets, and the largest regret of a search."""
    means = [[fmean(column) for column in zip(*pairs, strict=True)] for pairs in groups.values()]
    saved, regrets = map(fmean, zip(*means, strict=True))
    columns = [[regret for _, regret in pairs] for pairs in groups.values()]
    error = math.sqrt(math.fsum(map(_error, columns))) / len(columns)
    largest = max(max(column) for column in columns)
    shown = f" ± {error:.1%}" if math.isfinite(error) else ""
    return f"{saved:.0%} | {regrets:.1%}{shown} | {largest:.1%}"


def _error(numbers: Sequence[float]) -> float:
    """Squared standard error of the mean."""
    return stdev(numbers) ** 2 / len(numbers) if len(numbers) > 1 else math.nan


@dataclass(frozen=True, eq=False)
class Timed(Target):
    """A replayed solver, of which a run of the default takes `SECONDS` on average."""

    solver: Replayed

    def __call__(self, task: Task) -> Run:
        """A run that takes its time, and costs it."""
        work = self.solver(task).quality
        seconds = SECONDS * (work or 0.0)
        late = seconds > task.cutoff
        return Run(task, Status.TIMEOUT if late else Status.OK, min(seconds, task.cutoff))


def hour(name: str, seed: int) -> Iterator[str]:
    """A search with an hour of target time that stops itself, beside one that does not."""
    solver = Replayed.of(name, few=False)
    scenario = replace(solver.scenario, cost=Runtime(), cutoff=100 * SECONDS)
    for stop in ("gain < 1 %", None):
        budget = Budget(target_time=3600, stop=stop)
        configurator = CONFIGURATORS["paramhs"]
        found = tune_scenario(scenario, Timed(solver), configurator, budget=budget, seed=seed)
        minutes = sum(run.runtime for run in found.runs) / 60
        costs = ", ".join(
            f"{solver.held_out(p.config):.3f} at {p.runs:,}" for p in found.trajectory
        )
        yield (
            f"{len(found.runs):,} runs, {minutes:.0f} min of target time ({found.stopped});"
            f" cost of the incumbents on other instances, relative to the default: {costs}"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=5_000)
    parser.add_argument("--least", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, nargs="+", help="only these")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--hour", metavar="SOLVER", help="one of those replayed")
    given = parser.parse_args()
    if given.hour:
        print("\n".join(hour(given.hour, (given.seeds or [0])[0])))
        return
    searches = [one for one in read(given.data) if not given.seeds or one.seed in given.seeds]
    print("\n".join(table(searches, given.budget, given.least)))


if __name__ == "__main__":
    main()
