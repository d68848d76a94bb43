"""What a verdict says, in plain words: for a terminal, a page, or `print(verdict)`."""

import math
import textwrap
from typing import TYPE_CHECKING

from paramhs.values.wording import counted, printable

if TYPE_CHECKING:
    from paramhs.results.verdict import Interval, Verdict
    from paramhs.values.costs import CostMetric

WIDTH = 80  # columns of a text that is printed whole
_SAME = 0.01  # ratios this close to 1 are told in percent
PROVING = 6  # cases below which even unanimous ones give no p-value under 0.05


def verdict_text(verdict: "Verdict") -> str:
    """A verdict as a text of a few lines."""
    lines = [heading(verdict), *table_lines(verdict), *conclusion(verdict), counts(verdict)]
    return "\n".join(wrapped(printable(line)) for line in lines)


def heading(verdict: "Verdict") -> str:
    """Who met, unless that goes without saying, and on what."""
    first, second = verdict.names
    usual = verdict.names == ("default", "best")
    return f"verdict,{'' if usual else f' {second} against {first},'} on {verdict.on}:"


def table_lines(verdict: "Verdict") -> list[str]:
    """The two sides, in columns."""
    table = verdict_table(verdict)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def wrapped(text: str, width: int = WIDTH, indent: str = "") -> str:
    """The text in lines that never break inside a word; all but the first are indented."""
    return textwrap.fill(
        text,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    )


def verdict_table(verdict: "Verdict") -> list[list[str]]:
    """The two sides, under a line of headings; both means are over the runs neither has failed."""
    rows = [["", verdict.metric.label, "finished", "failed"]]
    for name, side in zip(verdict.names, (verdict.first, verdict.second), strict=True):
        cost = f"{side.cost:.4g}" if math.isfinite(side.cost) else "-"
        rows.append([name, cost, f"{side.solved} of {side.runs}", str(side.failed or "")])
    return rows


def counts(verdict: "Verdict") -> str:
    """Who won how often, and the p-value."""
    return (
        f"{verdict.wins} won, {verdict.ties} tied, {verdict.losses} lost by {verdict.case};"
        f" p = {verdict.p_value:.2g}"
    )


def conclusion(verdict: "Verdict") -> list[str]:
    """What follows, with how much and how sure."""
    first, second = verdict.names
    much = how_much(verdict)
    if verdict.conclusion == "better":
        return [f"{second.capitalize() if second.isalpha() else second} is better: {much}."]
    if verdict.conclusion == "worse":
        return [f"Keep {_the(first)}: {second} is worse; {much}."]
    return [f"Keep {_the(first)}: no difference is proven ({much}).{_why_not(verdict)}"]


def _why_not(verdict: "Verdict") -> str:
    """What a reader wonders who is told to keep the default, and sees an interval without it."""
    cases = verdict.wins + verdict.ties + verdict.losses
    if cases < PROVING:
        only = "instances" if verdict.case == "instance" or verdict.runs_alike else "runs"
        return f" {counted(cases, verdict.case)} cannot prove one; only more {only} can."
    if _excludes_none(verdict) and verdict.first.failed + verdict.second.failed:
        return (
            f" The test decides (p = {verdict.p_value:.2g}), in which failures come first; the"
            " interval is about the runs that neither has failed."
        )
    if _excludes_none(verdict):
        return (
            f" The test decides (p = {verdict.p_value:.2g}), not the interval, which is too narrow"
            f" for so few as {counted(cases, verdict.case)}."
        )
    return ""


def _excludes_none(verdict: "Verdict") -> bool:
    """Whether the interval leaves out "no difference"."""
    if verdict.ratio is not None:
        return not verdict.ratio.low <= 1 <= verdict.ratio.high
    return verdict.gain is not None and not verdict.gain.low <= 0 <= verdict.gain.high


def _the(name: str) -> str:
    return f"the {name}" if name.isalpha() else name


def how_much(verdict: "Verdict") -> str:
    """How much better or worse the second is, with the interval."""
    better, worse = directions(verdict.metric, verdict.by == "runtime")
    tail = ""
    if verdict.by == "quality" and verdict.metric.needs_runtime:
        tail = " in quality, with equal runtimes"
    if verdict.ratio is not None:
        return f"{times(verdict.ratio.estimate, better, worse)} {_within(verdict.ratio)}{tail}"
    if verdict.gain is None:
        return "no run on which both gave a usable answer"
    low, high = verdict.gain.low, verdict.gain.high
    if verdict.gain.estimate < 0:
        better, low, high = worse, -high, -low
    interval = f"(95 % interval {low:.3g} to {high:.3g})"
    return f"{better} by {abs(verdict.gain.estimate):.3g} {interval}{tail}"


def directions(metric: "CostMetric", by_runtime: bool | None = None) -> tuple[str, str]:
    """What better and worse are called."""
    if metric.needs_runtime if by_runtime is None else by_runtime:
        return "faster", "slower"
    return ("higher", "lower") if metric.maximise else ("lower", "higher")


def times(ratio: float, better: str, worse: str) -> str:
    """Such as 2.7 times faster, or 1.3 times slower."""
    if abs(ratio - 1) < _SAME:
        return (
            "the same" if ratio == 1 else f"{abs(ratio - 1):.1%} {better if ratio > 1 else worse}"
        )
    if ratio >= 1:
        return f"{ratio:.3g} times {better}"
    return f"{_inverse(ratio):.3g} times {worse}"


def _within(ratio: "Interval") -> str:
    low, high = ratio.low, ratio.high
    if ratio.estimate < 1:
        low, high = _inverse(high), _inverse(low)
    return f"(95 % interval {low:.3g} to {high:.3g})"


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else math.inf
