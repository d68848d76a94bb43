"""`paramhs import`: a search of another program as a store."""

from pathlib import Path
from typing import Annotated

import typer

from paramhs.api.import_search import import_search, notes_of
from paramhs.cli.console import Json, called, print_json, say
from paramhs.core.text.numbers import counted, printable


def import_(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="irace.Rdata, SMAC3's runhistory.json or its folder, a folder state-run of SMAC 2,"
            " or an SQLite database of Optuna.",
        ),
    ],
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="New store. Default: NAME.sqlite in this folder."),
    ] = None,
    space: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Parameter file, where SMAC's folder has none."),
    ] = None,
    study: Annotated[
        str | None, typer.Option(metavar="NAME", help="Study, where Optuna's database has several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Store a search that irace, SMAC3, SMAC 2 or Optuna has made.

    The store can be shown, reported, exported, and used as a warm start of a search of the same
    target. Configurations keep exactly their values. It cannot be resumed.
    """
    out = store or Path(f"{path.resolve().name.removesuffix('.sqlite').split('.')[0]}.sqlite")
    result = import_search(path, out, space=space, study=study)
    notes = notes_of(result)
    if as_json:
        facts = {
            "store": str(out),
            "program": result.stopped.removeprefix("imported from "),
            "runs": len(result.runs),
            "configurations": len(result.history.configs),
            "best": result.best.as_dict(),
            "notes": notes,
        }
        print_json(facts)
        return
    count = counted(len(result.history.configs), "configuration")
    say(f"wrote {out}: {counted(len(result.runs), 'run')} of {count}, {printable(result.stopped)}")
    for note in notes:
        say(f"  {note}")
    say(f"Next: {called('show', out)}, or {called('report', out)}")
