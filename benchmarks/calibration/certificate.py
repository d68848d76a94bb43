"""How often the statements of a certificate are wrong, and what stopping by it costs.

python -m benchmarks.calibration.searches FOLDER       searches on surrogates of five real solvers
python -m benchmarks.calibration.certificate FOLDER    the tables of docs/explanation/certificate.md
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean, stdev

from benchmarks.calibration.searches import Kept, kept
from benchmarks.laboratory.__main__ import surrogate
from paramhs.analysis.gain_bound import MAX_STATED_GAIN, gain_bound
from paramhs.analysis.win_probability import bounded
from paramhs.execution.driver import Budget
from paramhs.execution.driver.stopping import Stopping
from paramhs.search.history import History
from paramhs.search.record import Record

MOMENTS = (30, 100, 300, 1000)
PATHS = {
    "one in 50 wins": [0.02],
    "halved by each winner": [0.5**k for k in range(1, 15)],
    "a record each time": [1 / (k + 1) for k in range(1, 60)],
    "always one in ten": [0.1] * 200,
}


def untried_wrong(
    chances: Sequence[float], moments: Sequence[int], trials: int, rng: Random, factor: float = 1.0
) -> list[int]:
    """Number of searches whose bound, times a factor, is wrong at each moment.

    Draws win with the chance of the present incumbent: the next in the list after each win.
    """
    wrong = [0] * len(moments)
    for _ in range(trials):
        at = since = 0
        for draw in range(1, max(moments) + 1):
            if rng.random() < chances[at]:
                at, since = min(at + 1, len(chances) - 1), 0
            else:
                since += 1
            if draw in moments:
                found = bounded("uniform", 1.0, since, 0.05)
                refuted = found is not None and chances[at] > factor * found.bound
                wrong[moments.index(draw)] += refuted
    return wrong


def untried_table(trials: int) -> Iterator[str]:
    """Share of searches whose bound is wrong, by moment."""
    yield f"| chance of the next draw | {' | '.join(f'{n:,} draws' for n in MOMENTS)} |"
    yield "|---" * (len(MOMENTS) + 1) + "|"
    for name, chances in PATHS.items():
        wrong = untried_wrong(chances, MOMENTS, trials, Random(1))
        yield f"| {name} | {' | '.join(f'{100 * w / trials:.1f}' for w in wrong)} |"


def prefix(whole: Record, runs: int) -> Record:
    """The record as it was after this number of runs."""
    history = History(whole.scenario, whole.history.seed)
    for run in whole.runs[:runs]:
        history.add(run)
    history.restore(runs, (race for race in whole.history.races if race.asked <= runs))
    points = [point for point in whole.trajectory if point.runs <= runs]
    return replace(whole, history=history, trajectory=points, elapsed=whole.elapsed[:runs])


def stopped_after(found: Kept, least: float, growth: float = 1.02) -> int:
    """Runs after which the rule of `budget.stop` ends this search; its length if never."""
    whole = found.record
    budget = Budget(runs=len(whole.runs), stop=least)
    rule, last = Stopping(budget), 0
    for race in whole.history.races:
        if race.asked > growth * last:
            last = race.asked
            if rule.why(prefix(whole, race.asked)):
                return race.asked
    return len(whole.runs)


def stopping_table(searches: Sequence[Kept], least: float) -> Iterator[str]:
    """Runs that were saved, and what they would have gained."""
    yield "| target | searches | budget saved | regret | largest |"
    yield "|---|---|---|---|---|"
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in searches:
        runs, whole = stopped_after(one, least), len(one.record.runs)
        regret = one.cost_after(runs) / one.cost_after(whole) - 1
        groups[one.case].append((1 - runs / whole, regret))
    everything = [pair for pairs in groups.values() for pair in pairs]
    for name, pairs in (*groups.items(), ("all", everything)):
        saved, regret = (fmean(column) for column in zip(*pairs, strict=True))
        numbers = [r for _, r in pairs]
        error = stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.nan
        yield (
            f"| {name} | {len(pairs)} | {saved:.0%} | {regret:.2%} ± {error:.2%} |"
            f" {max(numbers):.1%} |"
        )


def tried_table(searches: Sequence[Kept], moments: Sequence[int]) -> Iterator[str]:
    """How often a configuration that was tried saves more than was said, and what was said.

    What is true of a configuration is the mean logarithm of its costs on the training instances.
    """
    yield f"| target | {' | '.join(f'{n:,} runs' for n in moments)} |"
    yield "|---" * (len(moments) + 1) + "|"
    groups: dict[str, list[list[tuple[float, float]]]] = defaultdict(lambda: [[] for _ in moments])
    for one in searches:
        for place, runs in enumerate(moments):
            record = prefix(one.record, runs)
            said = gain_bound(record)
            bound = MAX_STATED_GAIN if said is None else said.bound
            groups[one.case][place].append((bound, best_saving(one.case, record)))
    for name, columns in groups.items():
        cells = []
        for pairs in columns:
            wrong = sum(true > bound for bound, true in pairs)
            middle = sorted(bound for bound, _ in pairs)[len(pairs) // 2]
            cells.append(f"{wrong} of {len(pairs)} wrong, {middle:.1%} said")
        yield f"| {name} | {' | '.join(cells)} |"


def best_saving(case: str, record: Record) -> float:
    """Share of the best's cost that the truly best of the configurations tried saves."""
    lab = surrogate(case)
    seeds = [0] if record.scenario.deterministic else range(-8, 0)

    def level(config) -> float:  # type: ignore[no-untyped-def]
        """Mean logarithm of the cost on the training instances."""
        costs = [
            math.log(min(lab.work(config, instance, seed), 1e12))
            for instance in lab.scenario.instances
            for seed in seeds
        ]
        return fmean(costs)

    own = level(record.best)
    return 1 - math.exp(min(level(config) for config in record.history.configs) - own)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--least", type=float, default=0.01)
    parser.add_argument("--moments", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--only", nargs="+", default=["untried", "stopping", "tried"])
    given = parser.parse_args()
    searches = list(kept(given.folder))
    tables = {
        "untried": lambda: untried_table(given.trials),
        "stopping": lambda: stopping_table(searches, given.least),
        "tried": lambda: tried_table(searches, given.moments),
    }
    for name in given.only:
        print("\n".join(tables[name]()), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
