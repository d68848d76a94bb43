"""What the order of pairs in a race is worth: drawn for each challenger, or one for all.

python -m benchmarks.order [--only saps minisat cadical] [--seeds 12]

Each search has the same budget in runs, scenario and seed; what it found is then run on held-out
instances that neither saw. Costs are counted work (false clauses, propagations), so a busy machine
changes nothing. minisat and cadical are Debian's; a solver that is not there is left out.
"""

import argparse
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from paramhs.faces.scenario_file import read_scenario
from paramhs.faces.tuning import tune_scenario
from paramhs.results.validating import TestSet
from paramhs.search.comparison import Growing
from paramhs.search.configurators import ParamHS
from paramhs.search.history import History
from paramhs.values.costs import Quality
from paramhs.values.runs import Instance, Pair, Target
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import stream
from paramhs.values.space import Config
from paramhs.world.driver import Budget
from paramhs.world.instances.circuit_fuzz import circuit_fuzz
from paramhs.world.instances.dimacs import dimacs
from paramhs.world.instances.random_ksat import random_ksat
from paramhs.world.targets import FunctionTarget
from paramhs.world.targets.saps import SPACE, Saps

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True)
class OneOrder(Growing):
    """As it was: all challengers meet the pairs in the order in which the incumbent met them."""

    def _order(
        self, history: History, challenger: Config, times: int, pairs: Sequence[Pair]
    ) -> Iterator[Pair]:
        return iter(pairs)


COMPARISONS = {"one order for all": OneOrder(), "an order for each": Growing()}


class Case(NamedTuple):
    """A scenario with its target and what it is tested on."""

    scenario: Scenario
    target: Target
    tests: TestSet
    runs: int


@contextmanager
def saps() -> Iterator[Case]:
    """SAPS in machine code on small circuits."""
    with tempfile.TemporaryDirectory() as folder:
        circuits = []
        for number in range(24):
            formula = circuit_fuzz(40, 1_000, None, stream(0, "demo", number))
            circuits.append(Instance(f"circuit-{number:02}", Path(folder, f"{number}.cnf")))
            circuits[-1].value.write_text(dimacs(formula), encoding="ascii")
        scenario = Scenario(SPACE, tuple(circuits[:12]), Quality())
        tests = TestSet(tuple(circuits[12:]), True, 120)
        yield Case(scenario, FunctionTarget(Saps(5_000)), tests, 10_000)


@contextmanager
def example(name: str, quiet: str, loud: str, regex: str) -> Iterator[Case]:
    """An example's solver and space, on small formulas, for the propagations it counts."""
    text = (EXAMPLES / name / "scenario.toml").read_text(encoding="utf-8")
    text = text.replace(quiet, loud).replace('cost = "runtime"', 'cost = "minimise"')
    lines = [line for line in text.splitlines() if not line.startswith(("expected", "cutoff"))]
    lines.insert(0, f"read = {{regex = '{regex}'}}\ncutoff = '60 s'")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scenario.toml")
        file.write_text("\n".join(lines), encoding="utf-8")
        Path(folder, "instances").mkdir()
        for number in range(60):
            formula = random_ksat(3, 150, 4.26, False, stream(0, "order", number))
            Path(folder, "instances", f"f{number:02}.cnf").write_text(dimacs(formula))
        scenario_file = read_scenario(file)
        assert scenario_file.test_set is not None
        yield Case(scenario_file.scenario, scenario_file.target, scenario_file.test_set, 300)


CASES: dict[str, Callable[[], object]] = {
    "saps": saps,
    "minisat": lambda: example("minisat", "-verb=0", "-verb=1", r"propagations\s*: (\d+)"),
    "cadical": lambda: example("cadical", "cadical -q -n", "cadical -n", r"propagations:\s+(\d+)"),
}


def found(case: Case, comparison: Growing, seed: int) -> tuple[float, float]:
    """What is found, on the test set relative to the default; and how late the last incumbent."""
    result = tune_scenario(
        case.scenario,
        case.target,
        ParamHS(comparison=comparison),
        budget=Budget(runs=case.runs),
        seed=seed,
        jobs=2,
        test_set=case.tests,
    )
    last = result.trajectory[-1].runs / case.runs
    if result.verdict is None:
        return 1.0, last
    return result.verdict.second.cost / result.verdict.first.cost, last


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.order")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=12)
    options = parser.parse_args()
    columns = ("target", "comparison", "mean", "s.e.", "median", "last incumbent at")
    table = Table(*columns, title="held-out cost relative to the default's")
    for name in options.only:
        if name != "saps" and shutil.which(name) is None:
            print(f"without {name}: it is not installed")
            continue
        with CASES[name]() as case:  # type: ignore[attr-defined]
            costs = {}
            for label, comparison in COMPARISONS.items():
                both = [found(case, comparison, seed) for seed in range(options.seeds)]
                costs[label] = [cost for cost, _ in both]
                print(name, label, [f"{cost:.3f}" for cost in costs[label]], flush=True)
                last = fmean(last for _, last in both)
                table.add_row(name, label, *_summary(costs[label]), f"{last:.0%}")
        before, after = costs.values()
        table.add_row(
            name, "difference", *_summary([b - a for a, b in zip(before, after, strict=True)]), ""
        )
    Console(width=110).print(table)


def _summary(numbers: Sequence[float]) -> list[str]:
    error = stdev(numbers) / math.sqrt(len(numbers))
    return [f"{fmean(numbers):.4f}", f"{error:.4f}", f"{median(numbers):.4f}"]


if __name__ == "__main__":
    main()
