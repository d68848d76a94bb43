"""How close generated circuit-fuzz formulas are to real ones, as tables in Markdown.

python -m benchmarks.studies.lookalikes FOLDER    of the real ones: about a minute on one core
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from paramhs.bundled.instances.circuit_fuzz import circuit_fuzz
from paramhs.bundled.instances.dimacs import Formula, read_formula
from paramhs.bundled.saps import Settings, arrays, solve
from paramhs.core.random_streams import stream

ALPHAS = [numerator / 15 for numerator in (16, 17, 18, 20, 22, 25, 30, 35, 40, 45)]
RHOS = (0.0, 1.0)
CUTOFF = 10_000

SIZES: dict[str, Callable[[Formula], float]] = {
    "variables": lambda f: f.variables,
    "clauses": lambda f: len(f.clauses),
    "clauses a variable": lambda f: len(f.clauses) / f.variables,
    "unit clauses": lambda f: Counter(map(len, f.clauses))[1],
    **{f"% of length {length}": lambda f, n=length: share(f, n) for length in range(2, 7)},
    "most occurrences of a variable": lambda f: max(occurrences(f).values()),
    "% of variables in 4 clauses or fewer": lambda f: rare(f, 4),
    "% in 11 or more": lambda f: 100 - rare(f, 10),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20, help="lookalikes")
    parser.add_argument("--runs", type=int, default=20, help="of SAPS, on each at each setting")
    words = parser.parse_args()
    real = [read_formula(path) for path in sorted(words.folder.glob("*.cnf*"))]
    made = [
        circuit_fuzz(100, None, None, stream(0, "circuit-fuzz", number))
        for number in range(words.count)
    ]
    print_sizes(real, made)
    print_landscape(real, made, words.runs)


def share(formula: Formula, length: int) -> float:
    return 100 * Counter(map(len, formula.clauses))[length] / len(formula.clauses)


def occurrences(formula: Formula) -> Counter[int]:
    return Counter(abs(literal) for clause in formula.clauses for literal in clause)


def rare(formula: Formula, most: int) -> float:
    times = occurrences(formula).values()
    return 100 * sum(count <= most for count in times) / formula.variables


def print_sizes(real: Sequence[Formula], made: Sequence[Formula]) -> None:
    print(f"| smallest, median, largest | {len(real)} real | {len(made)} lookalikes |")
    print("|---|---|---|")
    for name, size in SIZES.items():
        print(f"| {name} | {spread(map(size, real))} | {spread(map(size, made))} |")


def spread(numbers: Sequence[float]) -> str:
    ordered = sorted(numbers)
    three = (ordered[0], statistics.median(ordered), ordered[-1])
    return ", ".join(f"{number:,.0f}" if number >= 100 else f"{number:.3g}" for number in three)


def print_landscape(real: Sequence[Formula], made: Sequence[Formula], runs: int) -> None:
    """Each formula's means are divided by its mean at the first alpha; ± is over formulas."""
    settings = [Settings(alpha, 0.8) for alpha in ALPHAS]
    corners = [Settings(alpha, rho) for alpha in (ALPHAS[0], ALPHAS[-1]) for rho in RHOS]
    print("\n| alpha, rho | real | lookalikes |\n|---|---|---|")
    columns = [relative(formulas, settings + corners, runs) for formulas in (real, made)]
    for setting, left, right in zip(settings + corners, *columns, strict=True):
        print(f"| {setting.alpha * 15:.0f}/15, {setting.rho:g} | {left} | {right} |")
    firsts = [at_first(formulas, settings[0], runs) for formulas in (real, made)]
    print(f"| false clauses in 100 variables at 16/15, 0.8 | {firsts[0]} | {firsts[1]} |")


def relative(formulas: Sequence[Formula], settings: Sequence[Settings], runs: int) -> list[str]:
    rows = []
    for formula in formulas:
        means = [best(formula, setting, runs) for setting in settings]
        rows.append([mean / means[0] for mean in means])
    return [with_deviation(column) for column in zip(*rows, strict=True)]


def at_first(formulas: Sequence[Formula], setting: Settings, runs: int) -> str:
    return with_deviation([100 * best(f, setting, runs) / f.variables for f in formulas])


def best(formula: Formula, setting: Settings, runs: int) -> float:
    """The mean over runs of the fewest false clauses."""
    return float(solve(arrays(formula), setting, CUTOFF, seed=0, runs=runs).best_false.mean())


def with_deviation(numbers: Sequence[float]) -> str:
    return f"{statistics.mean(numbers):.2f} ± {statistics.stdev(numbers):.2f}"


if __name__ == "__main__":
    main()
