"""Reports of stores and results, written atomically."""

import shlex
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from paramhs.analysis.failures import failure_groups
from paramhs.analysis.importance import importance
from paramhs.analysis.interactions import interactions
from paramhs.analysis.verdict import Verdict
from paramhs.api.load import load
from paramhs.core.errors import BadInput
from paramhs.core.runs import Run
from paramhs.execution.safe_files import write_whole
from paramhs.execution.storage.load import uncollected
from paramhs.report import Map, Material, Page, drawn_page
from paramhs.report.per_instance import unsolved

if TYPE_CHECKING:
    from paramhs.api.result import Result

_MARK = '<meta name="generator" content="paramhs'
_HEAD_BYTES = 2_000  # of a file in which the mark is searched


def page_beside(store: Path) -> Path:
    """Default path of a store's report: `runs.html`."""
    return store.with_name(f"{store.name.removesuffix('.sqlite')}.html")


def stored_material(
    store: Path, calls: Mapping[str, str] | None = None, refresh: int | None = None
) -> Material:
    """Collect the content of a stored search's report; `calls` are commands that continue it."""
    with uncollected():
        material = result_material(load(store), calls=calls)
    return replace(material, refresh=refresh if material.running else None)


def result_material(
    result: "Result",
    name: str = "",
    chart: Map | None = None,
    calls: Mapping[str, str] | None = None,
) -> Material:
    """What the page of a result is made from."""
    runs, scenario, verdict = result.history.runs, result.scenario, result.verdict
    paired = verdict.paired_runs if isinstance(verdict, Verdict) else ()
    met: Iterable[Run] = [run for pair in paired for run in pair]
    simplify = {"simplify": shlex.join(["paramhs", "simplify", str(result.store)])}
    return Material(
        result.record,
        verdict,
        name or (result.store.name if result.store else result.target),
        running=result.running,
        notes=result.accepted,
        capped=result.capped,
        simplified=result.simplified,
        importance=importance(runs, scenario.cost),
        failures=failure_groups(runs, scenario.space),
        unsolved=unsolved([runs, met], scenario.cost),
        answers=result.answers,
        map=chart,
        calls={**(simplify if result.store else {}), **(calls or {})},
        written=time.strftime("%Y-%m-%d %H:%M:%S"),
    )


def with_interactions(material: Material) -> Material:
    """Add interactions of parameters, which takes seconds and an extra."""
    found = interactions(material.history.runs, material.metric)
    if found is None:
        raise BadInput('interactions need scikit-learn: pip install "paramhs[importance]"')
    return replace(material, interactions=found)


def write_report(material: Material, out: Path, figures: Path | None = None) -> list[Path]:
    """Write the page, and optionally each picture into a folder; return the paths."""
    with uncollected():
        page = drawn_page(material)
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
