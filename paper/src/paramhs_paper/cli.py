"""`paramhs reproduce`: the paper's figures and theorems."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paramhs.faces.cli.tune import INTERRUPTED_CODE
from paramhs.values.errors import BadInput

if TYPE_CHECKING:
    from paramhs_paper.reproduction import Reproduction
    from paramhs_paper.saps.reproduction import SapsReproduction
    from paramhs_paper.writing import Writing

SAPS = "saps"
_LINES = 50  # that tell of the progress of a measurement where there is no terminal


class What(StrEnum):
    """What can be reproduced."""

    FIGURE1 = "figure1"
    FIGURE2 = "figure2"
    THEOREMS = "theorems"
    ALL = "all"


@dataclass(frozen=True)
class Wanted:
    """The options, as they were given."""

    what: What
    scenario: str | None
    method: str
    repetitions: int | None
    runs: int | None
    seed: int
    jobs: int | None
    instances: Path | None
    smoothing: str
    aggregation: str
    out: Path | None

    @property
    def figure1(self) -> bool:
        """Whether the landscapes are wanted; so the following."""
        return self.what in (What.FIGURE1, What.ALL)

    @property
    def figure2(self) -> bool:
        """The calls."""
        return self.what in (What.FIGURE2, What.ALL)

    @property
    def theorems(self) -> bool:
        """The bounds."""
        return self.what in (What.THEOREMS, What.ALL)

    @property
    def saps(self) -> bool:
        """SAPS's figures, alone or with all others."""
        return self.scenario == SAPS or (self.scenario is None and self.what is What.ALL)


Scenario = Annotated[
    str | None,
    typer.Option(
        help="ridge, leadingones, onemax or saps; if not given, the first three, and with `all`"
        " all four."
    ),
]
Method = Annotated[
    str,
    typer.Option(
        help="exact: laws alone; search: the real configurators too, comparisons drawn from the"
        " laws; simulate: every bit of every run (slow; not for saps)."
    ),
]
Repetitions = Annotated[
    int | None, typer.Option(help="Searches behind each point (200; saps: 500).")
]
Runs = Annotated[
    int | None,
    typer.Option(
        help="Runs of each side in a comparison, r (1500); with --instances: runs of each"
        " setting on each instance (500)."
    ),
]
Jobs = Annotated[
    int | None, typer.Option(help="Processes (1); with --instances: threads (all cores).")
]
Instances = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="saps, figure1: measure the landscape on the formulas there (hours; the same"
        " command goes on where it was) instead of taking the one that comes with paramhs.",
    ),
]
Smoothing = Annotated[str, typer.Option(help="saps: ubcsat or textbook, how a null flip smooths.")]
Aggregation = Annotated[
    str, typer.Option(help="saps: plain or normalised, how instances become one table.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write tables, figures and summaries there.")
]


