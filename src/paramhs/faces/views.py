"""What a person sees while a search runs: a live view, or plain lines."""

import math
import os
import sys
import time
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from paramhs.faces.layout import beside_default
from paramhs.faces.result import common_text
from paramhs.faces.surroundings import in_notebook
from paramhs.faces.terminal import Terminal
from paramhs.results.capped import saved_in
from paramhs.results.evidence import common_costs, standard_error
from paramhs.values.costs import score
from paramhs.values.markup import html_table, paragraph
from paramhs.values.runs import Point
from paramhs.values.wording import counted, printable, time_text
from paramhs.world.driver import STOPPING, Driver, Watcher

_EVERY = 5.0  # seconds between plain lines
_NOTEBOOK_EVERY = 0.5  # and between drawings in a notebook


def duration(seconds: float) -> str:
    """Such as 0:00:07 or 3:25:00."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"


def progress(driver: Driver) -> tuple[float, str] | None:
    """How much of the budget is used, by the limit closest to its end, and in words."""
    budget = driver.budget
    parts = []
    if budget.runs:
        parts.append((driver.taken / budget.runs, f"{driver.taken:,} of {budget.runs:,} runs"))
    if budget.target_time:
        used = driver.store.target_time
        words = f"{duration(used)} of {duration(budget.target_time)} target time"
        parts.append((used / budget.target_time, words))
    if budget.wall_time:
        used = driver.wall_time
        words = f"{duration(used)} of {duration(budget.wall_time)} wall time"
        parts.append((used / budget.wall_time, words))
    return max(parts, default=None)


class _View(Watcher):
    """What both views know."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.begun = time.monotonic()
        self.share_before: float | None = None
        self.runs_summed, self.saved = 0, ""

    def started(self, driver: Driver) -> None:
        self.begun = time.monotonic()
        self.share_before = None

    def rate(self, driver: Driver) -> float:
        """Runs made a second, in this session."""
        return driver.new_runs / max(time.monotonic() - self.begun, 1e-9)

    def time_left(self, driver: Driver) -> str:
        """An estimate from this session's pace."""
        used = progress(driver)
        if used is None:
            return "until the space is exhausted"
        if self.share_before is None:
            if not driver.new_runs:
                return "?"
            self.share_before = used[0]  # what was replayed, or done before, tells nothing
            self.begun_new = time.monotonic()
        gained = used[0] - self.share_before
        if gained <= 0:
            return "?"
        return duration((time.monotonic() - self.begun_new) * max(1 - used[0], 0) / gained)

    def counts(self, driver: Driver) -> str:
        used = progress(driver)
        return used[1] if used else f"{driver.taken:,} runs"

    def failures(self, driver: Driver) -> str:
        """How many runs failed, and what the last said; empty if none did."""
        if driver.last_failure is None:
            return ""
        reason = f", the last: {driver.last_failure.reason}" if driver.last_failure.reason else ""
        return f"{counted(driver.failed, 'run')} failed{reason}"

    def workers(self, driver: Driver) -> str:
        """How the workers of a cluster stand, with failures by worker; empty without one."""
        return str(getattr(driver.executor, "workers", ""))

    def incumbent(self, driver: Driver) -> str:
        points = driver.session.trajectory
        return beside_default(points[-1].config) if points else "(evaluating the default)"

    def cost(self, driver: Driver) -> str:
        """The incumbent beside the default on common runs; the default itself with its error."""
        incumbent, default = driver.session.incumbent, driver.history.scenario.space.default
        if incumbent is None:
            return ""
        if incumbent != default:
            met = common_costs(driver.history, default, incumbent)
            return common_text(met, driver.history, ("incumbent", "default"))
        costs = list(driver.history.costs(incumbent).values())
        if not costs:
            return ""
        mean = driver.history.scenario.cost.shown(score(costs))
        numbers = [cost[0] for cost in costs]
        error = ""
        if len(numbers) > 1 and all(map(math.isfinite, numbers)):
            error = f" ± {standard_error(numbers):.2g}"
        return f"mean {mean:.6g}{error} over {counted(len(costs), 'run')}"

    def capped(self, driver: Driver) -> str:
        """What cutting runs short has saved; empty if none was."""
        runs = driver.history.runs
        if len(runs) > 1.25 * self.runs_summed:  # it takes a while, so not at every look
            found = saved_in(driver.history, driver.store)
            self.runs_summed, self.saved = len(runs), str(found or "")
        return self.saved

    def verdict(self, driver: Driver) -> str:
        """How long what comes after the search will take, in words; empty if nothing does."""
        later = driver.later
        seconds = later.time(driver.session.incumbent) / driver.jobs if later else 0.0
        if not later or not seconds:
            return ""
        return f"then about {time_text(seconds)}{', within the budget' if later.counts else ''}"


