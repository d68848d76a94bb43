"""Checks before a search: trial runs of the default, and known pitfalls of scenarios."""

import hashlib
import json
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

from paramhs.analysis.solved_runs import NO_ANSWER, NONE_RETURNED, exit_code_alone
from paramhs.core.costs import Cost
from paramhs.core.errors import StoreError
from paramhs.core.held_out import MIN_TEST_PAIRS
from paramhs.core.runs import FAILURES, NO_INSTANCE, Instance, Run, Status, Task
from paramhs.core.scenario import endless_pairs
from paramhs.core.space import Integer, Parameter, Real
from paramhs.core.text.numbers import counted, time_text
from paramhs.execution.cluster import as_dask
from paramhs.execution.storage.connections import reading
from paramhs.execution.supervisor import Execute, Limits, Outcome
from paramhs.execution.supervisor.keeper import Job
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets.command import CommandTarget, file_of
from paramhs.formats.scenario import ScenarioFile
from paramhs.procedures.verdict_length import most_pairs
from paramhs.search.judge import Judge

TRIALS = 3
_SHELL = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1"}
_EASY_SHARE = 0.02  # share of the cutoff below which runs are easy
_WIDE_RATIO = 1000.0  # high / low above which a range should be logarithmic
_REPEATED_INSTANCES = 2  # instances that are run again with another seed
_MAX_BYTES = 100_000_000  # bytes of the largest file whose content is compared


@dataclass(frozen=True)
class Trial:
    """A run of the default with the raw outcome."""

    call: str
    run: Run
    outcome: Outcome
    """Outcome of the program; for a function, only its times."""
    stream: str = ""
    """Stream in which the quality was found, if not standard output."""


