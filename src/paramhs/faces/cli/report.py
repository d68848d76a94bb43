"""`paramhs report`: a search on one page."""

import time
from pathlib import Path
from typing import Annotated

import typer

from paramhs.faces.cli.output import Json, called, print_json, say
from paramhs.faces.result import Result
from paramhs.values.errors import ParamhsError

_EVERY = 5.0  # seconds between two pages of a search that runs
_PATIENCE = 20  # times as long as it takes to write one


def report(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A file made by `paramhs tune`.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page [beside the store, STORE.html]."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also each picture, as SVG.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Write it again and again while the search runs.")
    ] = False,
    interactions: Annotated[
        bool,
        typer.Option(
            "--interactions",
            help="Also what two parameters do together, by fANOVA (extra: importance).",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a search as one page: what was found, whether it is better, what matters.

    The page is a file of its own, without scripts; it can be made while the search runs, and needs
    neither the target nor the instances.
    """
    from paramhs.faces.reporting import check_page, page_beside

    page = out or page_beside(store)
    if out is None:
        check_page(page)
    if watch:
        _watch(store, page, figures)
    paths = _write(store, page, figures, interactions=interactions)
    if as_json:
        print_json({"page": str(paths[0]), "figures": [str(path) for path in paths[1:]]})
        return
    say(f"wrote {paths[0]}")
    if len(paths) > 1:
        say(f"and {len(paths) - 1} pictures in {figures}")


def _write(
    store: Path,
    page: Path,
    figures: Path | None,
    refresh: int | None = None,
    interactions: bool = False,
) -> list[Path]:
    from paramhs.faces.reporting import Told, stored_material, with_interactions, write_report

    material = stored_material(store, Told(calls=next_calls(store)), refresh)
    return write_report(with_interactions(material) if interactions else material, page, figures)


def _watch(store: Path, page: Path, figures: Path | None) -> None:
    """Write it until the search has ended, or somebody has seen enough."""
    from paramhs.faces.reporting import is_running

    try:
        while is_running(store):
            begun = time.monotonic()
            _write(store, page, figures, refresh=round(_EVERY))
            took = time.monotonic() - begun
            time.sleep(max(_EVERY, _PATIENCE * took) - took)
    except KeyboardInterrupt:
        return


def next_calls(store: Path, scenario: Path | None = None) -> dict[str, str]:
    """What to type next, by what it does."""
    validate = called("validate", scenario or "SCENARIO.toml", "--store", store)
    return {"simplify": called("simplify", store), "validate": validate}


def write_beside(result: Result, store: Path, scenario: Path) -> Path | None:
    """Write the page of a search that has just ended; a trouble with it is told, and no more."""
    from paramhs.faces.reporting import check_page, page_beside, result_material, write_report

    page = page_beside(store)
    try:
        check_page(page)
        write_report(result_material(result, calls=next_calls(store, scenario)), page)
    except KeyboardInterrupt:
        why = "it was interrupted"
    except Exception as error:  # whatever it is, the result of hours is still to be printed
        known = isinstance(error, ParamhsError)
        why = str(error) if known else f"{type(error).__name__}: {error}"
    else:
        return page
    say(f"There is no page: {why}; to write one: {called('report', store)}", err=True)
    return None
