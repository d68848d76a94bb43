"""`paramhs portfolio`: several configurations that together do well."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from paramhs.analysis.portfolio import Portfolio, gain_text
from paramhs.analysis.verdict_text import beside, counts, heading, table_lines
from paramhs.api.terminal.live_view import view
from paramhs.api.terminal.text_layout import brief, tell, tell_table
from paramhs.cli.console import AcceptChanged, Json, Terminal, again, print_json, say
from paramhs.cli.scenario_of_store import find_scenario
from paramhs.cli.tuning import INTERRUPTED_CODE, tuning
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance
from paramhs.core.text.numbers import counted
from paramhs.execution.safe_files import write_whole
from paramhs.execution.storage import PORTFOLIO
from paramhs.execution.storage.accepted_changes import check_search
from paramhs.execution.storage.load import read_record
from paramhs.execution.subject import subject_of
from paramhs.execution.targets.command import CommandTarget
from paramhs.formats.aslib import Features, aslib_files
from paramhs.formats.portfolio_files import clasp_portfolio, is_clasp, shell_script
from paramhs.formats.scenario import ScenarioFile
from paramhs.search.record import Record

_USUAL_CODES = (0, 10, 20, 30)
_MAX_NAMES = 4  # instances named in a row


def portfolio(
    file: Annotated[
        Path, typer.Argument(metavar="STORE", help="Store of a search, or its scenario file.")
    ],
    size: Annotated[int, typer.Option("-k", "--size", help="Number of members.")] = 3,
    runs: Annotated[
        int,
        typer.Option(
            min=0,
            help="New runs that fill missing cells, excluding the members' own and the verdict's.",
        ),
    ] = 0,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Use the runs to search for complementary configurations, in rounds (Hydra).",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write portfolio.json and, for commands, portfolio.sh and clasp's portfolio file.",
        ),
    ] = None,
    aslib: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Also write the folder aslib in DIR, with the features of this file: a column"
            " `instance` and numbers.",
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Store of the search, if FILE is a scenario.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel runs.")] = None,
    accept_changed: AcceptChanged = False,
    as_json: Json = False,
) -> None:
    """Choose several configurations that together do well.

    The choice is greedy, on the runs of the search and new ones. The verdict is on the test set,
    in parallel (one core for each member) and as a schedule on one core. All runs are stored beside
    the search; if the command is stopped or killed, run it again to resume.
    """
    if aslib is not None and out is None:
        raise BadInput("--aslib needs --out, the folder to write into")
    features = None if aslib is None else read_features(aslib)
    scenario_file, store_path = find_scenario(file, store, "portfolio")
    found = portfolio_of(
        scenario_file, store_path, size, runs, search, jobs, as_json, accept_changed
    )
    written = [] if out is None else write_portfolio(found, scenario_file, out)
    if out is not None and features is not None:
        written += _write_aslib(found, scenario_file, store_path, features, out / "aslib")
    if as_json:
        print_json({**found.to_json(), "files": [str(path) for path in written]})
        return
    print_portfolio(Terminal(), found)
    for path in written:
        say(f"wrote {path}")


def portfolio_of(
    scenario_file: ScenarioFile,
    store: Path,
    size: int,
    runs: int,
    search: bool,
    jobs: int | None,
    quiet: bool,
    accept_changed: bool = False,
    record: Record | None = None,
) -> Portfolio:
    """Choose a portfolio from a store, or the record of its search; ends the program if
    interrupted."""
    from paramhs.procedures.portfolio import portfolio as chosen

    scenario, target = scenario_file.scenario, scenario_file.target
    subject = subject_of(target, scenario.instances, scenario.cost)
    check_search(store, subject, accept_changed)
    with tuning(), scenario_file.running(view(quiet), jobs).reach() as running:
        found = chosen(
            scenario,
            target,
            record or read_record(store),
            size,
            runs=runs,
            configurator=scenario_file.configurator if search else None,
            test_set=scenario_file.test_set,
            store=store,
            running=running,
            accept_changed=accept_changed,
        )
    if found is None:
        say(f"Interrupted. Resume with: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)
    return found


# Files


def write_portfolio(found: Portfolio, scenario_file: ScenarioFile, out: Path) -> list[Path]:
    """Write the files of a portfolio into a folder; return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    texts = {"portfolio.json": json.dumps(found.to_json(), indent=1, ensure_ascii=False) + "\n"}
    target = scenario_file.target
    if isinstance(target, CommandTarget) and len(found.members) > 1:
        codes = target.solved.codes or _USUAL_CODES
        cutoff = scenario_file.scenario.cutoff
        texts["portfolio.sh"] = shell_script(found, codes, cutoff, "portfolio.sh")
        if is_clasp(found):
            texts["clasp-portfolio.txt"] = clasp_portfolio(found)
    for name, text in texts.items():
        write_whole(out / name, text)
    if "portfolio.sh" in texts:
        os.chmod(out / "portfolio.sh", 0o755)  # noqa: S103 -- it is a script
    return [out / name for name in texts]


