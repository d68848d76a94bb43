"""`paramhs export`: the content of a store as a table for other programs."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from paramhs.api.export import FORMATS, TABLES, export_table
from paramhs.cli.console import Json, called, print_json, say, standard_output
from paramhs.core.errors import BadInput
from paramhs.core.text.numbers import counted
from paramhs.execution.safe_files import written_whole

_TABLES = ", ".join(TABLES)
_FORMATS = ", ".join(FORMATS)
_MAX_LINES = 20  # lines printed to a terminal


def export(
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Store written by `paramhs tune`.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"{_FORMATS}. Default: from the suffix of --out, else csv.",
        ),
    ] = None,
    what: Annotated[
        str, typer.Option(metavar="TABLE", help=f"Which table: {_TABLES}.", show_default=True)
    ] = "runs",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file. Default: standard output.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Export the runs, incumbents or verdict in a store as a table.

    A column config.NAME holds a parameter, empty where it is inactive. The numbers of one row are
    over the same runs; those of different rows may not be.
    """
    chosen = _chosen(kind, out)
    if what not in TABLES:
        raise BadInput(f"--what {what}: unknown table; choose one of {_TABLES}")
    if out is None and (as_json or chosen == "parquet"):
        raise BadInput(f"{'--json' if as_json else chosen} needs a file to write into: --out FILE")
    if out is None:
        _print(store, what, chosen)
        return
    with written_whole(out) as file:
        rows, columns = export_table(store, what, chosen, file)
    if as_json:
        facts = {"what": what, "format": chosen, "file": str(out), "rows": rows}
        print_json(facts | {"columns": list(columns)})
    else:
        say(f"wrote {counted(rows, 'row')} into {out}", err=True)


def _print(store: Path, what: str, kind: str) -> None:
    """Write a table to standard output; to a terminal only its first lines."""
    if not sys.stdout.isatty():
        with standard_output() as file:
            export_table(store, what, kind, file)
        return
    whole = io.BytesIO()
    rows, _ = export_table(store, what, kind, whole)
    lines = whole.getvalue().splitlines(keepends=True)
    with standard_output() as file:
        file.writelines(lines[:_MAX_LINES])
    if len(lines) > _MAX_LINES:
        say(
            f"... {counted(rows, 'row')} in all. For the whole table:"
            f" {called('export', store, '--what', what, '--out', f'{what}.{kind}')}",
            err=True,
        )


def _chosen(kind: str | None, out: Path | None) -> str:
    chosen = kind or (out.suffix.removeprefix(".") if out else "csv")
    if chosen not in FORMATS:
        given = f"--format {kind}" if kind else f"{out}"
        raise BadInput(f"{given}: unknown format; choose one of {_FORMATS}")
    return chosen
