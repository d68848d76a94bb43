"""A look at a scenario before hours are spent on it: trial runs of the default, known pitfalls."""

import hashlib
import math
import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import psutil

from paramhs.faces.scenario_file import ScenarioFile
from paramhs.faces.scenario_file.instances import PROVING
from paramhs.values.costs import Cost
from paramhs.values.errors import StoreError
from paramhs.values.runs import FAILURES, NO_INSTANCE, Instance, Run, Status, Task
from paramhs.values.scenario import endless_pairs
from paramhs.values.space import Integer, Parameter, Real
from paramhs.values.wording import counted, time_text
from paramhs.world.cluster import as_dask
from paramhs.world.store.sqlite import connect_to_read, explained
from paramhs.world.targets.command import Problem
from paramhs.world.targets.supervisor import Execute, Limits, Outcome
from paramhs.world.targets.supervisor.keeper import Job
from paramhs.world.targets.supervisor.supervised import Supervised

TRIALS = 3
_SHELL = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1"}
_EASY = 0.02  # a share of the cutoff: runs far below it
_WIDE = 1000.0  # high / low from which on a range asks for logarithms
_REPEATED = 2  # instances that are run again with another seed
_READABLE = 100_000_000  # bytes up to which files are compared by content


@dataclass(frozen=True)
class Trial:
    """A run of the default, and what came back."""

    call: str
    run: Run
    outcome: Outcome
    """What the program did; of a function, only its times."""


@dataclass
class _Seen:
    """A target that remembers what came back last."""

    target: Any
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def name(self) -> str:
        return self.target.name  # type: ignore[no-any-return]

    def job(self) -> Job:
        return self.target.job()  # type: ignore[no-any-return]

    def shown(self, task: Task) -> str:
        return self.target.shown(task)  # type: ignore[no-any-return]

    def run(self, task: Task, execute: Execute) -> Run:
        first: list[Outcome] = []

        def execute_and_note(request: object, limits: Limits) -> Outcome:
            first.append(execute(request, limits))
            return first[-1]

        run = self.target.run(task, execute_and_note)
        self.outcome = first[0]
        return run  # type: ignore[no-any-return]


def trials(file: ScenarioFile, count: int = TRIALS) -> Iterator[Trial]:
    """Run the default on the first instances, one after the other."""
    scenario = file.scenario
    if scenario.deterministic:
        count = min(count, len(scenario.instances))
    yield from _run_default(file, islice(_pairs(file), count))


def repeats(file: ScenarioFile, tried: Sequence[Trial]) -> Iterator[Trial]:
    """Run the default on the same instances again, with other seeds.

    Equal costs tell a target that is deterministic and not declared so. Measured times tell
    nothing: they always differ.
    """
    if file.scenario.deterministic or not _says_its_cost(file):
        return
    instances = dict.fromkeys(trial.run.task.instance for trial in tried)
    fresh = (seed for _, seed in islice(_pairs(file), len(tried), None))
    again = zip(islice(instances, _REPEATED), fresh, strict=False)
    yield from _run_default(file, again)


def _pairs(file: ScenarioFile) -> Iterator[tuple[Instance, int]]:
    scenario = file.scenario
    return endless_pairs(scenario.instances, file.seed, deterministic=scenario.deterministic)


def _run_default(file: ScenarioFile, pairs: Iterable[tuple[Instance, int]]) -> Iterator[Trial]:
    scenario = file.scenario
    target = _Seen(file.target)
    with closing(Supervised(target, 1)) as kept:
        for instance, seed in pairs:
            task = Task(scenario.space.default, instance, seed, scenario.cutoff)
            run = kept(task)
            yield Trial(file.target.shown(task), run, target.outcome)


def _says_its_cost(file: ScenarioFile) -> bool:
    """Whether the cost is something that the target says, rather than a time that we measure."""
    reader = getattr(file.target, "reader", None)
    return not file.scenario.cost.needs_runtime or bool(reader and reader.believed)


