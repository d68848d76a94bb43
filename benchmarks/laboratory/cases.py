"""The real targets: solvers whose work is counted, so that a busy machine changes nothing."""

import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.laboratory.asp import SPACE as CLASP_SPACE
from benchmarks.laboratory.asp import graphs as graphs_of
from paramhs.bundled.instances.circuit_fuzz import circuit_fuzz
from paramhs.bundled.instances.colouring import colouring
from paramhs.bundled.instances.dimacs import Formula, dimacs
from paramhs.bundled.instances.integer_programs import knapsack, lp
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.bundled.saps import SPACE, Saps, Settings, solve
from paramhs.core.costs import Cost, CostMetric
from paramhs.core.random_streams import stream
from paramhs.core.runs import Instance, Run, Status, Target
from paramhs.core.scenario import Scenario
from paramhs.execution.targets import FunctionTarget
from paramhs.formats.scenario import read_scenario
from paramhs.formats.space_files import read_space

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENARIOS = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class CountedWork(CostMetric):
    """PAR10 of counted work: more than the limit counts ten times the limit."""

    limit: float = math.inf

    @property
    def label(self) -> str:
        """What is counted is the case's affair."""
        return "work"

    def of(self, run: Run) -> Cost:
        """The work done, if that was within the limit."""
        work = run.quality
        if run.status is Status.OK and work is not None and work <= self.limit:
            return (work,)
        return (10 * self.limit,)


@dataclass(frozen=True)
class Case:
    """A scenario with its target, and which of its instances are for testing alone."""

    name: str
    scenario: Scenario
    target: Target
    tests: tuple[Instance, ...]


@dataclass(frozen=True)
class Numbers:
    """Which instances of a family are taken: an instance is made from its number."""

    trained: Sequence[int]
    """Those that a search sees."""
    tests: Sequence[int]
    """Those that are for testing alone: larger numbers, so that they come later by name."""

    def __iter__(self) -> Iterator[int]:
        return iter((*self.trained, *self.tests))


COLLECTED = Numbers(range(20), range(20, 60))
"""Those of the tables; the search was chosen with these in view."""


def fold(seed: int) -> Numbers:
    """Training instances for each seed alone, and the same tests for all."""
    return Numbers(range(100 + 20 * seed, 120 + 20 * seed), range(5_000, 5_100))


def split(name: str, whole: Scenario, target: Target, numbers: Numbers) -> Case:
    """The first instances are for the search."""
    trained = len(numbers.trained)
    scenario = Scenario(
        whole.space,
        whole.instances[:trained],
        whole.cost,
        whole.cutoff,
        whole.deterministic,
    )
    return Case(name, scenario, target, whole.instances[trained:])


@contextmanager
def saps(numbers: Numbers = COLLECTED) -> Iterator[Case]:
    """SAPS, four parameters, on circuits: false clauses after 5,000 steps; it depends on seeds."""
    with tempfile.TemporaryDirectory() as folder:
        instances = []
        for number in numbers:
            file = Path(folder, f"circuit-{number:04}.cnf")
            file.write_text(dimacs(circuit(number)), encoding="ascii")
            instances.append(Instance(file.name, file))
        scenario = Scenario(SPACE, tuple(instances))
        yield split("saps", scenario, FunctionTarget(Saps(SAPS_STEPS)), numbers)


def circuit(number: int) -> Formula:
    """The first of its stream that is not far harder than all others (one in sixty is)."""
    rng = stream(0, "lab", number)
    while True:
        formula = circuit_fuzz(40, 1_000, 5.5, rng)
        if solve(formula, Settings(), SAPS_STEPS, 0).best_false[0] <= SAPS_MAX_CLAUSES:
            return formula


def _folder(name: str) -> Path:
    """The folder of a scenario that is kept here, or of an example."""
    kept = SCENARIOS / name
    return kept if kept.is_dir() else EXAMPLES / name


@contextmanager
def written(
    name: str, replacements: dict[str, str], more: str, files: Iterator[tuple[str, str]]
) -> Iterator[tuple[Scenario, Target]]:
    """An example's scenario with some words replaced, some lines before it, and these files."""
    text = (_folder(name) / "scenario.toml").read_text(encoding="utf-8")
    for old, new in replacements.items():
        assert old in text, old
        text = text.replace(old, new)
    unwanted = ("expected", "cutoff", "solved", "test_instances", "cost", "clock")
    kept = [line for line in text.splitlines() if not line.startswith(unwanted)]
    with tempfile.TemporaryDirectory() as folder:
        for file in _folder(name).glob("*.py"):
            shutil.copy(file, folder)
        if name == "highs":
            with Path(folder, "mip.py").open("a", encoding="utf-8") as module:
                module.write(ITERATIONS)
        Path(folder, "instances").mkdir()
        for file_name, content in files:
            Path(folder, "instances", file_name).write_text(content, encoding="ascii")
        file = Path(folder, "scenario.toml")
        file.write_text(f"cost = 'minimise'\n{more}\n" + "\n".join(kept), encoding="utf-8")
        read = read_scenario(file)
        held_out = read.test_set.instances if read.test_set else ()
        instances = tuple(sorted({*read.scenario.instances, *held_out}))
        yield replace(read.scenario, instances=instances), read.target


def formulas(numbers: Numbers, make: Callable[[int], Formula]) -> Iterator[tuple[str, str]]:
    """Files of formulas."""
    for number in numbers:
        yield f"f{number:04}.cnf", dimacs(make(number))


def counted(name: str, scenario: Scenario, target: Target, limit: float, numbers: Numbers) -> Case:
    """Build a case with costs in counted work; the first numbers are for the search."""
    metric = CountedWork(limit)
    whole = Scenario(scenario.space, scenario.instances, metric, scenario.cutoff, True)
    return split(name, whole, target, numbers)