def reproduce(
    what: Annotated[What, typer.Argument(help="The landscapes, the calls, the bounds, or all.")],
    scenario: Scenario = None,
    method: Method = "exact",
    repetitions: Repetitions = None,
    runs: Runs = None,
    seed: Annotated[int, typer.Option(help="Another seed, other searches and runs.")] = 0,
    jobs: Jobs = None,
    instances: Instances = None,
    smoothing: Smoothing = "ubcsat",
    aggregation: Aggregation = "plain",
    out: Out = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Reproduce the figures and theorems of Hall, Oliveto, Sudholt (PPSN 2020).

    Everything is computed exactly, next to what was published.
    """
    wanted = Wanted(
        what,
        scenario,
        method,
        repetitions,
        runs,
        seed,
        jobs,
        instances,
        smoothing,
        aggregation,
        out,
    )
    with _extras(), _progress(as_json) as progress:
        from paramhs_paper.writing import Writing

        _checked(wanted)
        writing = Writing(out)
        results = _results(wanted, writing, progress)
    if as_json:
        printed = results if what is What.ALL else results[what.value]
        typer.echo(json.dumps(printed, indent=1, allow_nan=False))
        return
    Console(highlight=False).print(Markdown(writing.text))
    if wanted.figure2 and scenario != SAPS:
        typer.echo(_cost_of_better(scenario or "ridge", runs))
    for path in writing.written:
        typer.echo(f"wrote {path}")
    if out is None:
        typer.echo("With --out DIR it also writes the tables and figures.")


@contextmanager
def _extras() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise BadInput(f"{error.name} is not installed: pip install 'paramhs[all]'") from None


def _progress(silent: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=silent,
    )


def _checked(wanted: Wanted) -> None:
    """Refuse options that would be ignored."""
    from paramhs_paper.scenarios import chosen_scenarios

    if wanted.instances is not None and (wanted.scenario, wanted.what) != (SAPS, What.FIGURE1):
        raise BadInput("--instances is for: paramhs reproduce figure1 --scenario saps")
    if wanted.instances is not None and wanted.out is None:
        raise BadInput("--instances needs --out DIR, where the runs are kept as they are made")
    if wanted.instances is None and wanted.scenario == SAPS and wanted.runs is not None:
        raise BadInput(
            "--runs goes with --instances for saps: its table comes with paramhs, and comparisons"
            " of 1, 10 and 100 fresh runs are written with --out"
        )
    if not wanted.saps and (wanted.smoothing, wanted.aggregation) != ("ubcsat", "plain"):
        raise BadInput("--smoothing and --aggregation are for --scenario saps")
    searches = (wanted.method, wanted.repetitions) != ("exact", None)
    if searches and not wanted.figure2:
        raise BadInput("--method and --repetitions are for figure2")
    if wanted.runs is not None and wanted.instances is None and not wanted.figure2:
        raise BadInput("--runs is for figure2, and for the landscape of saps with --instances")
    if wanted.runs is not None and wanted.instances is None and wanted.saps:
        raise BadInput("--runs goes with one --scenario, other than saps")
    if wanted.method == "exact" and wanted.repetitions is not None and not wanted.saps:
        raise BadInput("--repetitions goes with --method search or simulate")
    if wanted.scenario is not None and wanted.what is What.THEOREMS:
        raise BadInput("--scenario is not for theorems")
    if wanted.scenario not in (None, SAPS):
        chosen_scenarios(wanted.scenario)


def _results(wanted: Wanted, writing: "Writing", progress: Progress) -> dict[str, Any]:
    """What each part computed, by its name."""
    if wanted.instances is not None:
        return {"figure1": _measured(wanted, writing, progress)}
    theory = _theory(wanted, writing)
    saps = _saps(wanted, writing) if wanted.saps else None
    total = theory.points_to_compute(wanted.figure2 and wanted.scenario != SAPS, wanted.theorems)
    total += saps.points_to_compute() if saps is not None and wanted.figure2 else 0
    bar = progress.add_task(f"reproducing {wanted.what}", total=total)
    theory.advance = lambda: progress.advance(bar)
    results: dict[str, Any] = {}
    if wanted.scenario != SAPS:
        results |= {"figure1": theory.figure1()} if wanted.figure1 else {}
        results |= {"figure2": theory.figure2()} if wanted.figure2 else {}
    if saps is not None:
        saps.advance = theory.advance
        end = "" if wanted.scenario == SAPS else "_saps"
        results |= {f"figure1{end}": saps.figure1()} if wanted.figure1 else {}
        results |= {f"figure2{end}": saps.figure2()} if wanted.figure2 else {}
    return results | ({"theorems": theory.theorems()} if wanted.theorems else {})


def _theory(wanted: Wanted, writing: "Writing") -> "Reproduction":
    from paramhs_paper.reproduction import Reproduction
    from paramhs_paper.scenarios import RUNS, chosen_scenarios

    saps = wanted.scenario == SAPS
    return Reproduction(
        [] if saps else chosen_scenarios(wanted.scenario),
        "exact" if saps else wanted.method,
        200 if wanted.repetitions is None else wanted.repetitions,
        wanted.seed,
        1 if wanted.jobs is None else wanted.jobs,
        RUNS if wanted.runs is None else wanted.runs,
        writing,
    )


def _saps(wanted: Wanted, writing: "Writing") -> "SapsReproduction":
    from paramhs_paper.saps.reproduction import SapsReproduction, checked_choice
    from paramhs_paper.saps.tuning import REPETITIONS

    simulated = wanted.scenario is None and wanted.method == "simulate"
    return SapsReproduction(
        *checked_choice(wanted.smoothing, wanted.aggregation),
        "search" if simulated else wanted.method,
        REPETITIONS if wanted.repetitions is None else wanted.repetitions,
        wanted.seed,
        1 if wanted.jobs is None else wanted.jobs,
        writing,
    )


def _measured(wanted: Wanted, writing: "Writing", progress: Progress) -> list[dict[str, Any]]:
    """Measure, or go on measuring, and draw what there is."""
    from paramhs.world.targets.supervisor.gauge import cores
    from paramhs_paper.saps import grid
    from paramhs_paper.saps.measurement import Measurement

    saps = _saps(wanted, writing)
    if wanted.instances is None or wanted.out is None:
        raise AssertionError("asked before")
    plan = Measurement(
        grid.instances_in(wanted.instances),
        saps.smoothing,
        500 if wanted.runs is None else wanted.runs,
        wanted.out,
        cores() if wanted.jobs is None else wanted.jobs,
        wanted.seed,
    )
    total = plan.blocks()
    bar = progress.add_task("measuring", total=total)
    calls = count()

    def advance(blocks: int) -> None:
        """Where there is no terminal to draw a bar in, some lines."""
        if next(calls) == 0 and blocks:
            progress.console.print(f"resuming: {blocks:,} of {total:,} blocks of runs are there")
        before = int(progress.tasks[bar].completed)
        progress.advance(bar, blocks)
        done = before + blocks
        if not progress.console.is_terminal and _LINES * before // total < _LINES * done // total:
            progress.console.print(f"measuring: {done:,} of {total:,} blocks of runs")

    try:
        landscape = plan.measured(advance)
    except KeyboardInterrupt:
        progress.console.print("interrupted: the same command goes on where it was")
        raise typer.Exit(INTERRUPTED_CODE) from None
    writing.written += plan.files
    return saps.figure1(landscape)


def _cost_of_better(scenario: str, runs: int | None) -> str:
    from paramhs_paper.reproduction import cost_of_better
    from paramhs_paper.scenarios import RUNS

    asked = RUNS if runs is None else runs
    law, bits = cost_of_better(scenario, asked)
    return (
        f"One call of better on {scenario} with {asked:,} runs of each side: {law * 1e6:.2g} us"
        f" drawn from the law, {bits:.2g} s bit by bit; ratio {bits / law:,.0f}\n"
    )


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(reproduce)


def main() -> None:
    """Run the command line."""
    app()