@dataclass
class _Seen:
    """A target that remembers its last outcome."""

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

    Equal costs reveal a deterministic target that is not declared as such. Measured times say
    nothing, because they always differ.
    """
    if file.scenario.deterministic or not _says_its_cost(file):
        return
    instances = dict.fromkeys(trial.run.task.instance for trial in tried)
    fresh = (seed for _, seed in islice(_pairs(file), len(tried), None))
    again = zip(islice(instances, _REPEATED_INSTANCES), fresh, strict=False)
    yield from _run_default(file, again)


def _pairs(file: ScenarioFile) -> Iterator[tuple[Instance, int]]:
    scenario = file.scenario
    return endless_pairs(scenario.instances, file.seed, deterministic=scenario.deterministic)


def _run_default(file: ScenarioFile, pairs: Iterable[tuple[Instance, int]]) -> Iterator[Trial]:
    scenario = file.scenario
    target = _Seen(file.target)
    judge = Judge(scenario, scenario.space.default)
    with closing(Supervised(target, 1)) as kept:
        for instance, seed in pairs:
            task = Task(scenario.space.default, instance, seed, scenario.cutoff)
            run = judge(kept(task))
            judge.note(run)
            yield Trial(file.target.shown(task), run, target.outcome, _stream(file, target.outcome))


def _stream(file: ScenarioFile, outcome: Outcome) -> str:
    """Stream in which the quality was found, if not standard output."""
    if not isinstance(file.target, CommandTarget) or outcome.trouble:
        return ""
    with suppress(Exception):  # the run has already reported output that cannot be read
        return file.target.reading(outcome).stream
    return ""


def _says_its_cost(file: ScenarioFile) -> bool:
    """Whether the target reports its cost itself, so that it is not a measured time."""
    target = file.target
    is_believed = isinstance(target, CommandTarget) and target.reader.believed
    return not file.scenario.cost.needs_runtime or is_believed


@dataclass(frozen=True)
class Afterwards:
    """The verdict that will follow a search."""

    runs: int
    """Number of runs of each of the two configurations."""
    seconds: float | None
    """Estimated duration from trial runs of the default; None without any."""
    in_budget: bool

    @property
    def text(self) -> str:
        """Description of the verdict for people."""
        about = "" if self.seconds is None else f", about {time_text(self.seconds)}"
        budget = "part of the budget" if self.in_budget else "on top of the budget"
        return f"{counted(self.runs, 'run')} of each side after the search{about}, {budget}"


def afterwards(file: ScenarioFile, tried: Sequence[Trial]) -> Afterwards | None:
    """Estimate the effort of the verdict; None if there will be none."""
    if file.test_set is None:
        return None
    ran, passed = _mean_times(tried)
    pace = passed / ran / file.jobs if ran else 1 / file.jobs
    deterministic = file.scenario.deterministic
    sized = file.test_set.within(deterministic, most_pairs(file.budget, 2 * ran, pace))
    count = sized.count(deterministic)
    seconds = 2 * count * passed / file.jobs if tried else None
    return Afterwards(count, seconds, file.verdict_in_budget)


def _mean_times(tried: Sequence[Trial]) -> tuple[float, float]:
    """Mean target time and mean wall time of a trial run."""
    if not tried:
        return 0.0, 0.0
    ran = math.fsum(trial.run.runtime for trial in tried)
    passed = math.fsum(max(trial.outcome.wall, trial.run.runtime) for trial in tried)
    return ran / len(tried), passed / len(tried)


def _about_verdict(file: ScenarioFile, tried: Sequence[Trial]) -> Iterator[str]:
    """Warn if the verdict will take longer than the search."""
    later = afterwards(file, tried)
    if later is None or later.seconds is None:
        return
    ran, passed = _mean_times(tried)
    budget, limits = file.budget, []
    if budget.runs is not None:
        limits.append(budget.runs * passed / file.jobs)
    if budget.target_time is not None and ran:
        limits.append(budget.target_time * passed / ran / file.jobs)
    if budget.wall_time is not None:
        limits.append(budget.wall_time)
    if limits and later.seconds > min(limits):
        yield (
            f"the verdict takes longer (about {time_text(later.seconds)}) than the search (about"
            f" {time_text(min(limits))}); set [verdict] runs to shorten it, or a larger budget to"
            " balance it"
        )


def warnings(file: ScenarioFile, tried: Sequence[Trial]) -> Iterator[str]:
    """Warnings about mistakes that have spoiled many searches."""
    yield from _about_runs(file, tried)
    yield from _about_seeds(file, [trial.run for trial in tried])
    yield from _about_instances(file)
    yield from _about_space(file)
    yield from _about_verdict(file, tried)
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if file.jobs > cores and not as_dask(file.executor):
        yield (
            f"{file.jobs} jobs on {cores} physical cores: runs will slow each other down,"
            " and measured times will reflect that more than the parameters"
        )
    yield from _about_target(file)
    yield from _about_cluster(file)
    if all(limit is None for limit in vars(file.budget).values()):
        yield "the budget is empty: the search ends only when the space is exhausted"


def _about_cluster(file: ScenarioFile) -> Iterator[str]:
    cluster = as_dask(file.executor)
    if cluster is not None and cluster.exposure:
        yield cluster.exposure


def _about_target(file: ScenarioFile) -> Iterator[str]:
    if file.executor in ("inline", "threads") and math.isfinite(file.scenario.cutoff):
        yield (
            f"executor = {file.executor!r} cannot stop a run at the cutoff, only judge it"
            " afterwards"
        )
    for word in shlex.split(file.target.command_line(file.scenario.space.default)):
        if word in _SHELL or word.startswith(("$", "~")):
            yield f"{word!r} in the command is passed unchanged, because no shell is involved"


def about_answers(file: ScenarioFile, tried: Sequence[Trial]) -> str:
    """Warning that solved runs cannot be recognised, with a remedy; else empty."""
    ended_well = any(trial.run.status is Status.OK for trial in tried)
    if not ended_well or any(trial.run.answer is not None for trial in tried):
        return ""
    described = json.loads(json.dumps(file.target.describe(), default=str))
    fact = exit_code_alone(file.scenario.cost, described)
    if not fact:
        return ""
    if fact == NONE_RETURNED:
        return f"{NONE_RETURNED}: return paramhs.Answered(answer) to have answers compared"
    looked = (
        "standard output and standard error were searched (shown above)"
        if any(trial.outcome.output or trial.outcome.errors for trial in tried)
        else "it printed nothing on standard output or standard error"
    )
    return (
        f"{NO_ANSWER}. A configuration that gives up at once would win: {looked}. Define an"
        ' answer with answer = {regex = "..."} or answer = {json = "..."}, or solved runs'
        ' with solved = {regex = "..."}, or solved = [0] if the exit code is sufficient'
    )


def _about_runs(file: ScenarioFile, tried: Sequence[Trial]) -> Iterator[str]:
    runs = [trial.run for trial in tried]
    if not runs:
        return
    unanswered = about_answers(file, tried)
    if unanswered:
        yield unanswered
    unsolved = [run for run in runs if run.status is Status.UNSOLVED]
    if unsolved:
        yield f"{len(unsolved)} of {len(runs)} trial runs are unsolved: {unsolved[0].reason}"
    solved = [run for run in runs if run.status is Status.OK]
    failed = [run for run in runs if run.status in FAILURES]
    if failed:
        yield f"{len(failed)} of {len(runs)} trial runs failed: {failed[0].reason}"
    if not solved and not failed:
        yield (
            f"the default solves none of {len(runs)} instances, so a search has nothing to compare;"
            " use easier instances or a longer cutoff"
        )
    elif len(solved) < len(runs) / 2:
        yield f"the default solves only {len(solved)} of {len(runs)} instances"
    cutoff = file.scenario.cutoff
    timed = file.scenario.cost.needs_runtime
    if timed and len(solved) == len(runs) and max(r.runtime for r in runs) < _EASY_SHARE * cutoff:
        longest = max(run.runtime for run in runs)
        yield (
            f"the default solves all instances far below the cutoff (at most {longest:.3g} s of"
            f" {cutoff:g} s): a shorter cutoff makes bad configurations cheaper, and harder"
            " instances leave more to gain"
        )
    left = sum(trial.outcome.left_behind for trial in tried)
    if left:
        yield f"the program left {left} processes behind, which were killed"


def _about_seeds(file: ScenarioFile, runs: Sequence[Run]) -> Iterator[str]:
    """Warn if the target gives the same cost for every seed; zeros may be solved instances."""
    if file.scenario.deterministic:
        return
    repeated = [*_trial_costs(file, runs), *_stored_costs(file)]
    solved = all(not any(cost) for costs in repeated for cost in costs)
    if repeated and not solved and all(len(costs) == 1 for costs in repeated):
        yield (
            "another seed gave the same cost in every trial"
            f" ({counted(len(repeated), 'time')}): if the target is deterministic, declare it with"
            f" deterministic = {'true' if file.path.suffix == '.toml' else '1'} to avoid"
            " repeated runs"
        )


def _trial_costs(file: ScenarioFile, runs: Sequence[Run]) -> list[set[Cost]]:
    """Costs on each instance that was run with several seeds."""
    costs: dict[str, dict[int, Cost]] = defaultdict(dict)
    for run in runs:
        if run.status is Status.OK:
            costs[run.task.instance.name][run.task.seed] = file.scenario.cost.of(run)
    return [set(by_seed.values()) for by_seed in costs.values() if len(by_seed) > 1]


def _stored_costs(file: ScenarioFile) -> list[set[Cost]]:
    """Costs by instance of the runs of an earlier search; an unreadable store is ignored here."""
    if file.scenario.cost.needs_runtime or not os.path.isfile(file.store):
        return []
    with suppress(StoreError), reading(file.store) as db:
        found = db.execute(
            "SELECT min(quality), max(quality) FROM runs JOIN records ON id = record"
            " WHERE name = 'search' AND status = 'ok'"
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
        yield f"{len(same)} training and test instances have the same content: {same[0]}"
    if not held_out:
        unknown = "nothing will show whether the result generalises"
        yield f"no instances are held out: {unknown}{_few(file)}"
    elif file.scenario.deterministic and len(held_out) < MIN_TEST_PAIRS:
        yield (
            f"{len(held_out)} held-out instances of a deterministic target cannot be significant: p"
            f" stays above 0.05 with fewer than {MIN_TEST_PAIRS}; only more instances can help"
        )
    if len(trained) < 5:
        yield f"the search has only {len(trained)} instances: the result may overfit them"


def _few(file: ScenarioFile) -> str:
    """Explanation where the number of instances is too small to hold any out."""
    count = len(file.scenario.instances)
    if not file.scenario.deterministic or count >= 2 * MIN_TEST_PAIRS:
        return ""
    return (
        f"; {counted(count, 'instance')} are too few: a significant verdict needs {MIN_TEST_PAIRS}"
        f" held out and {MIN_TEST_PAIRS} to search on, so only more instances can help"
    )


def _is_missing(instance: Instance) -> bool:
    """Whether an instance looks like the path of a file that does not exist."""
    path = file_of(instance)
    return (os.sep in path or "." in path) and not os.path.exists(path) and not _is_number(path)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _same_content(
    trained: Sequence[Instance], held_out: Sequence[Instance]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of files with equal content; sizes are compared first, to read little."""
    by_size: dict[int, list[Instance]] = defaultdict(list)
    for instance in trained:
        if os.path.isfile(file_of(instance)):
            by_size[os.path.getsize(file_of(instance))].append(instance)
    for instance in held_out:
        path = file_of(instance)
        if not os.path.isfile(path) or not 0 < os.path.getsize(path) <= _MAX_BYTES:
            continue
        for other in by_size[os.path.getsize(path)]:
            if other.name != instance.name and _digest(file_of(other)) == _digest(path):
                yield other.name, instance.name


@cache
def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _about_space(file: ScenarioFile) -> Iterator[str]:
    for name, parameter in file.scenario.space.parameters.items():
        if _spans_decades(parameter):
            yield (
                f"{name} spans decades, {parameter.value(0)} to"
                f" {parameter.value(parameter.levels - 1)}, in even steps:"
                f" {_log_setting(parameter)}"
                " gives its small values a chance"
            )
    if file.target.needs_keeper and file.target.clock == "wall" and file.jobs > 1:
        yield "with several jobs, wall times are noisy; clock = 'cpu' is more stable"


def _log_setting(parameter: Parameter) -> str:
    """The setting that makes a range log-spaced, and that is accepted."""
    if isinstance(parameter, Real) and parameter.low == 0:
        return "log = true with a low above 0, and special = [0] for 0 itself,"
    return "log = true"


def _spans_decades(parameter: Parameter) -> bool:
    if not isinstance(parameter, Real | Integer) or parameter.log or parameter.levels < 3:
        return False
    low, high = float(parameter.low), float(parameter.high)
    second = float(parameter.value(1))
    smallest = low if low > 0 else second if low == 0 else math.inf
    return high / smallest >= _WIDE_RATIO
