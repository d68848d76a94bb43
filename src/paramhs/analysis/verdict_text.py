"""The text of a verdict, for terminals, pages, and `print(verdict)`."""

import math
import textwrap
from typing import TYPE_CHECKING

from paramhs.analysis.intervals import MAX_NEEDED_CASES, MIN_CASES, SIGNIFICANCE_LEVEL
from paramhs.core.costs import mean
from paramhs.core.runs import Status
from paramhs.core.text.numbers import counted, printable

if TYPE_CHECKING:
    from paramhs.analysis.intervals import Interval
    from paramhs.analysis.verdict import Verdict
    from paramhs.core.costs import CostMetric

WIDTH = 80  # columns of a text printed as a whole
_EQUALITY_MARGIN = 0.01  # ratios this close to 1 are shown in percent
_RARE_SHARE = 0.1  # kinds of instances rarer than this are not mentioned


def verdict_text(verdict: "Verdict") -> str:
    """Format a verdict as a text of a few lines."""
    sides = [heading(verdict), *table_lines(verdict)]
    lines = [*sides, *conclusion(verdict), counts(verdict), *caveats(verdict)]
    return "\n".join(wrapped(printable(line)) for line in lines)


def heading(verdict: "Verdict") -> str:
    """Heading with the two names, unless they are the usual ones, and the instances."""
    first, second = verdict.names
    usual = verdict.names == ("default", "best")
    cost = f" in {verdict.cost_name}," if verdict.cost_name else ""
    return f"verdict,{cost}{'' if usual else f' {second} against {first},'} on {verdict.on}:"


def table_lines(verdict: "Verdict") -> list[str]:
    """Lines of the table of both sides, in aligned columns."""
    table = verdict_table(verdict)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def wrapped(text: str, width: int = WIDTH, indent: str = "") -> str:
    """Wrap a text between words; all lines but the first are indented."""
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
    """Table of the two sides with headings; both means are over the runs neither has failed."""
    rows = [["", verdict.metric.label, "finished", "failed"]]
    for name, side in zip(verdict.names, (verdict.first, verdict.second), strict=True):
        cost = f"{side.cost:.4g}" if math.isfinite(side.cost) else "-"
        rows.append([name, cost, f"{side.solved} of {side.runs}", str(side.failed or "")])
    return rows


def counts(verdict: "Verdict") -> str:
    """Number of cases won, tied and lost, and the p-value."""
    return (
        f"{verdict.wins} won, {verdict.ties} tied, {verdict.losses} lost by {verdict.case};"
        f" p = {verdict.p_value:.2g}"
    )


def caveats(verdict: "Verdict") -> list[str]:
    """Sentences without which the numbers mislead: time, quality, corrections, coverage."""
    lines = (
        saving_sentence(verdict),
        *beside(verdict),
        _several(verdict),
        _looks(verdict),
        _unseen(verdict),
    )
    return [line for line in lines if line]


def beside(verdict: "Verdict") -> list[str]:
    """What a verdict says beside the cost: the time of both sides, or their solved runs."""
    lines = (_time(verdict), _solved(verdict), _quality(verdict))
    return [line for line in lines if line]


def _quality(verdict: "Verdict") -> str:
    """Mean quality of both sides where time is the cost and the target reports a quality."""
    if verdict.by != "runtime":
        return ""
    solved = [pair for pair in verdict.paired_runs if all(r.status is Status.OK for r in pair)]
    read = [[run.quality for run in pair if run.quality is not None] for pair in solved]
    both = [pair for pair in read if len(pair) == 2]
    if not both:
        return ""
    first, second = (mean(side) for side in zip(*both, strict=True))
    names = f"{verdict.names[0]} {first:.4g}, {verdict.names[1]} {second:.4g}"
    return f"Mean quality over {counted(len(both), 'pair')} that both solved: {names}."


def _time(verdict: "Verdict") -> str:
    """Runtime of both sides, and how many times slower the second is where that is significant."""
    ratio = verdict.time
    if ratio is None:
        return ""
    first, second = verdict.names
    if ratio.low <= 1 <= ratio.high:
        seconds = f"{first} {verdict.first.time:.3g} s, {second} {verdict.second.time:.3g} s"
        return f"Mean time of a run: {seconds} (no significant difference)."
    seconds = f"{verdict.second.time:.3g} s against {verdict.first.time:.3g} s a run"
    return f"{_capital(second)} is {times(ratio.estimate, 'faster', 'slower')} ({seconds})."


def _solved(verdict: "Verdict") -> str:
    """Solved counts of both sides where time is the cost."""
    if verdict.by != "runtime":
        return ""
    first, second = verdict.first, verdict.second
    names = verdict.names
    return f"Finished: {names[0]} {first.solved}, {names[1]} {second.solved} of {first.runs} runs."