@contextmanager
def minisat(numbers: Numbers = COLLECTED) -> Iterator[Case]:
    """minisat, 18 parameters, some conditional; propagations, counted up to a limit."""
    made = formulas(
        numbers, lambda n: random_ksat(3, 120, 4.26, False, stream(0, "lab minisat", n))
    )
    more = "cutoff = '2 s'\nsolved = [10, 20]\nread = {regex = 'propagations\\s*: (\\d+)'}"
    loud = {"-verb=0": "-verb=1", "-rnd-seed={seed}": "-rnd-seed=91648253"}
    with written("minisat", loud, more, made) as (scenario, target):
        yield counted("minisat", scenario, target, MINISAT_LIMIT, numbers)


@dataclass(frozen=True)
class Kissat:
    """The memory accesses of a run, as it counts them: those of all its techniques.

    (Counted by propagations alone, the best configurations shift the work to where none are
    counted.)
    """

    program: str

    def __call__(self, config: dict[str, object], instance: str | Path, seed: int) -> float:
        """Counted work of a run, which ends at the limit of conflicts, solved or not."""
        options = [f"--{name}={value}" for name, value in config.items()]
        call = [
            self.program,
            "-n",
            "-s",
            f"--conflicts={KISSAT_CONFLICTS}",
            *options,
            str(instance),
        ]
        told = subprocess.run(call, capture_output=True, text=True, check=False)
        if told.returncode not in (10, 20):
            raise RuntimeError(f"not solved: exit code {told.returncode}")
        return sum(
            int(n) for n in re.findall(r"^c (?:\w+_ticks|walk_steps): +(\d+)", told.stdout, re.M)
        )


@contextmanager
def kissat_on(name: str, numbers: Numbers, make: Callable[[int], Formula]) -> Iterator[Case]:
    """kissat, 147 parameters of which most do nothing."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(_folder("kissat") / "prepare.py", folder)
        subprocess.run([sys.executable, "prepare.py"], cwd=folder, check=True, capture_output=True)
        instances = []
        for file_name, content in formulas(numbers, make):
            file = Path(folder, file_name)
            file.write_text(content, encoding="ascii")
            instances.append(Instance(file_name, file))
        scenario = Scenario(
            read_space(Path(folder, "kissat.pcs")).space, tuple(instances), cutoff=2.0
        )
        target = FunctionTarget(Kissat(str(Path(folder, "kissat"))))
        yield counted(name, scenario, target, KISSAT_LIMIT, numbers)


def kissat(numbers: Numbers = COLLECTED) -> AbstractContextManager[Case]:
    """kissat on random formulas, of which the default solves nearly all."""
    return kissat_on(
        "kissat",
        numbers,
        lambda n: random_ksat(3, 130, 4.26, False, stream(0, "lab kissat", n)),
    )


def graphs(numbers: Numbers = COLLECTED) -> AbstractContextManager[Case]:
    """kissat on graphs to be coloured, of which the default leaves some unsolved."""
    return kissat_on(
        "graphs", numbers, lambda n: colouring(200, 4.6, 3, stream(0, "lab kissat", n))
    )


@contextmanager
def highs(numbers: Numbers = COLLECTED) -> Iterator[Case]:
    """HiGHS, 19 parameters, on knapsacks with many capacities: simplex iterations."""
    files = ((f"f{n:04}.lp", lp(knapsack(20, 5, 0.5, stream(0, "lab highs", n)))) for n in numbers)
    more = "cutoff = '5 s'"
    with written("highs", {'"mip:solve"': '"mip:iterations"'}, more, files) as (scenario, target):
        yield counted("highs", scenario, target, HIGHS_LIMIT, numbers)


@contextmanager
def annealing(numbers: Numbers = COLLECTED) -> Iterator[Case]:
    """Simulated annealing, seven parameters, some conditional; the length of a trip."""
    with written("heuristic", {}, "", iter(())) as (scenario, target):
        instances = tuple(Instance(f"{n:04}", n) for n in numbers)
        yield split("annealing", replace(scenario, instances=instances), target, numbers)


@contextmanager
def asp(numbers: Numbers = COLLECTED) -> Iterator[Case]:
    """clasp, 49 parameters, 23 conditional, with seeds; conflicts, counted up to a limit."""
    with graphs_of(numbers) as (clasp, files):
        instances = tuple(Instance(file.name, file) for file in files)
        scenario = Scenario(CLASP_SPACE, instances)
        yield split("asp", scenario, FunctionTarget(clasp), numbers)


ITERATIONS = """

def iterations(config, instance, seed):
    highs = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "mip_max_nodes": 3000, **config}
    for name, value in options.items():
        done(highs.setOptionValue(name, value), f"set {name} = {value}")
    done(highs.readModel(instance), f"read {instance}")
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(highs.modelStatusToString(highs.getModelStatus()))
    return highs.getInfo().simplex_iteration_count
"""
"""Appended to the example's module, so that it returns counted work."""

SAPS_STEPS = 5_000
SAPS_MAX_CLAUSES = 100  # false clauses that the default may leave
MINISAT_LIMIT = 300_000
KISSAT_CONFLICTS = 4_000
KISSAT_LIMIT = 3_000_000
HIGHS_LIMIT = 10_000

CASES: dict[str, Callable[[Numbers], AbstractContextManager[Case]]] = {
    "saps": saps,
    "minisat": minisat,
    "kissat": kissat,
    "graphs": graphs,
    "highs": highs,
    "annealing": annealing,
    "asp": asp,
}
"""Functions that make the cases, by name."""
