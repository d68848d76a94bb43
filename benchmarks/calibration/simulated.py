"""How often the statements of a certificate are wrong in searches on known laws.

python -m benchmarks.calibration.simulated --searches 500        make those that are missing
python -m benchmarks.calibration.simulated --table               the table of the rows kept
python -m benchmarks.calibration.simulated --stopping 3000       what stopping saves and costs
python -m benchmarks.calibration.simulated --hour                one search of an hour

A law gives every configuration its mean: a sum of effects, with or without interactions. A run
costs that, times the size of its instance, times noise; without noise and instances, the mean. So
it is known what the best of the configurations that were tried would save, and how likely another
draw is to win. Each search of the default kind is looked at after each of these numbers of runs.
Rows are kept in data/simulated.csv; a search that is there is not made again.
"""

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.calibration.certificate import prefix, stopping_table
from benchmarks.calibration.searches import Kept
from paramhs.analysis.expected_gain import expected_gain
from paramhs.analysis.gain_bound import MAX_STATED_GAIN, gain_bound
from paramhs.analysis.win_probability import win_probabilities
from paramhs.api.tune import tune_scenario
from paramhs.core.costs import CostMetric, Quality, Runtime
from paramhs.core.random_streams import stream
from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Integer, Space
from paramhs.execution.driver import Budget
from paramhs.search.operators import SeveralParameters
from paramhs.search.record import Record
from paramhs.search.registry import CONFIGURATORS

DATA = Path(__file__).parent / "data" / "simulated.csv"
MOMENTS = (30, 50, 75, 100)
RUNS = 110
"""Runs of a search: a tenth more than the last moment, to see what they gained."""
SPACE = Space({name: Integer(0, 4) for name in "abcd"})
COLUMNS = ("search", "law", "seed", "runs", "statement", "said", "true")


@dataclass(frozen=True)
class Law:
    """Standard deviations of logarithms."""

    effects: float
    interactions: float
    noise: float
    instances: int = 20
    """Number of instances; none of a target without noise."""


LAWS = {
    "effects, noise": Law(0.5, 0.0, 0.3),
    "effects and interactions, noise": Law(0.3, 0.3, 0.3),
    "much noise": Law(0.2, 0.1, 1.0),
    "all alike": Law(0.0, 0.0, 0.5),
    "no noise": Law(0.3, 0.3, 0.0, 0),
}


@dataclass(frozen=True)
class Simulated(Target):
    """A target with one realisation of a law."""

    law: Law
    seed: int
    is_timed: bool = False
    """Whether a run takes as many seconds as it costs, and time is what is compared."""

    @cached_property
    def means(self) -> dict[Config, float]:
        """Logarithm of the mean cost of each configuration."""
        rng = stream(self.seed, "law")
        effects = [[rng.gauss(0, self.law.effects) for _ in range(5)] for _ in "abcd"]
        return {
            config: sum(e[i] for e, i in zip(effects, config.indices, strict=True))
            + rng.gauss(0, self.law.interactions)
            for config in SPACE.configs()
        }

    def __call__(self, task: Task) -> Run:
        """A run costs its mean, times the size of the instance, times noise."""
        log = self.means[task.config]
        if self.law.instances:
            log += stream(self.seed, "size", task.instance.name).gauss(0, 1)
            name = (task.instance.name, task.seed, task.config.key)
            log += stream(self.seed, "noise", *name).gauss(0, self.law.noise)
        cost = math.exp(log)
        if self.is_timed:
            late = cost > task.cutoff
            return Run(task, Status.TIMEOUT if late else Status.OK, min(cost, task.cutoff))
        return Run(task, Status.OK, 0.0, cost)

    def searched(self, budget: Budget, name: str = "paramhs") -> Record:
        """A search, of the default kind or another."""
        count = self.law.instances
        names = tuple(Instance(f"i{k}") for k in range(count)) or (NO_INSTANCE,)
        cost: CostMetric = Runtime() if self.is_timed else Quality()
        cutoff = 100.0 if self.is_timed else math.inf
        scenario = Scenario(SPACE, names, cost, cutoff, deterministic=not count)
        made = tune_scenario(scenario, self, CONFIGURATORS[name], budget=budget, seed=self.seed)
        return made.record