class LiveView(_View):
    """A panel that redraws itself in a terminal."""

    def started(self, driver: Driver) -> None:
        """Begin to draw."""
        super().started(driver)
        self.driver = driver
        self.live = Live(
            get_renderable=self._drawn, console=self.console, refresh_per_second=5, transient=True
        )
        self.live.start()

    def _drawn(self) -> RenderableType:
        driver = self.driver
        used = progress(driver)
        bar = ProgressBar(total=1.0, completed=min(used[0], 1.0) if used else 0.0, width=40)
        if used is None:
            bar.pulse = True
        head = Table.grid(padding=(0, 2))
        head.add_row(bar, self.counts(driver), f"left {self.time_left(driver)}")
        body = Table.grid(padding=(0, 2))
        jobs = counted(driver.jobs, "job")
        body.add_row("speed", f"{self.rate(driver):,.1f} runs/s with {jobs}")
        if driver.purpose:
            body.add_row("for the", driver.purpose)
        else:
            body.add_row("incumbent", Text(_clipped(self.incumbent(driver)), style="bold"))
            body.add_row("cost", self.cost(driver))
            body.add_row("incumbents", f"{len(driver.session.trajectory)} so far")
            if self.capped(driver):
                body.add_row("capping", self.capped(driver))
            body.add_row("verdict", self.verdict(driver) or "none")
        if failures := self.failures(driver):
            body.add_row("failures", Text(_clipped(failures), style="bold"))
        if workers := self.workers(driver):
            body.add_row("workers", Text(_clipped(workers)))
        if driver.interrupted:
            body.add_row("", Text(STOPPING, style="bold"))
        return Group(head, body)

    def notice(self, text: str) -> None:
        """Print above the panel."""
        self.console.print(Text(text))

    def ended(self, driver: Driver) -> None:
        """Take the panel away."""
        self.live.stop()


