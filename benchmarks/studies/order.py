"""What the order of pairs in a race is worth: drawn for each challenger, or one for all.

python -m benchmarks.studies.order [--only saps minisat cadical] [--of growing focused] [--seeds 12]
python -m benchmarks.studies.order --only law-300 law-3000 --seeds 200

Each search has the same budget in runs, scenario and seed; what it found is then run on held-out
instances that neither saw. Costs are counted work (false clauses, propagations), so a busy machine
changes nothing. minisat and cadical are Debian's; a solver that is not there is left out.

In the cases called law, what a run costs is a draw from a known law, as of a randomised solver on
instances of all sizes: so what was found is judged by its exact mean.
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

from paramhs.api.tune import tune_scenario
from paramhs.bundled.instances.circuit_fuzz import circuit_fuzz
from paramhs.bundled.instances.dimacs import dimacs
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.bundled.saps import SPACE, Saps
from paramhs.core.costs import Quality
from paramhs.core.random_streams import stream
from paramhs.core.runs import Instance, Pair, Target
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.core.test_set import TestSet
from paramhs.execution.driver import Budget
from paramhs.execution.settings import Running
from paramhs.execution.targets import FunctionTarget
from paramhs.formats.scenario import read_scenario
from paramhs.search.comparison import Focused, Growing
from paramhs.search.configurators import Configurator, ParamHS, ParamILS
from paramhs.search.history import History
from paramhs.search.operators import SeveralParameters

EXAMPLES = Path(__file__).parents[1] / "laboratory" / "scenarios"


@dataclass(frozen=True)
class OneOrder(Growing):
    """As it was: all challengers meet the pairs in the order in which the incumbent met them."""

    def _order(
        self, history: History, challenger: Config, times: int, pairs: Sequence[Pair]
    ) -> Iterator[Pair]:
        return iter(pairs)


SEARCHES: dict[str, dict[str, Configurator]] = {
    "growing": {
        "one order for all": ParamHS(SeveralParameters(), OneOrder(min_runs=3)),
        "an order for each": ParamHS(SeveralParameters(), Growing(min_runs=3)),
    },
    "focused": {
        "one order for all": ParamILS(comparison=Focused("shared")),
        "an order for each": ParamILS(comparison=Focused("drawn")),
    },
}


class Case(NamedTuple):
    """A scenario with its target and what it is tested on."""

    scenario: Scenario
    target: Target
    tests: TestSet | None
    runs: int
    mean: Callable[[Config], float] | None = None
    """Its exact mean cost, where that is known."""


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


FACTORS = (0.9, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
"""How much more a run costs, for each parameter, where it is farthest from its best value."""


def law_mean(config: Config) -> float:
    """The mean cost, in units of the optimum's; the default is in the middle."""
    far = (abs(index - best) / 8 for index, best in zip(config.indices, (0, 8) * 4, strict=True))
    return math.prod(1 + factor * share for factor, share in zip(FACTORS, far, strict=True))


def law_cost(config: dict[str, int], instance: float, seed: int) -> float:
    """Hardness x mean x how well it suits the instance x an exponential draw of mean 1."""
    indices = tuple(config.values())
    suits = stream(0, "suits", str(instance), *indices).gauss(0, 0.4)
    luck = stream(seed, "luck", *indices).expovariate(1)
    mean = law_mean(LAW_SPACE.configured(indices))
    return instance * mean * math.exp(suits - 0.4**2 / 2) * luck


LAW_SPACE = Space({f"p{k}": range(9) for k in range(8)})


@contextmanager
def law(runs: int) -> Iterator[Case]:
    """50 instances whose hardness spans two decades."""
    hardness = [10 ** (k / 25) for k in range(50)]
    instances = tuple(Instance(f"{h:.4g}", h) for h in hardness)
    yield Case(Scenario(LAW_SPACE, instances), FunctionTarget(law_cost), None, runs, law_mean)


CASES: dict[str, Callable[[], object]] = {
    "law-300": lambda: law(300),
    "law-3000": lambda: law(3_000),
    "saps": saps,
    "minisat": lambda: example("minisat", "-verb=0", "-verb=1", r"propagations\s*: (\d+)"),
    "cadical": lambda: example("cadical", "cadical -q -n", "cadical -n", r"propagations:\s+(\d+)"),
}


def found(case: Case, configurator: Configurator, seed: int) -> tuple[float, float]:
    """What is found, on the test set relative to the default; and how late the last incumbent."""
    result = tune_scenario(
        case.scenario,
        case.target,
        configurator,
        budget=Budget(runs=case.runs),
        seed=seed,
        running=Running(jobs=1 if case.mean else 2),
        test_set=case.tests,
    )
    last = result.trajectory[-1].runs / case.runs
    if case.mean:
        return case.mean(result.best) / case.mean(result.default), last
    if not result.verdict or result.best == result.default:
        return 1.0, last
    return result.verdict.second.cost / result.verdict.first.cost, last


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.order")
    parser.add_argument("--only", nargs="+", choices=CASES, default=["saps", "minisat", "cadical"])
    parser.add_argument("--of", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    parser.add_argument("--seeds", type=int, default=12)
    options = parser.parse_args()
    columns = ("target", "comparison", "mean", "s.e.", "median", "last incumbent at")
    table = Table(*columns, title="held-out cost relative to the default's")
    for name in options.only:
        if name in ("minisat", "cadical") and shutil.which(name) is None:
            print(f"without {name}: it is not installed")
            continue
        with CASES[name]() as case:  # type: ignore[attr-defined]
            for kind in options.of:
                compare(f"{name}, {kind}", case, SEARCHES[kind], options.seeds, table)
    Console(width=110).print(table)


def compare(
    name: str, case: Case, searches: dict[str, Configurator], seeds: int, table: Table
) -> None:
    """Both orders with the same seeds, and their difference seed by seed."""
    costs = {}
    for label, configurator in searches.items():
        both = [found(case, configurator, seed) for seed in range(seeds)]
        costs[label] = [cost for cost, _ in both]
        print(name, label, [f"{cost:.3f}" for cost in costs[label]], flush=True)
        last = fmean(last for _, last in both)
        table.add_row(name, label, *_summary(costs[label]), f"{last:.0%}")
    before, after = costs.values()
    differences = [b - a for a, b in zip(before, after, strict=True)]
    table.add_row(name, "difference", *_summary(differences), "")


def _summary(numbers: Sequence[float]) -> list[str]:
    error = stdev(numbers) / math.sqrt(len(numbers))
    return [f"{fmean(numbers):.4f}", f"{error:.4f}", f"{median(numbers):.4f}"]


if __name__ == "__main__":
    main()
