"""`paramhs export`: what is in a store, as a table for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from paramhs.faces.cli.output import Json, print_json, say, write_bytes
from paramhs.faces.exporting import FORMATS, TABLES, columns_of, export_table
from paramhs.faces.opening import open as open_store
from paramhs.values.errors import BadInput
from paramhs.values.wording import counted

_TABLES = ", ".join(TABLES)
_FORMATS = ", ".join(FORMATS)


def export(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A file made by `paramhs tune`.")],
    kind: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help=f"{_FORMATS} [as --out ends, else csv]."),
    ] = None,
    what: Annotated[
        str, typer.Option(metavar="TABLE", help=f"{_TABLES}.", show_default=True)
    ] = "runs",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write [standard output].")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write what is in a store as a table: its runs, configurations, incumbents or verdict.

    A column config.NAME is a parameter, empty where it is not active. The numbers of one row are
    over the same runs; those of two rows may not be.
    """
    chosen = _chosen(kind, out)
    if what not in TABLES:
        raise BadInput(f"--what {what}: there is no such table; there are {_TABLES}")
    if out is None and (as_json or chosen == "parquet"):
        raise BadInput(f"{'--json' if as_json else chosen} needs a file to write into: --out FILE")
    rows, written = export_table(open_store(store), what, chosen, out)
    if as_json:
        facts = {"what": what, "format": chosen, "file": str(out), "rows": len(rows)}
        print_json(facts | {"columns": columns_of(rows)})
    elif out is None:
        write_bytes(written)
    else:
        say(f"wrote {counted(len(rows), 'row')} into {out}", err=True)


def _chosen(kind: str | None, out: Path | None) -> str:
    chosen = kind or (out.suffix.removeprefix(".") if out else "csv")
    if chosen not in FORMATS:
        given = f"--format {kind}" if kind else f"{out}"
        raise BadInput(f"{given}: there is no such format; there are {_FORMATS}")
    return chosen