@dataclass(frozen=True)
class Afterwards:
    """The verdict that will follow a search."""

    runs: int
    """Of each of two configurations."""
    seconds: float | None
    """About how long it will take, by trial runs of the default; None without any."""
    in_budget: bool

    @property
    def text(self) -> str:
        """The same in words."""
        about = "" if self.seconds is None else f", about {time_text(self.seconds)}"
        budget = "part of the budget" if self.in_budget else "on top of the budget"
        return f"{counted(self.runs, 'run')} of each side after the search{about}, {budget}"


def afterwards(file: ScenarioFile, tried: Sequence[Trial]) -> Afterwards | None:
    """What the verdict will take; None if there will be none."""
    if file.test_set is None:
        return None
    count = file.test_set.count(file.scenario.deterministic)
    times = [trial.run.runtime for trial in tried]
    seconds = 2 * count * math.fsum(times) / len(times) / file.jobs if times else None
    return Afterwards(count, seconds, file.verdict_in_budget)


def warnings(file: ScenarioFile, tried: Sequence[Trial]) -> Iterator[str]:
    """What has spoiled many a search."""
    yield from _about_runs(file, tried)
    yield from _about_seeds(file, [trial.run for trial in tried])
    yield from _about_instances(file)
    yield from _about_space(file)
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if file.jobs > cores and not as_dask(file.executor):
        yield (
            f"{file.jobs} jobs on {cores} physical cores: runs will slow each other down, and"
            " measured times will say more about that than about parameters"
        )
    yield from _about_target(file)
    if all(limit is None for limit in vars(file.budget).values()):
        yield "the budget is empty: the search goes on until the space is exhausted"


def _about_target(file: ScenarioFile) -> Iterator[str]:
    if file.executor in ("inline", "threads") and math.isfinite(file.scenario.cutoff):
        yield f"executor = {file.executor!r} cannot stop a run at the cutoff, only judge it after"
    for word in shlex.split(file.target.command_line(file.scenario.space.default)):
        if word in _SHELL or word.startswith(("$", "~")):
            yield f"{word!r} in the command is passed on as it is: no shell reads it"


def _about_runs(file: ScenarioFile, tried: Sequence[Trial]) -> Iterator[str]:
    runs = [trial.run for trial in tried]
    if not runs:
        return
    solved = [run for run in runs if run.status is Status.OK]
    failed = [run for run in runs if run.status in FAILURES]
    if failed:
        yield f"{len(failed)} of {len(runs)} trial runs failed: {failed[0].reason}"
    if not solved and not failed:
        yield (
            f"the default solves none of {len(runs)} instances: a search has nothing to compare by;"
            " take easier instances or a longer cutoff"
        )
    elif len(solved) < len(runs) / 2:
        yield f"the default solves only {len(solved)} of {len(runs)} instances"
    cutoff = file.scenario.cutoff
    timed = file.scenario.cost.needs_runtime
    if timed and len(solved) == len(runs) and max(r.runtime for r in runs) < _EASY * cutoff:
        longest = max(run.runtime for run in runs)
        yield (
            f"the default solves everything far below the cutoff (at most {longest:.3g} s of"
            f" {cutoff:g} s): a shorter cutoff makes bad configurations cheap, harder instances"
            " leave more to gain"
        )
    left = sum(trial.outcome.left_behind for trial in tried)
    if left:
        yield f"the program left {left} processes behind, which were ended"


def _about_seeds(file: ScenarioFile, runs: Sequence[Run]) -> Iterator[str]:
    """A target that gives the same for every seed. Zeros everywhere may be solved instances."""
    if file.scenario.deterministic:
        return
    repeated = [*_trial_costs(file, runs), *_stored_costs(file)]
    solved = all(not any(cost) for costs in repeated for cost in costs)
    if repeated and not solved and all(len(costs) == 1 for costs in repeated):
        yield (
            "another seed gave the same cost wherever one was tried"
            f" ({counted(len(repeated), 'time')}): if the target is deterministic, say so with"
            f" deterministic = {'true' if file.path.suffix == '.toml' else '1'}, and no instance is"
            " run twice for nothing"
        )


def _trial_costs(file: ScenarioFile, runs: Sequence[Run]) -> list[set[Cost]]:
    """The costs on every instance that was run with several seeds."""
    costs: dict[str, dict[int, Cost]] = defaultdict(dict)
    for run in runs:
        if run.status is Status.OK:
            costs[run.task.instance.name][run.task.seed] = file.scenario.cost.of(run)
    return [set(by_seed.values()) for by_seed in costs.values() if len(by_seed) > 1]


