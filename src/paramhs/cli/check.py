"""`paramhs check`: test a scenario with a few trial runs before tuning."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from paramhs.api.terminal.live_view import view
from paramhs.api.terminal.text_layout import tell
from paramhs.cli.console import Json, Terminal, called, duration, print_json
from paramhs.cli.render_failures import print_way_out
from paramhs.cli.tuning import tuning
from paramhs.core.answers import shown
from paramhs.core.errors import TargetError
from paramhs.core.runs import FAILURES, NO_INSTANCE, Run, Status
from paramhs.core.space import Compare, Space
from paramhs.core.text.numbers import counted, exact, finite, printable
from paramhs.execution.driver import Budget
from paramhs.execution.supervisor.memory import way_of_counting
from paramhs.execution.supervisor.orders import memory_text
from paramhs.formats.scenario import ScenarioFile, read_scenario
from paramhs.procedures.check import TRIALS, Trial, afterwards, repeats, trials, warnings
from paramhs.procedures.try_values import ValuesTried, try_values

_MAX_LINES = 8  # lines of output shown
_MAX_CHARACTERS = 300  # characters shown of a call or of a line of output


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Path of the scenario file.")],
    runs: Annotated[int, typer.Option(min=0, help="Number of trial runs of the default.")] = TRIALS,
    values: Annotated[
        bool, typer.Option("--values", help="Also try each value of every parameter once.")
    ] = False,
    budget: Annotated[
        str,
        typer.Option(
            metavar="BUDGET", help="With --values: a number of runs, or a time such as '2 min'."
        ),
    ] = "200",
    as_json: Json = False,
) -> None:
    """Test a scenario with trial runs of the default.

    Reads all files, runs the default on three instances, and warns about known pitfalls. If the
    target reports its cost, two instances are run again with another seed, because a deterministic
    target should be declared so.

    With --values, the default is also run on one instance with each value of each parameter in turn
    (of a long grid, its ends and a few values between). Values that fail are reported with the line
    that forbids them.
    """
    limit = _budget(budget)
    scenario_file = read_scenario(file)
    console = Terminal(quiet=as_json)
    for line in about(scenario_file):
        tell(console, line, indent=" " * 11)
    tried: list[Trial] = []
    for making in (trials(scenario_file, runs), repeats(scenario_file, tried)):
        while trial := _next(making):
            tried.append(trial)
            _print_trial(console, trial, len(tried) == 1, scenario_file.scenario.cost.reports)
    found = [*scenario_file.notes, *warnings(scenario_file, tried)]
    later = afterwards(scenario_file, tried)
    console.print()
    if later is not None:
        tell(console, f"verdict: {later.text}", indent="  ")
    for warning in found:
        tell(console, f"warning: {warning}", style="bold", indent="  ")
    broken = bool(tried) and all(t.run.status in FAILURES for t in tried)
    with_values = _try_values(scenario_file, limit, console) if values and not broken else None
    if as_json:
        more = {} if with_values is None else {"values": with_values.to_json()}
        after = {"verdict": later and asdict(later)}
        print_json(_as_json(scenario_file, tried, found) | after | more)
    if broken:
        raise TargetError("the default fails in every trial run: fix this before tuning")
    if not found:
        console.print("no warnings")
    console.print(Text(f"next: {called('tune', file)}"), soft_wrap=True)


def _budget(text: str) -> Budget:
    if text.isdecimal():
        return Budget(runs=int(text))
    return Budget(wall_time=duration(text))


def _try_values(scenario_file: ScenarioFile, budget: Budget, console: Terminal) -> ValuesTried:
    """Run every value and report the ones that fail."""
    with tuning():
        tried = try_values(
            scenario_file.scenario,
            scenario_file.target,
            budget=budget,
            seed=scenario_file.seed,
            running=scenario_file.running(view(console.quiet)),
        )
    ended = f" ({tried.stopped})" if tried.stopped else ""
    of = f"{len(tried.runs):,} of {counted(tried.planned, 'value')} tried{ended}"
    console.print(Text(f"values: {of}, {len(tried.failing) or 'none'} of them failed"))
    for one in tried.failing:
        message = f": {one.message}" if one.message else ""
        value = Compare(one.name, "==", one.value)
        tell(console, f"  {value} {one.status}{message}", style="bold", indent="    ")
    for name in tried.unreachable:
        tell(console, f"  {name} is never active in an allowed configuration", indent="    ")
    print_way_out(console, tried.clauses)
    return tried


def _next(making: Iterator[Trial]) -> Trial | None:
    with tuning():
        return next(making, None)


def about(scenario_file: ScenarioFile) -> list[str]:
    """Describe the scenario in lines for people."""
    scenario = scenario_file.scenario
    lines = [f"space      {size_text(scenario.space)}"]
    if scenario.instances != (NO_INSTANCE,):
        held = (
            len(scenario_file.test_set.instances)
            if scenario_file.test_set and scenario_file.test_set.held_out
            else 0
        )
        lines.append(f"instances  {len(scenario.instances):,} to search on, {held:,} held out")
    clock = scenario_file.target.clock
    cutoff = "none" if math.isinf(scenario.cutoff) else f"{scenario.cutoff:g} s of {clock} time"
    memory = scenario_file.target.memory
    limit = "" if math.isinf(memory) else f", memory {memory_text(memory)}, {way_of_counting()}"
    lines.append(f"limits     cutoff {cutoff}{limit}")
    kind = "deterministic" if scenario.deterministic else "randomised (receives seeds)"
    lines.append(f"target     {scenario_file.target.name}, {kind}")
    return lines


def size_text(space: Space) -> str:
    """Format the numbers of parameters and configurations."""
    size = space.size()
    count = f"{size:,}" if size is not None and size < 10**9 else f"10^{_log10(space):.0f}"
    conditions = f", {len(space.conditions)} conditional" if space.conditions else ""
    forbidden = f", {counted(len(space.forbidden), 'forbidden clause')}" if space.forbidden else ""
    many = "" if size is not None else "at most "
    parameters = counted(len(space.parameters), "parameter")
    return f"{parameters}{conditions}{forbidden}; {many}{count} configurations"


def _log10(space: Space) -> float:
    return math.fsum(math.log10(p.levels) for p in space.listed)


def _numbers(run: Run, names: Sequence[str]) -> dict[str, float]:
    """Numbers that a run reported, by name."""
    read = () if run.quality is None else (run.quality, *run.others)
    return dict(zip(names or ("quality",), read, strict=False))


def _print_trial(console: Console, trial: Trial, whole: bool, names: Sequence[str]) -> None:
    """Print one trial run; only the first call is printed in full."""
    run, outcome = trial.run, trial.outcome
    call = trial.call if whole else _cut(trial.call)
    console.print()
    console.print(Text(f"$ {call}", style="bold"), soft_wrap=True)
    if outcome.code is not None:
        console.print(
            f"exit code {outcome.code}, {outcome.wall:.3g} s of wall time, {outcome.cpu:.3g} s of"
            f" processor time{_peak(outcome.memory)}"
            if outcome.cpu
            else f"{outcome.wall:.3g} s of wall time"
        )
    for name, data in (("output", outcome.output), ("error", outcome.errors)):
        lines = data.decode("utf-8", "replace").strip().splitlines()[-_MAX_LINES:]
        if lines:
            console.print(f"standard {name}:")
        for line in lines:
            console.print(Text(f"  | {_cut(line)}"), soft_wrap=True)
    found = f" (on {trial.stream})" if trial.stream and run.quality is not None else ""
    quality = "".join(f", {name} {number:g}" for name, number in _numbers(run, names).items())
    said = "" if run.answer is None else f", answer {_cut(shown(run.answer))}"
    line = f"read: {run.status}{quality}{found}{said}, runtime {run.runtime:.4g} s"
    console.print(Text(line), soft_wrap=True)
    if run.detail and run.status is not Status.OK:
        for line in printable_lines(run):
            console.print(Text(line), soft_wrap=True)


def printable_lines(run: Run) -> list[str]:
    """Why a run failed: the traceback of a Python function, or one line."""
    if not run.detail.startswith("Traceback"):
        return [run.reason]
    return [printable(line) for line in run.detail.rstrip().splitlines()]


def _cut(text: str) -> str:
    """Shorten a long text to both of its ends."""
    half = _MAX_CHARACTERS // 2
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:half]} ... {text[-half:]}"


def _peak(memory: int) -> str:
    return f", largest process {memory_text(memory)}" if memory else ""


def _others_as_json(run: Run, names: Sequence[str]) -> dict[str, Any]:
    """Where there are several costs, the numbers that were read, by name."""
    if not names:
        return {}
    return {"numbers": {name: finite(number) for name, number in _numbers(run, names).items()}}


def _as_json(scenario_file: ScenarioFile, tried: list[Trial], found: list[str]) -> dict[str, Any]:
    space = scenario_file.scenario.space
    test_set = scenario_file.test_set
    return {
        "parameters": len(space.parameters),
        "configurations": exact(space.size()),
        "log10_configurations": _log10(space),
        "instances": [instance.name for instance in scenario_file.scenario.instances],
        "held_out": [i.name for i in test_set.instances] if test_set and test_set.held_out else [],
        "trials": [
            {
                "call": trial.call,
                "instance": trial.run.task.instance.name,
                "status": trial.run.status.value,
                "quality": finite(trial.run.quality),
                **_others_as_json(trial.run, scenario_file.scenario.cost.reports),
                "answer": trial.run.answer,
                "runtime": trial.run.runtime,
                "exit_code": trial.outcome.code,
                "detail": trial.run.detail,
            }
            for trial in tried
        ],
        "warnings": found,
    }