def read_features(path: Path) -> Features:
    """Read instance features from a CSV file with a column `instance`."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    if not rows or "instance" not in rows[0] or len(rows[0]) < 2:
        raise BadInput(f"{path}: expected a column `instance` and at least one column of numbers")
    found: dict[str, Mapping[str, float]] = {}
    for number, row in enumerate(rows, start=2):
        try:
            values = {name: float(text) for name, text in row.items() if name != "instance"}
        except (TypeError, ValueError):
            raise BadInput(f"{path}, line {number}: a feature is not a number") from None
        found[row["instance"]] = values
    return found


def _write_aslib(
    found: Portfolio,
    scenario_file: ScenarioFile,
    store: Path,
    features: Features,
    out: Path,
) -> list[Path]:
    from paramhs.execution.storage.sqlite import read_runs

    scenario = scenario_file.scenario
    made = [*read_record(store).history.runs, *read_runs(store, scenario.space, PORTFOLIO)]
    keys = {config.key: config for config in found.members}
    whole = {
        (run.task.config.key, run.task.pair): run._replace(
            task=run.task._replace(config=keys[run.task.config.key])
        )
        for run in made
        if run.task.config.key in keys and run.task.cutoff >= scenario.cutoff
    }
    texts = aslib_files(
        scenario_file.path.stem,
        found.members,
        [*whole.values()],
        _by_instance(features, scenario.instances),
        scenario.cost,
        scenario.cutoff,
    )
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_whole(out / name, text)
    return [out]


def _by_instance(features: Features, instances: Sequence[Instance]) -> Features:
    """Features by the names of instances; a file may also be named without its folder."""
    names = {os.path.basename(i.name): i.name for i in instances}
    return {names.get(name, name): values for name, values in features.items()} | dict(features)


# Output for people


def print_portfolio(console: Console, found: Portfolio) -> None:
    """Print the members, the schedule, and the verdicts."""
    metric = found.metric
    assert metric is not None  # noqa: S101 -- a portfolio that was made has one
    tell(
        console,
        f"portfolio of {counted(len(found.members), 'configuration')}, chosen on"
        f" {counted(found.pairs, 'run')} of each with {counted(found.runs, 'new run')}:",
    )
    names = [name for row in found.rows for name in row.wins]
    apart = len({*map(os.path.basename, names)}) == len(names)
    rows = [
        (
            str(k),
            f"{row.cost:.4g}",
            gain_text(gain, metric) if k else "",
            _wins([os.path.basename(name) for name in row.wins] if apart else row.wins),
            brief(row.config),
        )
        for k, (row, gain) in enumerate(zip(found.rows, found.gains, strict=True))
    ]
    heads = ("member", f"{metric.label} alone", "with those above", "best on", "configuration")
    tell_table(console, heads, rows)
    tell(console, "(these numbers are of the search, which chose by them)", style="dim")
    if found.why_fewer:
        tell(console, found.why_fewer)
    if found.schedule:
        parts = [f"{found.members.index(p.config)} for {p.seconds:.3g} s" for p in found.schedule]
        tell(console, f"schedule on one core: {', then '.join(parts)}")
    for made in found.verdicts.values():
        console.print()
        tell(console, heading(made))
        for line in table_lines(made):
            console.print(Text(line), soft_wrap=True)
        tell(console, made.recommendation, style="bold")
        for line in (counts(made), *beside(made)):
            tell(console, line)
    console.print()
    if found.verdicts:
        tell(console, f"(corrected for {len(found.verdicts)} comparisons on the same runs)")
    tell(console, found.recommendation, style="bold")


def _wins(names: Sequence[str]) -> str:
    first = ", ".join(names[:_MAX_NAMES])
    more = f", ... ({len(names)})" if len(names) > _MAX_NAMES else ""
    return f"{first}{more}" if names else "none (the best one alone)"