def saving_sentence(verdict: "Verdict") -> str:
    """The mean saving on an instance, which stays valid however often one looks."""
    saving = verdict.saving
    if saving is None:
        return ""
    sure = f"valid at any moment, {100 * (1 - SIGNIFICANCE_LEVEL / verdict.comparisons):.3g} %"
    if saving.low <= 0 <= saving.high:
        return (
            f"{counted(verdict.instances, 'instance')} are too few for a statement that holds at"
            f" any moment: the mean saving on an instance is {100 * saving.low:.0f} % to"
            f" {100 * saving.high:.0f} % ({sure})."
        )
    winner = verdict.names[saving.low > 0]
    low, high = sorted((abs(100 * saving.low), abs(100 * saving.high)))
    return (
        f"{_capital(winner)} saves {low:.0f} % to {high:.0f} % of the cost of an instance like"
        f" these on average ({sure}; all instances count alike, a loss as a share of its own cost)."
    )


def _looks(verdict: "Verdict") -> str:
    if verdict.looks == 1:
        return ""
    how = f"Ended early: {verdict.early}." if verdict.early else "It did not end early."
    return (
        f"{how} Intervals and p-values are corrected for up to {verdict.looks} looks at the runs"
        f" (Bonferroni), {100 * verdict.confidence:.3g} % each."
    )


def _several(verdict: "Verdict") -> str:
    if verdict.comparisons == 1:
        return ""
    return (
        f"Corrected for {verdict.comparisons} comparisons on the same runs"
        f" (Bonferroni): all intervals hold together with 95 % confidence, each with"
        f" {100 * verdict.confidence:.3g} %."
    )


def _unseen(verdict: "Verdict") -> str:
    """Share of instance kinds that the sample may miss, so that the interval ignores them."""
    share = 1 - ((1 - verdict.confidence) / 2) ** (1 / verdict.instances)
    if verdict.case != "instance" or share < _RARE_SHARE:
        return ""
    return (
        f"Kinds of instances that make up less than {100 * share:.0f} % may be missing among these"
        f" {verdict.instances}; the interval does not cover them."
    )


def conclusion(verdict: "Verdict") -> list[str]:
    """Recommendation with size, uncertainty and reach of the difference."""
    mixed = "Mind: runs from before and after a change are compared."
    return [*_claim(verdict), *((mixed, *verdict.accepted) if verdict.accepted else ())]


def _claim(verdict: "Verdict") -> list[str]:
    first, second = verdict.names
    wrong_first, wrong_second = verdict.wrong
    if wrong_first:
        return [
            f"Keep {_the(first)}, but nothing was compared: it gave wrong answers itself"
            f" ({wrong_first.reason}). Say which answers are right with expected."
        ]
    if wrong_second:
        return [f"Keep {_the(first)}: {second} gave wrong answers ({wrong_second.reason})."]
    much = how_much(verdict)
    if verdict.cost_name:
        return [_in_one_cost(verdict, much)]
    these = f"On {_these(verdict)}, " if verdict.about_these_only else ""
    if verdict.conclusion_here == "better":
        name = second if these else _capital(second)
        return [f"{these}{name} is better: {much}.{_reach(verdict)}"]
    if verdict.conclusion_here == "worse":
        keep = f"{'Keep' if not these else 'keep'} {_the(first)}"
        return [f"{these}{keep}: {second} is worse; {much}.{_reach(verdict)}"]
    much = much if verdict.gain is None else f"{second} is {much}"
    return [f"Keep {_the(first)}: {_not_significant(verdict)}; {much}.{_why_not(verdict)}"]


def _in_one_cost(verdict: "Verdict", much: str) -> str:
    """What holds in one of several costs; what to use is for the user to say."""
    second = verdict.names[1]
    where = f"In {verdict.cost_name}{f' on {_these(verdict)}' if verdict.about_these_only else ''},"
    told = verdict.conclusion_here
    if told == "unclear":
        return f"{where} no difference is shown: {second} is {much}.{_why_not(verdict)}"
    return f"{where} {second} is {told}: {much}.{_reach(verdict)}"


def _capital(name: str) -> str:
    return name.capitalize() if name.replace(" ", "").isalpha() else name


def _these(verdict: "Verdict") -> str:
    if verdict.instances == 1:
        return "this one instance"
    return f"these {verdict.instances} instances"


def _reach(verdict: "Verdict") -> str:
    """How far a conclusion reaches if not far, and the failures if they decided."""
    failures = _failures(verdict) if verdict.failures_differ else ""
    if not verdict.about_these_only:
        return failures
    return f"{failures} This proves nothing about other instances; for that, test on at least 6."