class PlainView(_View):
    """A line now and then."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.last = time.monotonic()

    def ran(self, driver: Driver) -> None:
        """Say how things stand, if that was not done lately."""
        if self.share_before is None and driver.new_runs:
            self.time_left(driver)  # from here on progress tells the pace
        now = time.monotonic()
        if now - self.last >= _EVERY:
            self.last = now
            what = f"incumbent {self.incumbent(driver)}; {self.cost(driver)}"
            then, failures = self.verdict(driver), self.failures(driver)
            workers = self.workers(driver)
            self._say(
                f"{self.counts(driver)}, {self.rate(driver):,.1f} runs/s,"
                f" left {self.time_left(driver)}; {driver.purpose or what}"
                f"{f'; verdict {then}' if then and not driver.purpose else ''}"
                f"{'; ' if failures else ''}{_clipped(failures)}"
                f"{'; ' if workers else ''}{_clipped(workers)}"
            )

    def improved(self, driver: Driver, point: Point) -> None:
        """Say so, beside the one before on common runs."""
        points = driver.session.trajectory
        position = points.index(point)
        met = ""
        if position:
            before = common_costs(driver.history, points[position - 1].config, point.config)
            met = f"; {common_text(before, driver.history, ('it', 'the one before'))}"
        what = f"incumbent {beside_default(point.config)}"
        self._say(f"{counted(point.runs, 'run')}: {what}{met}")

    def notice(self, text: str) -> None:
        """Pass it on."""
        self._say(text)

    def interrupting(self, text: str) -> None:
        """Say so at once."""
        with suppress(OSError, ValueError):  # where standard error is no file
            os.write(self.console.file.fileno(), f"{text}\n".encode())

    def _say(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)


class NotebookView(_View):
    """A few lines of HTML in the output of a notebook's cell, changed in place.

    By IPython's own display, which every notebook has; widgets would be a dependency more.
    """

    def __init__(self) -> None:
        super().__init__(Console(quiet=True))
        self._handle: Any = None
        self._drawn = 0.0
        self._notices: list[str] = []

    def started(self, driver: Driver) -> None:
        """Begin to draw, below what was drawn of another driver."""
        super().started(driver)
        self._handle = None
        self._draw(driver)

    def ran(self, driver: Driver) -> None:
        """Draw again, if that was not done lately."""
        if self.share_before is None and driver.new_runs:
            self.time_left(driver)  # from here on progress tells the pace
        if time.monotonic() - self._drawn >= _NOTEBOOK_EVERY:
            self._draw(driver)

    def notice(self, text: str) -> None:
        """Keep it below the rest."""
        self._notices.append(text)

    def ended(self, driver: Driver) -> None:
        """Leave how it ended."""
        self._draw(driver)
        self._notices.clear()

    def _draw(self, driver: Driver) -> None:
        notebook: Any = import_module("IPython.display")
        self._drawn = time.monotonic()
        shown = notebook.HTML(self._page(driver))
        if self._handle is None:
            self._handle = notebook.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def _page(self, driver: Driver) -> str:
        used = progress(driver)
        share = f' value="{min(used[0], 1.0):.4f}"' if used else ""
        bar = f'<progress max="1"{share} style="width:24em"></progress>'
        left = driver.stopped or f"left {self.time_left(driver)}"
        head = f"<p>{bar} {escape(printable(f'{self.counts(driver)}; {left}'))}</p>"
        rows = [("speed", f"{self.rate(driver):,.1f} runs/s with {counted(driver.jobs, 'job')}")]
        if not driver.purpose:
            rows += [("incumbent", self.incumbent(driver)), ("cost", self.cost(driver))]
            rows += [("verdict", self.verdict(driver))] if self.verdict(driver) else []
        if workers := self.workers(driver):
            rows.append(("workers", workers))
        notices = "".join(paragraph(text) for text in self._notices)
        return f"<div>{head}{html_table(rows)}{notices}</div>"


class Watchers(Watcher):
    """Several that see the same."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def started(self, driver: Driver) -> None:
        """Pass it on."""
        for watcher in self._watchers:
            watcher.started(driver)

    def ran(self, driver: Driver) -> None:
        """Pass it on."""
        for watcher in self._watchers:
            watcher.ran(driver)

    def improved(self, driver: Driver, point: Point) -> None:
        """Pass it on."""
        for watcher in self._watchers:
            watcher.improved(driver, point)

    def notice(self, text: str) -> None:
        """Pass it on."""
        for watcher in self._watchers:
            watcher.notice(text)

    def interrupting(self, text: str) -> None:
        """Pass it on."""
        for watcher in self._watchers:
            watcher.interrupting(text)

    def ended(self, driver: Driver) -> None:
        """Pass it on."""
        for watcher in self._watchers:
            watcher.ended(driver)


def _clipped(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 4] + " ..."


def view(as_json: bool = False) -> Watcher:
    """The view that suits where standard error goes; results go to standard output.

    Beside JSON there are plain lines at most, and none where people would see both.
    """
    if as_json and sys.stdout.isatty():
        return Watcher()
    console = Terminal(stderr=True)
    drawn = console.is_terminal and not console.is_dumb_terminal and not as_json
    return LiveView(console) if drawn else PlainView(console)


def shown() -> Watcher:
    """The view for a caller in Python."""
    return NotebookView() if in_notebook() else view()
