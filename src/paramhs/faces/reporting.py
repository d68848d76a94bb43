"""From a store or a result to the page that tells of it, written whole or not at all."""

import os
import shlex
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paramhs.results.capped import saved
from paramhs.results.concluding import how_much
from paramhs.results.failures import failure_groups
from paramhs.results.importance import importance
from paramhs.results.interactions import interactions
from paramhs.results.report import Map, Material, Page, drawn_page
from paramhs.results.report.paired import unsolved
from paramhs.results.simplifying import read_simplified
from paramhs.results.validating import read_verdict, verdict_store
from paramhs.results.verdict import Verdict
from paramhs.search.history import History
from paramhs.values.errors import BadInput, StoreError
from paramhs.values.runs import Point, Run
from paramhs.world.store.lock import is_held
from paramhs.world.store.reading import StoredSearch, read_search, uncollected
from paramhs.world.targets.command.template import command_line_of, target_name

if TYPE_CHECKING:
    from paramhs.faces.result import Result

_MARK = '<meta name="generator" content="paramhs'
_HEAD = 2_000  # bytes of a file in which the mark is looked for


@dataclass(frozen=True)
class Told:
    """What a store does not know of its search, but who ran it does."""

    stopped: str = ""
    no_verdict: str = ""
    calls: Mapping[str, str] | None = None
    """Commands of this program that go on from here."""
    ahead: tuple[str, ...] = ()
    """That a race was not over, and how it stood."""
    challenger: str = ""
    """What to do with the one that was ahead, if it is proven better than the best."""


NOTHING_TOLD = Told()


def page_beside(store: Path) -> Path:
    """Where the page of a store lies unless somebody says otherwise: `runs.html`."""
    return store.with_name(f"{store.name.removesuffix('.sqlite')}.html")


def is_running(store: Path) -> bool:
    """Whether a search, or its verdict, is writing beside this name."""
    verdict = verdict_store(store)
    return is_held(store) or (verdict is not None and is_held(verdict))


def stored_material(store: Path, told: Told = NOTHING_TOLD, refresh: int | None = None) -> Material:
    """What the page of a stored search is made from."""
    with uncollected():
        return _stored_material(store, told, refresh)


def _stored_material(store: Path, told: Told, refresh: int | None) -> Material:
    running = is_running(store)
    search = read_search(store)
    verdict = read_verdict(search)
    simplified = read_simplified(store, search.scenario.space)
    target = search.description["target"]
    calls = {"simplify": shlex.join(["paramhs", "simplify", str(store)]), **(told.calls or {})}
    return _material(
        search.history,
        search.trajectory,
        capped=saved(search.history.runs[len(search.scenario.known) :]),
        name=store.name,
        target=target_name(target),
        target_time=search.target_time,
        verdict=verdict,
        no_verdict=told.no_verdict or _no_verdict(search, running),
        command=command_line_of(target, search.best),
        clock=str(target.get("clock", "wall")),
        wall_time=search.wall_time,
        elapsed=search.elapsed,
        speculative=search.speculative,
        sessions=search.sessions,
        running=running,
        stopped=told.stopped,
        notes=told.ahead,
        challenger=told.challenger,
        simplified=simplified,
        simplified_command=command_line_of(target, simplified.config) if simplified else "",
        calls=calls,
        refresh=refresh if running else None,
    )


def _no_verdict(search: StoredSearch, running: bool) -> str:
    path = verdict_store(search.path)
    if running:
        return "No verdict yet: the search is running."
    if path is not None and path.exists():
        return "No verdict on this best: the last is of an earlier one, or was interrupted."
    return "No verdict: none was made."


def _material(
    history: History, trajectory: tuple[Point, ...], verdict: Verdict | None, **more: object
) -> Material:
    """With what follows from the runs."""
    runs, scenario = history.runs, history.scenario
    met: Iterable[Run] = [run for pair in verdict.paired_runs for run in pair] if verdict else ()
    return Material(
        history=history,
        trajectory=trajectory,
        verdict=verdict,
        importance=importance(runs, scenario.cost),
        failures=failure_groups(runs, scenario.space),
        unsolved=unsolved([runs, met], scenario.cost),
        written=time.strftime("%Y-%m-%d %H:%M:%S"),
        **more,  # type: ignore[arg-type]
    )


def with_interactions(material: Material) -> Material:
    """The same with what pairs of parameters do together, which takes seconds and an extra."""
    found = interactions(material.history.runs, material.metric)
    if found is None:
        raise BadInput('interactions need scikit-learn: pip install "paramhs[importance]"')
    return replace(material, interactions=found)


def result_material(
    result: "Result",
    name: str = "",
    chart: Map | None = None,
    calls: Mapping[str, str] | None = None,
) -> Material:
    """What the page of a result is made from: its store, where there is one that can be read."""
    told = told_of(result, calls)
    if result.store is not None and chart is None and result.store.exists():
        with suppress(StoreError):  # a cost of one's own is known here alone
            return stored_material(result.store, told)
    verdict = result.verdict if isinstance(result.verdict, Verdict) else None
    if verdict is not None and verdict.second.config != result.best:
        verdict = None
    return _material(
        result.history,
        result.trajectory,
        verdict,
        capped=result.capped,
        name=name or (result.store.name if result.store else result.target),
        target=result.target,
        target_time=result.target_time,
        wall_time=result.wall_time,
        speculative=result.speculative,
        stopped=result.stopped,
        no_verdict=told.no_verdict,
        notes=told.ahead,
        challenger=told.challenger,
        command=result.command,
        map=chart,
    )


def told_of(result: "Result", calls: Mapping[str, str] | None = None) -> Told:
    """What a result tells that its store does not."""
    from paramhs.faces.result import ahead_text

    ahead = (f"{ahead_text(result.ahead, result.history)}.",) if result.ahead else ()
    no_verdict = "" if result.verdict else str(result.verdict)
    return Told(result.stopped, no_verdict, calls, ahead, _challenger(result))


def _challenger(result: "Result") -> str:
    if result.ahead is None or result.ahead_verdict is None or not result.ahead_wins:
        return ""
    return (
        f"Take the challenger that was ahead when the budget ended, {result.ahead.config}: where"
        f" the search never was it is, beside the best, {how_much(result.ahead_verdict)},"
        f" p = {result.ahead_verdict.p_value:.2g}. A larger budget finishes its race."
    )


def write_report(material: Material, out: Path, figures: Path | None = None) -> list[Path]:
    """Write the page, and each of its pictures into a folder; what was written."""
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
    """Make a folder where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot make the folder {folder}: {error.strerror}") from None


def write_whole(path: Path, text: str) -> None:
    """Whoever reads the file sees the old or the new one, never a part."""
    if path.is_dir():
        raise BadInput(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise BadInput(f"cannot write {path}: there is no folder {path.parent}")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
        os.replace(part, path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def check_page(out: Path) -> None:
    """Refuse to write where something else lies than an earlier page of ours."""
    if not out.is_file():
        return
    with suppress(OSError), open(out, "rb") as file:
        if _MARK.encode() in file.read(_HEAD):
            return
    raise BadInput(f"{out} is not a page of paramhs, and stays as it is; name another with --out")