def _failures(verdict: "Verdict") -> str:
    failed = f"{verdict.first.failed} against {verdict.second.failed} failed runs"
    return (
        f" Failures count before costs here ({failed}); the interval is about the runs that neither"
        " has failed."
    )


def _not_significant(verdict: "Verdict") -> str:
    if verdict.wins == verdict.losses == 0 and verdict.gain is not None:
        return "the difference is too small to matter"
    return "the difference is not significant"


def _why_not(verdict: "Verdict") -> str:
    """Advice where there is too little data for any conclusion."""
    cases = verdict.wins + verdict.ties + verdict.losses
    if verdict.about_these_only:
        return (
            f" {counted(verdict.instances, 'instance')} cannot show what holds for others; test on"
            " at least 6."
        )
    if cases < MIN_CASES:
        return f" {counted(cases, verdict.case)} cannot show a difference; make at least 6."
    if verdict.failures_differ and _excludes_none(verdict):
        return _failures(verdict)
    return _missing(verdict)


def _missing(verdict: "Verdict") -> str:
    """What a difference of this size lacks to be shown."""
    needed = verdict.needed
    if needed is None:
        return ""
    if needed > MAX_NEEDED_CASES:
        many = counted(MAX_NEEDED_CASES, verdict.case)
        return f" Even {many} like these would probably not show a difference of this size."
    many = counted(needed, verdict.case)
    return f" To show a difference of this size, about {many} like these are needed."


def _excludes_none(verdict: "Verdict") -> bool:
    """Whether the interval excludes "no difference"."""
    if verdict.ratio is not None:
        return not verdict.ratio.low <= 1 <= verdict.ratio.high
    return verdict.gain is not None and not verdict.gain.low <= 0 <= verdict.gain.high


def _the(name: str) -> str:
    return f"the {name}" if name.isalpha() else name


def how_much(verdict: "Verdict") -> str:
    """Size of the difference between the two, with its interval."""
    better, worse = directions(verdict.metric, verdict.by == "runtime")
    tail = ""
    if verdict.by == "quality" and verdict.metric.needs_runtime:
        tail = " in quality, with equal runtimes"
    percent = f"{100 * verdict.confidence:.3g} %"
    if verdict.ratio is not None:
        estimate = times(verdict.ratio.estimate, better, worse)
        return f"{estimate} ({_within(verdict.ratio, better, worse, percent)}){tail}"
    if verdict.gain is None:
        return "no run on which both gave a usable answer"
    low, high = verdict.gain.low, verdict.gain.high
    if math.isinf(low) and math.isinf(high):
        interval = "no interval"
    elif low < 0 < high:
        interval = f"{percent} interval {worse} by {-low:.3g} to {better} by {high:.3g}"
    else:
        low, high = sorted((abs(low), abs(high)))
        interval = f"{percent} interval {low:.3g} to {high:.3g}"
    way = worse if verdict.gain.estimate < 0 else better
    return f"{way} by {abs(verdict.gain.estimate):.3g} ({interval}){tail}"


def directions(metric: "CostMetric", by_runtime: bool | None = None) -> tuple[str, str]:
    """Words for better and worse."""
    if metric.needs_runtime if by_runtime is None else by_runtime:
        return "faster", "slower"
    return ("higher", "lower") if metric.maximise else ("lower", "higher")


def times(ratio: float, better: str, worse: str) -> str:
    """Format a ratio: "2.7 times faster", "1.3 times slower"."""
    if abs(ratio - 1) < _EQUALITY_MARGIN:
        share = f"{abs(ratio - 1):.1%}"
        return "the same" if share == "0.0%" else f"{share} {better if ratio > 1 else worse}"
    if ratio >= 1:
        return f"{ratio:.3g} times {better}"
    return f"{_inverse(ratio):.3g} times {worse}"


def _within(ratio: "Interval", better: str, worse: str, percent: str) -> str:
    """Format the interval; if it includes 1, each end names its direction."""
    low, high = ratio.low, ratio.high
    if low <= 0 and math.isinf(high):
        return "no interval"
    if low < 1 < high:
        return f"{percent} interval {_end(low, better, worse)} to {_end(high, better, worse)}"
    if ratio.estimate < 1:
        low, high = _inverse(high), _inverse(low)
    if math.isinf(high):
        return f"{percent} interval {low:.3g} or more"
    return f"{percent} interval {low:.3g} to {high:.3g}"


def _end(ratio: float, better: str, worse: str) -> str:
    if ratio <= 0 or math.isinf(ratio):
        return f"arbitrarily {better if ratio > 1 else worse}"
    return times(ratio, better, worse)


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else math.inf
