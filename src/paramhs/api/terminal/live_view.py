"""Progress of a search: a live view in terminals and notebooks, or plain lines."""

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

from paramhs.analysis.capping_savings import saved
from paramhs.analysis.evidence import common_costs, standard_error
from paramhs.analysis.expected_gain import expected_gain
from paramhs.analysis.win_probability import win_probabilities
from paramhs.api.terminal.environment import in_notebook
from paramhs.api.terminal.safe_console import Terminal
from paramhs.api.terminal.text_layout import beside_default
from paramhs.core.costs import score
from paramhs.core.runs import Point
from paramhs.core.text.html import html_table, paragraph
from paramhs.core.text.numbers import counted, printable, time_text
from paramhs.execution.driver import STOPPING, Progress, Watcher
from paramhs.report.result import against_default, common_text
from paramhs.search.record import Record

# Seconds from one plain line to the next: the first ones come sooner.
_FIRST_SECONDS, _LINE_SECONDS = 5.0, 60.0
_DRAW_SECONDS = 0.5  # seconds between drawings in a notebook


def duration(seconds: float) -> str:
    """Format seconds as 0:00:07 or 3:25:00."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"


def used_share(progress: Progress) -> tuple[float, str] | None:
    """Used share of the budget by the limit closest to its end, and the same in words."""
    budget = progress.budget
    parts = []
    if budget.runs:
        parts.append((progress.taken / budget.runs, f"{progress.taken:,} of {budget.runs:,} runs"))
    if budget.target_time:
        used = progress.target_time
        words = f"{duration(used)} of {duration(budget.target_time)} target time"
        parts.append((used / budget.target_time, words))
    if budget.wall_time:
        used = progress.wall_time
        words = f"{duration(used)} of {duration(budget.wall_time)} wall time"
        parts.append((used / budget.wall_time, words))
    return max(parts, default=None)


class _View(Watcher):
    """Facts shown by all views."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.begun = time.monotonic()
        self.share_before: float | None = None
        self.runs_summed, self.saved = 0, ""
        self.runs_certified, self.certified = 0, ""

    def started(self, record: Record, progress: Progress) -> None:
        self.begun = time.monotonic()
        self.share_before = None

    def announce(self, text: str) -> None:
        """Show an announcement like a notice."""
        self.notice(text)

    def rate(self, progress: Progress) -> float:
        """Number of runs per second in this session."""
        return progress.new_runs / max(time.monotonic() - self.begun, 1e-9)

    def time_left(self, progress: Progress) -> str:
        """Estimated time left, at the pace of this session."""
        used = used_share(progress)
        if used is None:
            return "until the space is exhausted"
        if self.share_before is None:
            if not progress.new_runs:
                return "?"
            self.share_before = used[0]  # replayed runs say nothing about the pace
            self.begun_new = time.monotonic()
        gained = used[0] - self.share_before
        if gained <= 0:
            return "?"
        return duration((time.monotonic() - self.begun_new) * max(1 - used[0], 0) / gained)

    def counts(self, progress: Progress) -> str:
        used = used_share(progress)
        return used[1] if used else f"{progress.taken:,} runs"

    def failures(self, progress: Progress) -> str:
        """Number of failed runs and the last error message; empty without failures."""
        if progress.last_failure is None:
            return ""
        reason = (
            f", the last: {progress.last_failure.reason}" if progress.last_failure.reason else ""
        )
        return f"{counted(progress.failed, 'run')} failed{reason}"

    def incumbent(self, record: Record) -> str:
        points = record.trajectory
        return beside_default(points[-1].config) if points else "(evaluating the default)"

    def cost(self, record: Record) -> str:
        """Cost of the incumbent and the default on common runs; of the default with its error."""
        incumbent, default = record.incumbent, record.history.scenario.space.default
        if incumbent is None:
            return ""
        if incumbent != default:
            met = common_costs(record.history, default, incumbent)
            return against_default(met, record.history, ("incumbent", "default"))
        costs = list(record.history.costs(incumbent).values())
        if not costs:
            return ""
        mean = record.history.scenario.cost.shown(score(costs))
        numbers = [cost[0] for cost in costs]
        error = ""
        if len(numbers) > 1 and all(map(math.isfinite, numbers)):
            error = f" ± {standard_error(numbers):.2g}"
        return f"mean {mean:.6g}{error} over {counted(len(costs), 'run')}"

    def capped(self, record: Record) -> str:
        """Time saved by capping; empty if no run was capped."""
        runs = record.history.runs
        if len(runs) > 1.25 * self.runs_summed:  # expensive, so it is not computed at every call
            found = saved(record.runs)
            self.runs_summed, self.saved = len(runs), str(found or "")
        return self.saved

    def certificate(self, record: Record, progress: Progress) -> str:
        """What is known about the incumbent and the gain of a tenth of the budget, on one line."""
        runs = len(record.runs)
        if runs > 1.05 * self.runs_certified:  # not at every call, like `capped`
            further = (progress.budget.runs or runs) // 10
            gain = expected_gain(record, further)
            found = [one.short for one in (*win_probabilities(record), gain) if one]
            self.runs_certified, self.certified = runs, "; ".join(found)
        return self.certified

    def verdict(self, record: Record, progress: Progress) -> str:
        """Estimated time of the verdict; empty without one."""
        later = progress.later
        if later is None:
            return ""
        seconds = progress.pace * later.time(record.incumbent, progress.pace)
        if not seconds:
            return ""
        return f"then about {time_text(seconds)}{', within the budget' if later.counts else ''}"


