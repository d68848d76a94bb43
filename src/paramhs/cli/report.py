"""`paramhs report`: the page about a search."""

import time
from pathlib import Path
from typing import Annotated

import typer

from paramhs.cli.console import Json, called, print_json, program, say
from paramhs.core.errors import ParamhsError
from paramhs.report.next_steps import next_steps
from paramhs.report.result import Result

_REFRESH_SECONDS = 5.0  # seconds between two versions of the page of a running search
_MAX_LOAD = 20  # the pause is at least this multiple of the time to write a page


def report(
    store: Annotated[
        Path, typer.Argument(metavar="STORE", help="Store written by `paramhs tune`.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Output file. Default: STORE.html beside the store."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write each picture as SVG into this folder."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Update the page while the search runs.")
    ] = False,
    interactions: Annotated[
        bool,
        typer.Option(
            "--interactions",
            help="Add interactions of two parameters by fANOVA (extra: importance).",
        ),
    ] = False,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="Title of the page. Default: the store's name.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Write an HTML page about a search.

    It contains the verdict, the importance of parameters and failures, in a single file without
    scripts. It can be written while the search runs, and needs neither the target nor the
    instances.
    """
    from paramhs.report.files import check_page, page_beside

    page = out or page_beside(store)
    if out is None:
        check_page(page)
    if watch:
        _watch(store, page, figures, title)
    paths, recommendation = _write(store, page, figures, interactions=interactions, title=title)
    if as_json:
        written = {"page": str(paths[0]), "figures": [str(path) for path in paths[1:]]}
        print_json({**written, "recommendation": recommendation})
        return
    say(recommendation)
    say(f"wrote {paths[0]}")
    if len(paths) > 1:
        say(f"wrote {len(paths) - 1} pictures into {figures}")


def _write(
    store: Path,
    page: Path,
    figures: Path | None,
    refresh: int | None = None,
    interactions: bool = False,
    title: str = "",
) -> tuple[list[Path], str]:
    """Write the page and its pictures; return their paths and the recommendation."""
    from paramhs.api.load import load
    from paramhs.report.files import write_report
    from paramhs.report.page import PageOptions

    result = load(store)
    calls = next_steps(result, program=program())
    options = PageOptions(title, calls, interactions=interactions, refresh=refresh)
    return write_report(result, page, options, figures), result.recommendation


def _watch(store: Path, page: Path, figures: Path | None, title: str) -> None:
    """Update the page until the search ends or the user interrupts."""
    from paramhs.procedures.recommendation import is_running

    try:
        while is_running(store):
            begun = time.monotonic()
            _write(store, page, figures, refresh=round(_REFRESH_SECONDS), title=title)
            took = time.monotonic() - begun
            time.sleep(max(_REFRESH_SECONDS, _MAX_LOAD * took) - took)
    except KeyboardInterrupt:
        return


def write_beside(result: Result, store: Path, scenario: Path) -> Path | None:
    """Write the page of a search that has just ended; an error is reported but not raised."""
    from paramhs.report.files import check_page, page_beside, write_report
    from paramhs.report.page import PageOptions

    page = page_beside(store)
    try:
        check_page(page)
        write_report(result, page, PageOptions(calls=next_steps(result, scenario, program())))
    except KeyboardInterrupt:
        why = "it was interrupted"
    except Exception as error:  # printing the result of hours has priority over any error
        known = isinstance(error, ParamhsError)
        why = str(error) if known else f"{type(error).__name__}: {error}"
    else:
        return page
    say(f"No report was written: {why}. To write one: {called('report', store)}", err=True)
    return None
