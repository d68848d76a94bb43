"""How often small searches end with a challenger ahead, by the reserve that finishes races.

python -m benchmarks.calibration.endings --searches 120    the table of docs/decisions/reserve.md

Searches are on the laws of `benchmarks.calibration.simulated` that have effects and noise. The cost
of the best is its true one; the difference is that of the same seeds with the first reserve.
"""

import argparse
import math
from statistics import fmean, stdev

from benchmarks.calibration.simulated import LAWS, Simulated, searched
from paramhs.execution.driver import budget
from paramhs.search.open_race import challenger_leads

BUDGETS = (40, 60, 100)
PARTS = (10, 6, 5, 4)
"""The reserve is one part in these, at most `MAX_SMALL_RESERVE` runs."""


def ended(runs: int, part: int, searches: int) -> tuple[int, list[float]]:
    """Number of searches with a challenger ahead, and the logarithm of what each best costs."""
    budget.SMALL_RESERVE = part
    laws = [law for law in LAWS.values() if law.noise and law.effects]
    ahead, costs = 0, []
    for seed in range(searches):
        target = Simulated(laws[seed % len(laws)], seed)
        record = searched(target.lab, "paramhs", seed, runs)
        ahead += challenger_leads(record.history, record.best)
        costs.append(target.means[record.best])
    return ahead, costs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=120, help="of each budget")
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    given = parser.parse_args()
    print(f"| budget | {' | '.join(f'one in {part}' for part in PARTS)} |")
    print("|---" * (len(PARTS) + 1) + "|")
    for runs in given.budgets:
        found = [ended(runs, part, given.searches) for part in PARTS]
        cells = []
        for ahead, costs in found:
            more = [100 * (a - b) for a, b in zip(costs, found[0][1], strict=True)]
            error = stdev(more) / math.sqrt(len(more))
            cells.append(f"{ahead}; {fmean(more):+.1f} % ± {error:.1f} %")
        print(f"| {runs} runs | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
