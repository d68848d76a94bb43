"""The checks of an entry: its default, its random configurations, its answers, a short search."""

import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
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
from paramhs.solvers.installation import runner
from paramhs.solvers.options import UNSET

MAX_SINGLES = 600  # single changes that are tried
MAX_TRIES = 80  # runs to find which changes make a fault
CUTOFF = 2.0  # seconds; a run that reaches it is slow, not refused
SLOW = ("slow", "")
MARGIN = 0.9  # of the cutoff, from which a run is slow


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


def batched(names: Sequence[str], size: int) -> Iterator[frozenset[str]]:
    """The names in groups of this size."""
    for start in range(0, len(names), size):
        yield frozenset(names[start : start + size])


def keeper(solver: Solver) -> Supervised | Forked:
    """What makes the runs of a solver: forks of its runner where it has one."""
    words = runner(solver.name)
    through = shlex.split(solver.target.template.text)[: len(words)] == list(words)
    return Forked(solver.target, words) if through else Supervised(solver.target, 1)


class Checker:
    """Runs a solver on generated instances, and compares with its default."""

    def __init__(self, solver: Solver, folder: Path, count: int) -> None:
        self.solver = solver
        self.instances = instances(solver, folder, count)
        self.kept = keeper(solver)
        self.default = [self.run(solver.space.default, i) for i in range(count)]
        self.done: Counter[str] = Counter()
        self.slow: Counter[str] = Counter()

    def run(self, config: Config, number: int) -> Run:
        """Run a configuration on an instance, always with the seed 1."""
        return self.kept(Task(config, self.instances[number], 1, CUTOFF))

    def fault(self, config: Config, number: int) -> tuple[str, str] | None:
        """What is wrong with the run of a configuration: a kind and a detail; None if nothing.

        The kind "slow" says nothing about the configuration, except that it was stopped.
        """
        run, reference = self.run(config, number), self.default[number]
        if run.answer is not None and not is_answer(run.answer):
            return "no answer", run.detail or f"it says {run.answer}"
        if run.runtime >= MARGIN * CUTOFF:
            return SLOW
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
        size, tries = len(changed) // 2, 0
        while size and tries < MAX_TRIES:
            for names in batched(list(changed), size):
                fewer = {n: v for n, v in changed.items() if n not in names}
                try:
                    smaller = space.config(fewer)
                except paramhs.BadInput:  # a value that is active only with another
                    continue
                tries += 1
                found = self.fault(smaller, number)
                if found is not None and found[0] == kind:
                    changed, detail = fewer, found[1]
            size //= 2
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


Trial = tuple[Config, int]
"""A configuration and the number of an instance."""


def faults(
    checker: Checker, trials: Mapping[str, Sequence[Trial]], seconds: float, done: Mapping[str, int]
) -> Iterator[Fault]:
    """Faults of trials, those of one kind after those of another.

    Where the time is over, the rest is left; `checker.done` says how many were made. A
    configuration that was slow once is not run again.

    Args:
        checker: makes the runs.
        trials: what to try, by kind.
        seconds: time for all of them.
        done: how many of each kind were made before.
    """
    end = time.monotonic() + seconds
    slow: set[Config] = set()
    for kind, listed in trials.items():
        for config, number in listed[done.get(kind, 0) :]:
            if time.monotonic() > end:
                return
            checker.done[kind] += 1
            if config in slow:
                continue
            found = checker.fault(config, number)
            if found == SLOW:
                checker.slow[kind] += 1
                slow.add(config)
            elif found is not None:
                yield checker.blamed(config, number, *found)


def trials_of(checker: Checker, configs: int, thorough: int) -> dict[str, Sequence[Trial]]:
    """Random configurations, the first of them on all other instances, and single changes.

    Args:
        checker: has the solver and the instances.
        configs: number of random configurations, each on one instance.
        thorough: how many of them are run on all.
    """
    rng = stream(0, "catalogue", checker.solver.name)
    count = len(checker.instances)
    drawn = list(islice(checker.solver.space.draws(rng), configs))
    singles = shuffled(list(single_changes(checker.solver)), rng)[:MAX_SINGLES]
    return {
        "random": [(config, number % count) for number, config in enumerate(drawn)],
        "all instances": [
            (config, number % count)
            for first, config in enumerate(drawn[:thorough])
            for number in range(first + 1, first + count)
        ],
        "single": [(config, 0) for config in singles],
    }


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