class LiveView(_View):
    """Panel in a terminal that redraws itself."""

    def started(self, record: Record, progress: Progress) -> None:
        """Start drawing the panel."""
        super().started(record, progress)
        self.stopping = False
        self.last = record, progress, time.monotonic()
        self.live = Live(
            get_renderable=self._drawn, console=self.console, refresh_per_second=5, transient=True
        )
        self.live.start()

    def _drawn(self) -> RenderableType:
        record, progress, seen = self.last
        passed = time.monotonic() - seen
        progress = progress._replace(wall_time=progress.wall_time + passed)
        used = used_share(progress)
        bar = ProgressBar(total=1.0, completed=min(used[0], 1.0) if used else 0.0, width=40)
        if used is None:
            bar.pulse = True
        head = Table.grid(padding=(0, 2))
        head.add_row(bar, self.counts(progress), f"left {self.time_left(progress)}")
        body = Table.grid(padding=(0, 2))
        jobs = counted(progress.jobs, "job")
        body.add_row("speed", f"{self.rate(progress):,.1f} runs/s with {jobs}")
        if progress.purpose:
            body.add_row("for the", progress.purpose)
        else:
            body.add_row("incumbent", Text(_clipped(self.incumbent(record)), style="bold"))
            body.add_row("cost", self.cost(record))
            body.add_row("incumbents", f"{len(record.trajectory)} so far")
            if self.certificate(record, progress):
                body.add_row("how sure", self.certificate(record, progress))
            if self.capped(record):
                body.add_row("capping", self.capped(record))
            body.add_row("verdict", self.verdict(record, progress) or "none")
        if failures := self.failures(progress):
            body.add_row("failures", Text(_clipped(failures), style="bold"))
        if workers := progress.workers:
            body.add_row("workers", Text(_clipped(workers)))
        if self.stopping:
            body.add_row("", Text(STOPPING, style="bold"))
        return Group(head, body)

    def ran(self, record: Record, progress: Progress) -> None:
        """Keep the state for the next drawing."""
        self.last = record, progress, time.monotonic()

    def interrupting(self, text: str) -> None:
        """Announce the interruption in the next drawing."""
        self.stopping = True

    def notice(self, text: str) -> None:
        """Print a notice above the panel."""
        self.console.print(Text(text))

    def ended(self, record: Record, progress: Progress) -> None:
        """Remove the panel."""
        self.live.stop()