def _stored_costs(file: ScenarioFile) -> list[set[Cost]]:
    """The same of the runs that an earlier search has made; a store that cannot be read is not
    our affair here."""
    if file.scenario.cost.needs_runtime or not os.path.isfile(file.store):
        return []
    with suppress(StoreError), explained(file.store), closing(connect_to_read(file.store)) as db:
        found = db.execute(
            "SELECT min(quality), max(quality) FROM readable WHERE status = 'ok'"
            " GROUP BY config, instance HAVING count(DISTINCT seed) > 1"
        )
        return [{(low,), (high,)} for low, high in found if low is not None]
    return []


def _about_instances(file: ScenarioFile) -> Iterator[str]:
    trained = file.scenario.instances
    held_out = file.test_set.instances if file.test_set and file.test_set.held_out else ()
    if trained == (NO_INSTANCE,):
        return
    missing = [i.name for i in (*trained, *held_out) if _is_missing(i)]
    if missing:
        some = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        yield f"{len(missing)} instances are not files that exist: {some}"
    same = [f"{a} and {b}" for a, b in _same_content(trained, held_out)]
    if same:
        yield f"{len(same)} instances of train and test have the same content: {same[0]}"
    if not held_out:
        unknown = "nothing will show whether the result carries over"
        yield f"no instances are held out: {unknown}{_few(file)}"
    elif file.scenario.deterministic and len(held_out) < PROVING:
        yield (
            f"{len(held_out)} instances held out of a deterministic target cannot prove anything: p"
            f" stays above 0.05 with fewer than {PROVING}; only more instances can help"
        )
    if len(trained) < 5:
        yield f"the search has only {len(trained)} instances: what it finds may fit only those"


def _few(file: ScenarioFile) -> str:
    """Why none can be, where that is so."""
    count = len(file.scenario.instances)
    if not file.scenario.deterministic or count >= 2 * PROVING:
        return ""
    return (
        f"; of {counted(count, 'instance')} none can prove it, for that takes {PROVING} held out"
        " and as many to search on: only more instances can"
    )


def _path(instance: Instance) -> str:
    value = instance.value
    return value.path if isinstance(value, Problem) else str(value)


def _is_missing(instance: Instance) -> bool:
    """Only of what looks like a path; an instance may also be a number or a name."""
    path = _path(instance)
    return (os.sep in path or "." in path) and not os.path.exists(path) and not _is_number(path)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _same_content(
    trained: Sequence[Instance], held_out: Sequence[Instance]
) -> Iterator[tuple[str, str]]:
    """Pairs of files that differ in name only; sizes first, so that little is read."""
    by_size: dict[int, list[Instance]] = defaultdict(list)
    for instance in trained:
        if os.path.isfile(_path(instance)):
            by_size[os.path.getsize(_path(instance))].append(instance)
    for instance in held_out:
        path = _path(instance)
        if not os.path.isfile(path) or not 0 < os.path.getsize(path) <= _READABLE:
            continue
        for other in by_size[os.path.getsize(path)]:
            if other.name != instance.name and _digest(_path(other)) == _digest(path):
                yield other.name, instance.name


@cache
def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _about_space(file: ScenarioFile) -> Iterator[str]:
    for name, parameter in file.scenario.space.parameters.items():
        if _spans_decades(parameter):
            yield (
                f"{name} spans decades, {parameter.value(0)} to"
                f" {parameter.value(parameter.levels - 1)}, in even steps: log = true gives its"
                " small values a chance"
            )
    if file.target.needs_keeper and file.target.clock == "wall" and file.jobs > 1:
        yield "with several jobs, wall-clock times are noisy; clock = 'cpu' is steadier"


def _spans_decades(parameter: Parameter) -> bool:
    if not isinstance(parameter, Real | Integer) or parameter.log or parameter.levels < 3:
        return False
    low, high = float(parameter.low), float(parameter.high)
    second = float(parameter.value(1))
    smallest = low if low > 0 else second if low == 0 else math.inf
    return high / smallest >= _WIDE
