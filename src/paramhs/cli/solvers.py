"""`paramhs solvers`: the catalogue, and what is installed of it."""

from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from paramhs.api.terminal.text_layout import tell
from paramhs.cli.console import Json, Terminal, called, print_json, say
from paramhs.cli.solver_scenario import Allow, Options, Program, SolverFile, solver_of
from paramhs.core.errors import BadInput
from paramhs.core.space import value_text
from paramhs.core.text.numbers import counted
from paramhs.solvers import Solver, entry_of, find, names

_MAX_NAMES = 15  # options that are named for one reason


def solvers(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Solver whose options are shown.")
    ] = None,
    solver: SolverFile = None,
    options: Options = "all",
    allow: Allow = None,
    program: Program = None,
    as_json: Json = False,
) -> None:
    """List the solvers of the catalogue, or the options of one.

    Options, bounds and defaults are read from the installed version.
    """
    asked = solver or name
    if asked is None:
        rows = [_about(one) for one in names()]
        if as_json:
            print_json({"solvers": rows})
        else:
            _print_all(rows)
        return
    found = solver_of(asked, options, allow, program=program)
    if as_json:
        print_json({"solvers": [_about(asked, program)], "options": _options(found)})
    else:
        _print_one(found)


def _about(name: str | Path, program: Path | None = None) -> dict[str, Any]:
    """A solver, and whether it is installed here."""
    entry = entry_of(name)
    about: dict[str, Any] = {
        "name": entry.name,
        "title": entry.title,
        "url": entry.url,
        "install": entry.install,
        "suffixes": list(entry.suffixes),
        "work": None if entry.work is None else entry.work.unit,
    }
    try:
        installation = find(entry, program)
    except BadInput as error:
        missing: dict[str, Any] = {"installed": False, "version": None, "call": [], "place": None}
        return {**about, **missing, "problem": str(error)}
    return {
        **about,
        "installed": True,
        "version": installation.version or None,
        "call": list(installation.words),
        "place": installation.place,
        "problem": None,
    }


def _options(solver: Solver) -> list[dict[str, Any]]:
    """The options of a solver in the order of its list: tuned, or left out with the reason."""
    space, derived = solver.space, solver.derived
    rows: list[dict[str, Any]] = [
        {"name": name, "tuned": True, "reason": None, "range": parameter.describe()}
        for name, parameter in space.parameters.items()
    ]
    off = dict.fromkeys(derived.not_short, "not on the short list") | dict(derived.left_out)
    return rows + [
        {"name": name, "tuned": False, "reason": reason, "range": None}
        for name, reason in off.items()
    ]


def _print_all(rows: list[dict[str, Any]]) -> None:
    console = Terminal()
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "version", "installed", "what it is"):
        table.add_column(heading, overflow="fold")
    here = [row for row in rows if row["installed"]]
    for row in here:
        table.add_row(row["name"], row["version"] or "-", row["place"], _kind(row["title"]))
    console.print(table)
    missing = [row for row in rows if not row["installed"]]
    if missing:
        console.print("\nnot installed here")
    for row in missing:
        say(f"  {row['name']:<14}{row['install']}")
    say(f"\nOptions of one: {called('solvers', 'NAME')}")
    say(f"Tune one: {called('tune', 'NAME')} instances/* --wall-time '10 min'")


def _kind(title: str) -> str:
    """What follows the name in a title: "Kissat, a SAT solver" is a SAT solver."""
    return title.partition(", ")[2].removeprefix("a ").removeprefix("an ")


def _print_one(solver: Solver) -> None:
    entry, space, derived = solver.entry, solver.space, solver.derived
    say(f"{entry.title}. {entry.url}")
    say(f"version    {solver.version or 'unknown'}")
    say(f"called     {solver.settings()['command']}")
    say(f"instances  {', '.join(entry.suffixes) or 'files of any name'}")
    say(f"work       {entry.work.unit if entry.work else 'not counted'}")
    for note in entry.notes:
        say(f"note       {note}")
    counts = f"{len(space.parameters)} tuned, {len(derived.left_out)} left out"
    say(f"options    {counted(derived.found, 'option')}: {counts}")
    if entry.short is not None:
        say(f"short list {len(entry.short.names)}; {entry.short.source}")
    console = Terminal()
    table = Table(box=None, pad_edge=False, title_justify="left")
    for heading in ("tuned", "values", "default", "active if"):
        table.add_column(heading, overflow="fold")
    for name, parameter in space.parameters.items():
        condition = space.conditions.get(name)
        table.add_row(
            name,
            parameter.text,
            value_text(parameter.default),
            "" if condition is None else str(condition),
        )
    console.print()
    console.print(table)
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, reason in derived.left_out.items():
        reasons[reason].append(name)
    if reasons:
        console.print("\nleft out")
    for reason, listed in reasons.items():
        more = len(listed) - _MAX_NAMES
        last = f" and {more} more" if more > 1 else ""
        shown = listed[:_MAX_NAMES] if last else listed
        tell(console, f"  {reason}: {', '.join(shown)}{last}", indent="    ")
    if any(len(listed) > _MAX_NAMES for listed in reasons.values()):
        say(f"\nAll of them: {called('solvers', entry.name)} --json")
