"""Whole searches on the surrogates of five real targets, kept for the studies of this folder.

python -m benchmarks.calibration.searches FOLDER --runs 2000 --times 8

A search that is there already is not made again, so this can be stopped at any time.
"""

import argparse
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.laboratory.__main__ import collected, surrogate
from paramhs.api.tune import tune_scenario
from paramhs.execution.driver import Budget
from paramhs.search.record import Record
from paramhs.search.registry import CONFIGURATORS


@dataclass(frozen=True)
class Kept:
    """A search and what is true of its incumbents."""

    case: str
    seed: int
    record: Record
    costs: tuple[float, ...]
    """True cost of each incumbent, in order."""
    default_cost: float

    def cost_after(self, runs: int) -> float:
        """True cost of the incumbent after this number of runs."""
        points = self.record.trajectory
        return [c for c, point in zip(self.costs, points, strict=True) if point.runs <= runs][-1]


def searched(case: str, seed: int, runs: int) -> Kept:
    """A search of the default kind."""
    lab = surrogate(case)
    budget = Budget(runs=runs)
    found = tune_scenario(
        lab.scenario, lab.target, CONFIGURATORS["paramhs"], budget=budget, seed=seed
    )
    costs = tuple(lab.true_cost(point.config) for point in found.trajectory)
    return Kept(case, seed, found.record, costs, lab.default_cost)


def kept(folder: Path) -> Iterator[Kept]:
    """The searches of a folder."""
    for path in sorted(folder.glob("*.pickle")):
        with path.open("rb") as file:
            yield pickle.load(file)


def main() -> None:
    """Make the searches that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--times", type=int, default=8)
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    for seed in range(given.times):
        for case in collected():
            path = given.folder / f"{case}-{seed}.pickle"
            if path.exists():
                continue
            found = searched(case, seed, given.runs)
            path.write_bytes(pickle.dumps(found))
            last = found.costs[-1] / found.default_cost
            print(case, seed, len(found.costs), f"{last:.3f}", flush=True)


if __name__ == "__main__":
    main()
