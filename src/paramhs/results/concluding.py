"""Verdicts in plain words."""

import math

from paramhs.results.verdict import Interval, Verdict
from paramhs.values.costs import CostMetric
from paramhs.values.wording import counted


def conclusion(verdict: Verdict, metric: CostMetric, names: tuple[str, str]) -> list[str]:
    """In plain words, with how much and how sure."""
    first, second = names
    how_much = _how_much(verdict, metric)
    if verdict.conclusion == "better":
        return [f"{second.capitalize() if second.isalpha() else second} is better: {how_much}."]
    if verdict.conclusion == "worse":
        return [f"Keep {_the(first)}: {second} is worse; {how_much}."]
    few = ""
    cases = verdict.wins + verdict.ties + verdict.losses
    if cases < 6:
        few = f" {counted(cases, verdict.case)} cannot prove one."
    elif verdict.ratio and not verdict.ratio.low <= 1 <= verdict.ratio.high:
        few = f" The p-value decides: of {counted(cases, verdict.case)} the interval is too narrow."
    return [f"Keep {_the(first)}: no difference is proven ({how_much}).{few}"]


def _the(name: str) -> str:
    return f"the {name}" if name.isalpha() else name


def _how_much(verdict: Verdict, metric: CostMetric) -> str:
    better, worse = directions(verdict, metric)
    tail = ""
    if verdict.by == "quality" and metric.needs_runtime:
        tail = " in quality, with equal runtimes"
    if verdict.ratio is not None:
        return f"{_times(verdict.ratio, better, worse)}{tail}"
    if verdict.gain is None:
        return "no run on which both gave a usable answer"
    gain = verdict.gain
    if gain.estimate < 0:
        better, gain = worse, Interval(-gain.estimate, -gain.high, -gain.low)
    return f"{better} by {gain}{tail}"


def directions(verdict: Verdict, metric: CostMetric) -> tuple[str, str]:
    """What better and worse are called."""
    if verdict.by == "runtime":
        return "faster", "slower"
    return ("higher", "lower") if metric.maximise else ("lower", "higher")


def _times(ratio: Interval, better: str, worse: str) -> str:
    """Such as 2.7 times faster (95 % interval 1.9 to 3.6), or 1.3 times slower (...)."""
    if ratio.estimate >= 1:
        return f"{ratio.estimate:.3g} times {better} (95 % interval {_range(ratio)})"
    low = 1 / ratio.low if ratio.low else math.inf
    turned = Interval(1 / ratio.estimate, 1 / ratio.high, low)
    return f"{turned.estimate:.3g} times {worse} (95 % interval {_range(turned)})"


def _range(interval: Interval) -> str:
    return f"{interval.low:.3g} to {interval.high:.3g}"
