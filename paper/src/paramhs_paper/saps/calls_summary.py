"""The calls of the SAPS scenario (Figure 2), in words."""

from collections.abc import Iterable, Iterator, Sequence

from paramhs_paper import published
from paramhs_paper.saps.choices import Choice, measured_costs, table_of
from paramhs_paper.saps.ranking import depth, five_best, local_optima, real_barriers, ties
from paramhs_paper.saps.study import verdict
from paramhs_paper.saps.tuning import (
    CURVES,
    FEW_REPETITIONS,
    PATIENCE,
    RARE,
    Delta,
    Point,
)
from paramhs_paper.scenarios import Curve

_DELTA_ERROR = 0.036  # of Cliff's delta between two samples of 500


def calls_summary(choice: Choice, points: Sequence[Point], deltas: Sequence[Delta]) -> str:
    """Figure 2 in words, as Markdown."""

    def parts() -> Iterator[str]:
        yield f"# Figure 2, SAPS: calls until one of the five best is sampled ({choice.name})"
        yield ""
        yield from _how(points, ties(table_of(choice)))
        yield from _curves(points)
        yield from _traps(choice, points)
        yield from _deltas(deltas)

    return "\n".join(parts()) + "\n"


def _how(points: Sequence[Point], equal: int) -> Iterator[str]:
    searched = max(point.repetitions for point in points)
    yield f"Published: {published.source()}; means of {published.SAPS_REPETITIONS} searches."
    yield (
        "Comparisons go by the entries of our table; a fair coin decides between equal ones, of"
        f" which there are {equal} pairs that differ in one parameter. {_exactly(points)} The"
        " standard deviation of ParamILS with the random order, which remembers what it tried, is"
        f" that of {searched:,} searches a point. z = (published - ours) / (s.d. / sqrt(500)), with"
        " both errors where ours was searched. A curve *agrees* if chance explains its mean z^2 at"
        " 1 %, is *doubtful* up to 0.01 %."
    )
    yield ""


def _exactly(points: Sequence[Point]) -> str:
    searched = [p for p in points if p.exact_mean is None and p.searched_mean is not None]
    if not searched:
        return "All means are exact."
    names = dict.fromkeys(f"{p.configurator}/{p.operator}" for p in searched)
    return (
        f"Means are exact, but for {len(searched)} points of {' and '.join(names)}, where ties or"
        " local optima leave only searches."
    )


def _curves(points: Sequence[Point]) -> Iterator[str]:
    ends = sorted({point.size for point in points})
    first, last = ends[0], ends[-1]
    yield (
        f"| curve | z^2, published | verdict | at {first}: ours, published | at {last}: ours,"
        f" published | never ends, at {last} | z^2, searched |"
    )
    yield "|---|---|---|---|---|---|---|"
    for curve in CURVES:
        own = {p.size: p for p in points if (p.configurator, p.operator) == _key(curve)}
        zs = [p.z_published for p in own.values() if p.z_published is not None]
        square = sum(z * z for z in zs) / len(zs) if zs else None
        searched = [p.z_searched**2 for p in own.values() if p.z_searched is not None]
        columns = [
            curve.name,
            _number(square),
            "" if square is None else verdict(square, len(zs), _most_trapped(own.values())),
            *(f"{_number(own[n].mean)}, {_number(own[n].published)}" for n in (first, last)),
            _number(own[last].never),
            _number(sum(searched) / len(searched) if searched else None),
        ]
        yield f"| {' | '.join(columns)} |"
    yield ""


def _most_trapped(points: Iterable[Point]) -> float:
    return max(point.never or 0.0 for point in points)


def _key(curve: Curve) -> tuple[str, str]:
    return curve.configurator, curve.operator


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.2f}"


def _traps(choice: Choice, points: Sequence[Point]) -> Iterator[str]:
    """What becomes of the l-step."""
    own = [p for p in points if p.operator == "l-step" and p.never]
    if not own:
        yield "No search is trapped on this table."
        yield ""
        return
    first, last = own[0], own[-1]
    yield (
        "**The l-step is trapped.** With deterministic comparisons it stays for ever in a strict"
        f" local optimum: here {_where(choice)} (in fifteenths). From {first.size} settings on the"
        f" probability of never ending is positive; at {last.size} it is {last.never:.2f}. Our"
        " means are those given that it ends. In the paper every search ended: each of its means is"
        f" a whole number over {published.SAPS_REPETITIONS}. So its table had no such optimum, or"
        " its l-step had a way out that is not described."
    )
    others = [p for p in points if p.operator != "l-step" and p.never]
    yield "Other curves are trapped too." if others else "No other curve is ever trapped."
    rises = real_barriers(measured_costs(choice))
    if rises:
        words = ", ".join(f"{16 + b.alpha}/15 ({b.errors:.1f} standard errors)" for b in rises)
        yield (
            f"More runs would not remove all traps: the cost rises at every rho below alpha ="
            f" {words}. Noise adds traps of its own, which differ between redrawn tables."
        )
    unfinished = [p for p in own if p.unfinished]
    if unfinished:
        p = unfinished[-1]
        yield (
            f"The real configurator at {p.size} settings: {p.unfinished} of {p.repetitions}"
            f" searches were given up after {PATIENCE:,} calls."
        )
    yield ""


