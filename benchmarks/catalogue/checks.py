"""The checks of an entry: its default, its random configurations, its answers, a short search."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import paramhs
from benchmarks.catalogue.forked import Forked
from benchmarks.catalogue.instances import write
from paramhs.core.answers import agreement, is_answer
from paramhs.core.random_streams import shuffled, stream
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.space import Config
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets.command import CommandTarget, Problem, Template
from paramhs.solvers import Solver
from paramhs.solvers.options import UNSET

MAX_SINGLES = 600  # single changes that are tried
CUTOFF = 10.0  # seconds; a run that reaches it is slow, not refused
MARGIN = 0.9  # of the cutoff, from which a run is slow; of the work, from which "better" holds


@dataclass(frozen=True)
class Fault:
    """A configuration that is refused, or that gives another answer; the fewest changes that do."""

    kind: str
    changes: str
    detail: str


def instances(
    solver: Solver, folder: Path, count: int, first: int = 0, *, larger: bool = False
) -> list[Instance]:
    """Generated instances for a solver."""
    paths = write(solver.entry, folder, count, first, larger=larger)
    return [Instance(path.name, Problem(str(path))) for path in paths]


class Checker:
    """Runs a solver on generated instances, and compares with its default."""

    def __init__(self, solver: Solver, folder: Path, count: int) -> None:
        self.solver = solver
        self.instances = instances(solver, folder, count)
        library = solver.entry.find.module is not None
        self.kept: Supervised | Forked = (
            Forked(solver.target, solver.installation.words)
            if library
            else Supervised(solver.target, 1)
        )
        self.default = [self.run(solver.space.default, i) for i in range(count)]
        self.slow = 0

    def run(self, config: Config, number: int) -> Run:
        """Run a configuration on an instance, always with the seed 1."""
        return self.kept(Task(config, self.instances[number], 1, CUTOFF))

    def fault(self, config: Config, number: int) -> tuple[str, str] | None:
        """What is wrong with the run of a configuration: a kind and a detail; None if nothing."""
        run, reference = self.run(config, number), self.default[number]
        if run.answer is not None and not is_answer(run.answer):
            return "no answer", run.detail or f"it says {run.answer}"
        if run.runtime >= MARGIN * CUTOFF:
            self.slow += 1
            return None
        if run.status is Status.CRASHED:
            return "refused", run.detail
        if run.answer is None or not is_answer(run.answer):
            return "no answer", run.detail or "it ended without an answer"
        if reference.answer is not None and is_answer(reference.answer):
            same = agreement(run.answer, reference.answer)
            if same != "same":
                return "another answer", f"{run.answer}, where the default has {reference.answer}"
        return None

    def blamed(self, config: Config, number: int, kind: str, detail: str) -> Fault:
        """The fault with as few changes of the default as still make it."""
        space = self.solver.space
        default = space.default
        changed = {n: v for n, v in config.items() if default.get(n) != v}
        for name in list(changed):
            fewer = {n: v for n, v in changed.items() if n != name}
            try:
                smaller = space.config(fewer)
            except paramhs.BadInput:  # a value that is active only with the other
                continue
            found = self.fault(smaller, number)
            if found is not None and found[0] == kind:
                changed, detail = fewer, found[1]
        text = " ".join(f"{name}={value}" for name, value in sorted(changed.items()))
        return Fault(kind, text, detail.strip()[-300:])

    def close(self) -> None:
        """End the keeper."""
        self.kept.close()


def single_changes(solver: Solver) -> Iterator[Config]:
    """The default with one option at its first, its last or another value."""
    space = solver.space
    for name, parameter in space.parameters.items():
        for index in sorted({0, parameter.levels // 2, parameter.levels - 1}):
            changed = {name: parameter.value(index)}
            try:
                config = space.config(changed)
            except paramhs.BadInput:  # it is active only with another change
                continue
            if config != space.default:
                yield config


def faults(checker: Checker, configs: int, thorough: int) -> Iterator[Fault]:
    """Faults of single changes, of random configurations, and of a few on every instance."""
    count = len(checker.instances)
    rng = stream(0, "catalogue", checker.solver.name)
    draws = checker.solver.space.draws(rng)
    singles = list(single_changes(checker.solver))
    tries = [(config, 0) for config in shuffled(singles, rng)[:MAX_SINGLES]]
    tries += [(next(draws), number % count) for number in range(configs)]
    for _ in range(thorough):
        config = next(draws)
        tries += [(config, number) for number in range(count)]
    seen: set[str] = set()
    for config, number in tries:
        found = checker.fault(config, number)
        if found is None:
            continue
        fault = checker.blamed(config, number, *found)
        names = " ".join(word.partition("=")[0] for word in fault.changes.split())
        if f"{fault.kind} {names}" not in seen:
            seen.add(f"{fault.kind} {names}")
            yield fault


def default_work(solver: Solver, folder: Path, count: int) -> Sequence[tuple[float, float]]:
    """Counted work of the default on instances: with no option, and with all written out.

    Options without a value by default have nothing to write.
    """
    plain, space = solver.target, solver.space
    command = plain.template.text.replace("{changed}", "{params}")
    unset = tuple(name for name, value in space.default.items() if value == UNSET)
    style = replace(plain.template.style, selectors=unset)
    whole = replace(plain, template=Template(command, space, style))
    found = instances(solver, folder, count)
    return [(_work(plain, solver, one), _work(whole, solver, one)) for one in found]


def _work(target: CommandTarget, solver: Solver, instance: Instance) -> float:
    with closing(Supervised(target, 1)) as kept:
        run = kept(Task(solver.space.default, instance, 1, CUTOFF))
    return float("nan") if run.quality is None else run.quality


@dataclass(frozen=True)
class Searched:
    """A short search and its verdict, and the same comparison on further instances."""

    runs: int
    conclusion: str
    text: str
    best: str
    fresh_ratio: float

    @property
    def is_borne_out(self) -> bool:
        """Whether "better" holds on fresh instances, up to a tenth of noise."""
        return self.conclusion != "better" or self.fresh_ratio <= 1 / MARGIN


def search(solver: Solver, folder: Path, seconds: float) -> Searched:
    """Tune on 24 instances, with 12 more for the verdict and 20 for what is checked after it."""
    paths = [str(path) for path in write(solver.entry, folder / "search", 36, 100, larger=True)]
    result = paramhs.tune(
        solver.target,
        solver.space,
        instances=paths[:24],
        test_instances=paths[24:],
        cost=solver.metric,
        cutoff=CUTOFF,
        budget=paramhs.Budget(wall_time=seconds),
        store=folder / "search.sqlite",
        progress=False,
    )
    fresh = instances(solver, folder / "fresh", 20, 200, larger=True)
    verdict = result.verdict
    return Searched(
        len(result.runs),
        verdict.conclusion,
        verdict.recommendation,
        solver.target.command_line(result.best),
        _total(solver, result.best, fresh) / _total(solver, solver.space.default, fresh),
    )


def _total(solver: Solver, config: Config, fresh: Sequence[Instance]) -> float:
    with closing(Supervised(solver.target, 1)) as kept:
        runs = [kept(Task(config, one, 2, CUTOFF)) for one in fresh]
    timed = solver.cost == "runtime"
    return sum(run.runtime if timed else run.quality or 0.0 for run in runs)