class PlainView(_View):
    """Progress as plain lines."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.last = time.monotonic()
        self.pause = _FIRST_SECONDS
        self.said = ""

    def ran(self, record: Record, progress: Progress) -> None:
        """Print what has changed, if the last line is old enough."""
        if self.share_before is None and progress.new_runs:
            self.time_left(progress)  # progress from here on shows the pace
        now = time.monotonic()
        if now - self.last < self.pause:
            return
        sure = self.certificate(record, progress)
        known = (f"incumbent {self.incumbent(record)}", self.cost(record), sure)
        what = "; ".join(filter(None, known))
        failures, workers = _clipped(self.failures(progress)), _clipped(progress.workers)
        facts = "; ".join(filter(None, (progress.purpose or what, failures, workers)))
        state = f"{self.counts(progress)}; {facts}"
        if state == self.said:
            return
        self.last, self.said = now, state
        self.pause = min(2 * self.pause, _LINE_SECONDS)
        then = self.verdict(record, progress)
        self._say(
            f"{self.counts(progress)}, {self.rate(progress):,.1f} runs/s,"
            f" left {self.time_left(progress)}; {facts}"
            f"{f'; verdict {then}' if then and not progress.purpose else ''}"
        )

    def improved(self, record: Record, progress: Progress, point: Point) -> None:
        """Print a new incumbent, compared with the previous one on common runs."""
        points = record.trajectory
        position = points.index(point)
        met = ""
        if position:
            before = common_costs(record.history, points[position - 1].config, point.config)
            met = f"; {common_text(before, record.history, ('new', 'previous'))}"
        what = f"incumbent {beside_default(point.config)}"
        self._say(f"{counted(point.runs, 'run')}: {what}{met}")

    def notice(self, text: str) -> None:
        """Print a notice as a line."""
        self._say(text)

    def interrupting(self, text: str) -> None:
        """Print immediately, even inside a signal handler."""
        with suppress(OSError, ValueError):  # standard error may not be a file
            os.write(self.console.file.fileno(), f"{text}\n".encode())

    def _say(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)


class NotebookView(_View):
    """Lines of HTML in the output of a notebook cell, updated in place.

    Uses IPython's own display, which every notebook has; widgets would be another dependency.
    """

    def __init__(self) -> None:
        super().__init__(Console(quiet=True))
        self._handle: Any = None
        self._drawn = 0.0
        self._notices: list[str] = []

    def started(self, record: Record, progress: Progress) -> None:
        """Start drawing below the output of an earlier driver."""
        super().started(record, progress)
        self._handle = None
        self._draw(record, progress)

    def ran(self, record: Record, progress: Progress) -> None:
        """Redraw if the last drawing is some time old."""
        if self.share_before is None and progress.new_runs:
            self.time_left(progress)  # progress from here on shows the pace
        if time.monotonic() - self._drawn >= _DRAW_SECONDS:
            self._draw(record, progress)

    def notice(self, text: str) -> None:
        """Keep a notice below the other lines."""
        self._notices.append(text)

    def ended(self, record: Record, progress: Progress) -> None:
        """Draw the final state."""
        self._draw(record, progress)
        self._notices.clear()

    def _draw(self, record: Record, progress: Progress) -> None:
        notebook: Any = import_module("IPython.display")
        self._drawn = time.monotonic()
        shown = notebook.HTML(self._page(record, progress))
        if self._handle is None:
            self._handle = notebook.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def _page(self, record: Record, progress: Progress) -> str:
        used = used_share(progress)
        share = f' value="{min(used[0], 1.0):.4f}"' if used else ""
        bar = f'<progress max="1"{share} style="width:24em"></progress>'
        left = progress.stopped or f"left {self.time_left(progress)}"
        head = f"<p>{bar} {escape(printable(f'{self.counts(progress)}; {left}'))}</p>"
        rows = [
            ("speed", f"{self.rate(progress):,.1f} runs/s with {counted(progress.jobs, 'job')}")
        ]
        if not progress.purpose:
            rows += [("incumbent", self.incumbent(record)), ("cost", self.cost(record))]
            if sure := self.certificate(record, progress):
                rows.append(("how sure", sure))
            rows += (
                [("verdict", self.verdict(record, progress))]
                if self.verdict(record, progress)
                else []
            )
        if workers := progress.workers:
            rows.append(("workers", workers))
        notices = "".join(paragraph(text) for text in self._notices)
        return f"<div>{head}{html_table(rows)}{notices}</div>"


class Silent(Watcher):
    """A watcher that shows nothing, not even notices."""

    def notice(self, text: str) -> None:
        """Ignore a notice."""


class Watchers(Watcher):
    """Several watchers called as one."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def started(self, record: Record, progress: Progress) -> None:
        """Forward the start of a driver."""
        for watcher in self._watchers:
            watcher.started(record, progress)

    def ran(self, record: Record, progress: Progress) -> None:
        """Forward a finished run."""
        for watcher in self._watchers:
            watcher.ran(record, progress)

    def improved(self, record: Record, progress: Progress, point: Point) -> None:
        """Forward a new incumbent."""
        for watcher in self._watchers:
            watcher.improved(record, progress, point)

    def notice(self, text: str) -> None:
        """Forward a notice."""
        for watcher in self._watchers:
            watcher.notice(text)

    def announce(self, text: str) -> None:
        """Forward an announcement."""
        for watcher in self._watchers:
            watcher.announce(text)

    def interrupting(self, text: str) -> None:
        """Forward an interruption."""
        for watcher in self._watchers:
            watcher.interrupting(text)

    def ended(self, record: Record, progress: Progress) -> None:
        """Forward the end of a driver."""
        for watcher in self._watchers:
            watcher.ended(record, progress)


def _clipped(text: str, most: int = 200) -> str:
    return text if len(text) <= most else text[: most - 4] + " ..."


def view(as_json: bool = False) -> Watcher:
    """Choose the view that suits standard error; results go to standard output.

    With JSON output there are plain lines at most, and none if both would appear in one terminal.
    """
    if as_json and sys.stdout.isatty():
        return Silent()
    console = Terminal(stderr=True)
    drawn = console.is_terminal and not console.is_dumb_terminal and not as_json
    return LiveView(console) if drawn else PlainView(console)


def shown() -> Watcher:
    """View for a caller in Python."""
    return NotebookView() if in_notebook() else view()