def _where(choice: Choice) -> str:
    """The traps, and whether they may be noise."""
    costs, table = measured_costs(choice), table_of(choice)
    above = {barrier.alpha for barrier in real_barriers(costs)}
    words = []
    for k in local_optima(table):
        if k not in five_best(table):
            alpha, rho = divmod(k, table.shape[1])
            why = f"{depth(costs, k):.1f} standard errors below its lowest neighbour"
            why = "above a barrier" if alpha in above else why
            words.append(f"({16 + alpha}, {rho}), {why}")
    return "; ".join(words)


def _deltas(deltas: Sequence[Delta]) -> Iterator[str]:
    yield "Cliff's delta (what never ends counts as slowest), over the published points:"
    yield ""
    yield "| pair | points | mean difference, ours - published | mean absolute |"
    yield "|---|---|---|---|"
    for pair in dict.fromkeys((d.first, d.second) for d in deltas):
        gaps = [
            d.ours - d.published
            for d in deltas
            if (d.first, d.second) == pair and d.ours is not None and d.published is not None
        ]
        if gaps:
            size = sum(map(abs, gaps)) / len(gaps)
            mean = sum(gaps) / len(gaps)
            yield f"| {' against '.join(pair)} | {len(gaps)} | {mean:+.3f} | {size:.3f} |"
    yield ""
    yield (
        f"A delta between two samples of 500 has a standard error of about {_DELTA_ERROR}. The"
        " paper gives a delta only where it is significant, which favours large ones."
    )


def runs_summary(points: Sequence[Point]) -> str:
    """Comparisons of fresh runs against table entries, as Markdown."""
    largest = max(point.size for point in points)
    shown = sorted({p.runs for p in points}, key=lambda runs: runs or 10**9)
    headings = ["the table" if runs is None else f"r = {runs:,}" for runs in shown]

    def cell(curve: Curve, runs: int | None) -> str:
        for p in points:
            if (p.configurator, p.operator, p.size, p.runs) == (*_key(curve), largest, runs):
                if p.mean is not None and p.mean > RARE:
                    return f"> {RARE:,}"
                mean = "" if p.mean is None else f"{p.mean:,.1f}"
                return f"{mean} (never: {p.never:.2f})" if p.never else mean
        return ""

    def parts() -> Iterator[str]:
        yield "# Figure 2, SAPS: comparisons of fresh runs instead of table entries"
        yield ""
        yield (
            f"Mean calls at {largest} settings. Both sides make r fresh runs on every instance,"
            " drawn from the stored runs with replacement, and the smaller sum of fewest false"
            " clauses wins; the target remains the table's five best. ParamRLS is exact for these"
            f" laws, ParamILS searched {FEW_REPETITIONS} times a point. A mean of more than"
            f" {RARE:,} calls rests on chances so small that the stored runs do not tell its"
            " size."
        )
        yield ""
        yield f"| curve | {' | '.join(headings)} |"
        yield f"|---|{'---|' * len(headings)}"
        for curve in CURVES:
            yield f"| {curve.name} | {' | '.join(cell(curve, runs) for runs in shown)} |"
        yield ""
        yield (
            "Noise frees the l-step from the local optima of a table, but few runs make it wander,"
            " and many hold it behind a barrier that is real."
        )
        more = {runs: _more_calls(points, largest, runs) for runs in shown if runs is not None}
        words = (f"{_spread(share)} with r = {runs:,}" for runs, share in more.items() if share)
        yield f"The other curves need more calls than on the table: {', '.join(words)}."

    return "\n".join(parts()) + "\n"


def _more_calls(points: Sequence[Point], size: int, runs: int) -> list[float]:
    """By what share the calls of each curve but the l-step grow when comparisons are of runs."""
    found = {(p.configurator, p.operator, p.runs): p.mean for p in points if p.size == size}
    pairs = [(found.get((*_key(c), runs)), found.get((*_key(c), None))) for c in CURVES[1:]]
    return [noisy / sure - 1 for noisy, sure in pairs if noisy and sure]


def _spread(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"