def statements(target: Simulated, whole: Record) -> Iterator[tuple[int, str, float, float]]:
    """Moment, statement, what is said, and what is true."""
    means = target.means
    for runs in MOMENTS:
        record = prefix(whole, runs)
        best, tried = record.best, record.history.configs
        said = gain_bound(record)
        saving = 1 - math.exp(min(means[config] for config in tried) - means[best])
        yield runs, "tried", MAX_STATED_GAIN if said is None else said.bound, saving
        gain = expected_gain(record, runs // 10)
        if gain is not None:
            later = prefix(whole, runs + runs // 10).best
            yield runs, "gain", gain.high, 1 - math.exp(means[later] - means[best])
        if target.law.instances == 0:
            for one in win_probabilities(record):
                yield runs, one.law, one.bound, winning(one.law, record, means)


def winning(law: str, record: Record, means: dict[Config, float]) -> float:
    """Probability that a draw of a law, of what has not been rejected, wins without noise."""
    best, known = record.best, set(record.history.configs)
    if law == "uniform":
        new = [config for config in means if config not in known]
        return sum(means[config] <= means[best] for config in new) / max(len(new), 1)
    moves = SeveralParameters().distribution(SPACE, best, known)
    return float(sum(p for (config,), p in moves.items() if means[config] <= means[best]))


def stopped(runs: int, seeds: int) -> Iterator[Kept]:
    """Searches of each law with a budget that is large for it."""
    for seed in range(seeds):
        for name, law in LAWS.items():
            target = Simulated(law, seed)
            record = target.searched(Budget(runs=runs))
            costs = tuple(math.exp(target.means[point.config]) for point in record.trajectory)
            yield Kept(name, seed, record, costs, math.exp(target.means[SPACE.default]))


def hour() -> Iterator[str]:
    """A search with an hour of target time that stops itself, beside one that does not."""
    target = Simulated(LAWS["effects, noise"], 1, is_timed=True)
    least = min(target.means.values())
    for stop in ("gain < 1 %", None):
        record = target.searched(Budget(target_time=3600, stop=stop))
        seconds = sum(run.runtime for run in record.runs)
        saved = 1 - math.exp(target.means[record.best] - target.means[SPACE.default])
        above = math.exp(target.means[record.best] - least) - 1
        yield (
            f"{len(record.runs):,} runs, {seconds / 60:.0f} min of target time"
            f" ({record.ending.stopped}): the best saves {saved:.1%} of the default's time; it is"
            f" {above:.1%} above the least of all {SPACE.size()} configurations"
        )


def table(rows: list[dict[str, str]]) -> str:
    """Wrong statements, in percent, and the middle of what was said, by law and moment."""
    groups: dict[tuple[str, ...], dict[int, list[tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        found = (float(row["said"]), float(row["true"]))
        groups[row["statement"], row["search"], row["law"]][int(row["runs"])].append(found)
    lines = [
        f"| statement | search | law | searches | {' | '.join(f'{n} runs' for n in MOMENTS)} |"
    ]
    lines.append("|---" * (4 + len(MOMENTS)) + "|")
    for (statement, search, law), moments in sorted(groups.items()):
        cells = []
        for runs in MOMENTS:
            pairs = moments[runs]
            wrong = sum(true > said + 1e-9 for said, true in pairs)
            middle = sorted(said for said, _ in pairs)[len(pairs) // 2] if pairs else math.nan
            share = 100 * wrong / len(pairs) if pairs else math.nan
            cells.append(f"{share:.1f} ({100 * middle:.0f})" if pairs else "")
        count = max(map(len, moments.values()))
        lines.append(f"| {statement} | {search} | {law} | {count:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Make searches, or print the table of those made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=500, help="of each law")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--search", choices=("paramhs", "random"), default="paramhs")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--stopping", type=int, metavar="RUNS")
    parser.add_argument("--hour", action="store_true")
    given = parser.parse_args()
    if given.hour:
        print("\n".join(hour()))
        return
    if given.stopping:
        found = list(stopped(given.stopping, given.searches))
        print("\n".join(stopping_table(found, 0.01)))
        return
    rows: list[dict[str, str]] = []
    if given.data.exists():
        with given.data.open(newline="") as file:
            rows = list(csv.DictReader(file))
    if given.table:
        print(table(rows))
        return
    there = {(row["search"], row["law"], int(row["seed"])) for row in rows}
    with given.data.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not rows:
            writer.writerow(COLUMNS)
        for seed in range(given.searches):
            for name, law in LAWS.items():
                if (given.search, name, seed) not in there:
                    target = Simulated(law, seed)
                    for runs, statement, said, true in statements(
                        target, target.searched(Budget(runs=RUNS), given.search)
                    ):
                        numbers = (f"{said:.5f}", f"{true:.5f}")
                        writer.writerow((given.search, name, seed, runs, statement, *numbers))
                    file.flush()


if __name__ == "__main__":
    main()
