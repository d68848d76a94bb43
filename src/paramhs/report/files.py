"""Files of a report, written atomically."""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.execution.safe_files import write_whole
from paramhs.execution.storage.load import uncollected
from paramhs.report.next_steps import next_steps
from paramhs.report.page import PLAIN, Page, PageOptions, drawn_page
from paramhs.report.result import Result

_MARK = '<meta name="generator" content="paramhs'
_HEAD_BYTES = 2_000  # of a file in which the mark is searched


def page_beside(store: Path) -> Path:
    """Default path of a store's report: `runs.html`."""
    return store.with_name(f"{store.name.removesuffix('.sqlite')}.html")


def write_report(
    result: Result,
    out: Path,
    options: PageOptions = PLAIN,
    figures: Path | None = None,
) -> list[Path]:
    """Write the page, and optionally each picture into a folder; return the paths."""
    written = replace(
        options,
        calls=options.calls or next_steps(result),
        written=time.strftime("%Y-%m-%d %H:%M:%S"),
    )
    with uncollected():
        page = drawn_page(result, written)
    write_whole(out, page.html)
    return [out, *(_write_figures(page, figures) if figures else ())]


def _write_figures(page: Page, folder: Path) -> Iterable[Path]:
    make_folder(folder)
    for name, text in page.figure_files():
        write_whole(folder / name, text)
        yield folder / name


def make_folder(folder: Path) -> None:
    """Create a folder if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot create the folder {folder}: {error.strerror}") from None


def check_page(out: Path) -> None:
    """Reject a path at which something other than an earlier report exists."""
    if not out.is_file():
        return
    with suppress(OSError), open(out, "rb") as file:
        if _MARK.encode() in file.read(_HEAD_BYTES):
            return
    raise BadInput(
        f"{out} is not a report of paramhs and is not overwritten; name another file with --out"
    )
