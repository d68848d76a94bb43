"""How often a statement that should be valid at any moment is wrong at some moment.

python -m benchmarks.calibration.saving               the table of docs/explanation/certificate.md
python -m benchmarks.calibration.saving --save        the same, written into that page
python -m benchmarks.calibration.saving --trials 200  the same with larger errors

Each trial is a sequence of instances from a known population: a law, or the runs of a real target,
drawn with replacement. The interval of the mean saving is looked at after each of them.
"""

import argparse
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.calibration.shares import interval
from benchmarks.calibration.simulation import POPULATIONS, POWER, Law, Numbers, filled
from benchmarks.laboratory.__main__ import collected, surrogate
from benchmarks.landscapes.labs import Replayed
from paramhs.analysis.confidence_sequence import SHARES, mean_saving
from paramhs.core.random_streams import stream
from paramhs.core.runs import Task

PAGE = Path(__file__).parents[2] / "docs/explanation/certificate.md"
NAMES = (
    "log-normal, independent",
    "log-normal, 2 times",
    "constant against exponential",
    "Pareto, 30 % time out",
    "constant against Pareto, 10 %",
    "two families, 10 times larger",
    "two kinds, 10 %",
    "half ties, exponential",
)
LAWS: dict[str, Law] = {p.name: p.law for p in (*POPULATIONS, *POWER) if p.name in NAMES} | {
    p.name: p.law for p in POWER
}
REPLAYED = ("cadical", "clasp", "minisat", "saps")
COPIES = 8
"""Runs of a configuration on each instance of a real target, to draw from."""
LENGTH = 200
LOOKS = (12, 50, 200)


def drawn_from(first: Numbers, second: Numbers) -> Law:
    """A law that draws the runs of two configurations from tables by instance and copy."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        instances, copies = first.shape
        at = rng.integers(instances, size=(*shape[:2], 1))
        return tuple(table[at, rng.integers(copies, size=shape)] for table in (first, second))  # type: ignore[return-value]

    return law


@cache
def real_laws() -> Mapping[str, Law]:
    """The default against a random configuration, on runs of real targets."""
    return {
        **{f"{name}, surrogate": _surrogate_law(name) for name in collected()},
        **{f"{name}, replayed": _replayed_law(name) for name in REPLAYED},
    }


def _surrogate_law(name: str) -> Law:
    lab = surrogate(name)
    space = lab.scenario.space
    first, second = (
        np.array([[lab.work(config, i, seed) for seed in range(COPIES)] for i in lab.case.tests])
        for config in (space.default, space.sample(stream(0, "saving", name)))
    )
    return drawn_from(first, second)


def _replayed_law(name: str) -> Law:
    solver = Replayed.of(name, few=False)
    space = solver.scenario.space
    first, second = (
        np.array(
            [
                [solver(Task(config, i, seed)).quality for seed in range(COPIES)]
                for i in solver.scenario.instances
            ]
        )
        for config in (space.default, space.sample(stream(0, "saving", name)))
    )
    return drawn_from(first, second)


def savings(law: Law, rng: np.random.Generator, trials: int, length: int) -> Numbers:
    """The saving on each instance, one row a trial."""
    first, second = (x.mean(axis=2) for x in law(rng, (trials, length, 1)))
    return np.asarray((first - second) / np.maximum(first, second))


def truth(law: Law) -> float:
    """The mean saving of the population, of two million instances."""
    return float(savings(law, np.random.default_rng(99), 2000, 1000).mean())


def ever_wrong(drawn: Numbers, mean: float, level: float = 0.05) -> int:
    """Number of rows whose interval ever misses the mean: one side's capital has its limit."""
    numbers, middle = (1 + drawn) / 2, (1 + mean) / 2
    wrong = np.zeros(len(drawn), dtype=bool)
    for x, m in ((numbers, middle), (1 - numbers, 1 - middle)):
        logs = [np.log1p(s * (x / m - 1)).cumsum(axis=1) for s in SHARES]
        capital = np.exp(np.array(logs)).mean(axis=0)
        wrong |= (capital >= 2 / level).any(axis=1)
    return int(wrong.sum())


def ends(drawn: Numbers, looks: int) -> tuple[float, float]:
    """Mean ends of the interval after this number of instances."""
    first = np.where(drawn >= 0, 1.0, 1 + drawn)  # costs with these savings
    second = np.where(drawn >= 0, 1 - drawn, 1.0)
    sides = zip(first[:, :looks].tolist(), second[:, :looks].tolist(), strict=True)
    found = [mean_saving(*both) for both in sides]
    made = [interval for interval in found if interval is not None]
    low, high = (np.mean([getattr(i, end) for i in made]) for end in ("low", "high"))
    return float(low), float(high)


def table(laws: Mapping[str, Law], trials: int) -> str:
    """The rows of some populations."""
    lines = [f"| population | true | wrong | {' | '.join(f'{n} instances' for n in LOOKS)} |"]
    lines.append("|---" * (len(LOOKS) + 3) + "|")
    for name, law in laws.items():
        drawn = savings(law, np.random.default_rng([trials, len(name)]), trials, LENGTH)
        mean = truth(law)
        spans = [ends(drawn[:40], n) for n in LOOKS]
        shown = [f"{100 * low:.0f} to {100 * high:.0f}" for low, high in spans]
        wrong = interval(ever_wrong(drawn, mean), trials)
        lines.append(f"| {name} | {100 * mean:.0f} | {wrong} | {' | '.join(shown)} |")
    return "\n".join([f"{trials:,} sequences a row.", "", *lines])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.calibration.saving", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--only", choices=("saving", "real"), nargs="+", default=["saving", "real"])
    parser.add_argument("--save", action="store_true", help=f"write them into {PAGE.name}")
    given = parser.parse_args()
    for name in given.only:
        text = table(LAWS if name == "saving" else real_laws(), given.trials)
        print(text, flush=True)
        if given.save:
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(filled(page, {name: text}), encoding="utf-8")


if __name__ == "__main__":
    main()
