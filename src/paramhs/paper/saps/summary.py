"""What the SAPS scenario shows, in words."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paramhs.landscape.outcomes import Array
from paramhs.paper import published
from paramhs.paper.saps.choices import Choice, measured_costs, table_of
from paramhs.paper.saps.grid import PS, STEPS, WP
from paramhs.paper.saps.ranking import (
    AGGREGATIONS,
    POSSIBLE,
    Aggregation,
    Costs,
    aggregated,
    barriers,
    five_best,
    local_optima,
    ties,
)
from paramhs.paper.saps.study import verdict
from paramhs.paper.saps.table import QUALITIES, Landscape
from paramhs.paper.saps.tuning import CURVES, FEW_REPETITIONS, PATIENCE, Delta, Point
from paramhs.paper.scenarios import Curve

_DELTA_ERROR = 0.036  # of Cliff's delta between two samples of 500

_WHY = (
    "The barrier below 32/15 is no noise but the work of UBCSAT's threshold, by which only a score"
    " below -0.1 is an improvement. A flip that satisfies a clause of weight alpha and breaks two"
    " of weight 1 scores 2 - alpha, which is negative and yet not below -0.1 where alpha is between"
    " 2 and 2.1. On fuzz_100_16905 (rho = 4/15, ubcsat smoothing, 200 runs each) the mean is 340 ±"
    " 2 at alpha = 1.99, 380 ± 3 at 2, 383 ± 3 at 2.099 and 359 ± 2 at 2.101. Likewise above 3: 435"
    " ± 2 at 2.99, 465 ± 3 at 3, 476 ± 4 at 3.09 and 459 ± 2 at 3.11, which is why 45/15 is the"
    " worst. With the threshold moved to -0.02 these windows end at 2.02 and 3.02: the mean falls"
    " from 394 ± 3 to 351 ± 2 at 2.05, and from 485 ± 3 to 453 ± 3 at 3.03, while at 2.01 and 3.01"
    " it does not."
)


def _lines(parts: Callable[[], Iterator[str]]) -> str:
    return "\n".join(parts()) + "\n"


def landscape_summary(
    landscape: Landscape, aggregation: Aggregation, costs: Costs, chance: Array
) -> str:
    """Figure 1 in words, as Markdown."""

    def place(flat: int) -> str:
        alpha, rho = divmod(flat, len(landscape.rhos))
        return f"({landscape.alphas[alpha]}, {landscape.rhos[rho]})"

    def parts() -> Iterator[str]:
        yield f"# Figure 1, SAPS with {landscape.smoothing} smoothing"
        yield ""
        yield from _measured(landscape)
        yield from _ranked(costs, chance, aggregation, place)
        yield from _five_bests(landscape, place)
        yield from _obstacles(costs, landscape.alphas, place)

    return _lines(parts)


def _measured(landscape: Landscape) -> Iterator[str]:
    count = len(landscape.instances)
    settings = len(landscape.alphas) * len(landscape.rhos)
    yield (
        f"Measured: {settings} settings on {count} instances, {landscape.runs_text} runs a cell"
        f" (the paper had 2,000) of {STEPS:,} steps, ps = {PS}, wp = {WP}. Settings are written"
        " (alpha, rho) in fifteenths. The cost of a run is its fewest false clauses (*best*), or"
        " those after its last step (*final*)."
    )
    yield (
        "Over the instances the plain mean is taken; normalised, each instance is first divided by"
        " its mean over all settings, as otherwise the largest count most:"
    )
    share = landscape.mean["best"].mean(axis=(1, 2))
    order = np.argsort(-share)
    yield (
        ", ".join(f"{landscape.instances[i]} {100 * share[i] / share.sum():.0f} %" for i in order)
        + " of the plain mean."
    )
    yield ""


def _ranked(
    costs: Costs, chance: Array, aggregation: Aggregation, place: Callable[[int], str]
) -> Iterator[str]:
    mean, error, flat = costs.mean.ravel(), costs.error.ravel(), chance.ravel()
    yield f"The five best by the {aggregation} mean of best, with standard errors, and how often a"
    yield "table redrawn within all standard errors has them among its five best:"
    yield ""
    yield "| setting | cost | chance |"
    yield "|---|---|---|"
    for k in five_best(costs.mean):
        yield f"| {place(k)} | {mean[k]:.3f} ± {error[k]:.3f} | {100 * flat[k]:.0f} % |"
    yield ""
    others = [int(k) for k in np.argsort(-flat, kind="stable") if flat[k] >= POSSIBLE]
    outside = [k for k in others if k not in five_best(costs.mean)]
    yield (
        f"{len(others)} settings cannot be told from the five best (chance of at least"
        f" {100 * POSSIBLE:.0f} %)"
        + (
            "; besides the five: " + ", ".join(f"{place(k)} {100 * flat[k]:.0f} %" for k in outside)
            if outside
            else ""
        )
        + "."
    )
    worst = int(np.argmax(mean))
    yield f"The worst is {place(worst)} with {mean[worst]:.3f}."
    yield ""


def _five_bests(landscape: Landscape, place: Callable[[int], str]) -> Iterator[str]:
    yield "| aggregation | quality | five best |"
    yield "|---|---|---|"
    low = True
    for aggregation in AGGREGATIONS:
        for quality in QUALITIES:
            best = five_best(aggregated(landscape, aggregation, quality).mean)
            low &= all(landscape.alphas[k // len(landscape.rhos)] <= 18 for k in best)
            yield f"| {aggregation} | {quality} | {' '.join(map(place, best))} |"
    for i, name in enumerate(landscape.instances):
        best = five_best(landscape.mean["best"][i])
        yield f"| {name} alone | best | {' '.join(map(place, best))} |"
    yield ""
    words = "holds" if low else "does not hold"
    yield (
        f"That all five best have alpha <= 18/15, as the paper says, {words} for every aggregation"
        " and quality."
    )
    yield ""


def _obstacles(costs: Costs, alphas: Sequence[int], place: Callable[[int], str]) -> Iterator[str]:
    best = five_best(costs.mean)
    stuck = [k for k in local_optima(costs.mean) if k not in best]
    if stuck:
        yield (
            "Strict local optima of single steps besides the five best, where a 1-step search on"
            f" this table stays for ever: {' '.join(map(place, stuck))}."
        )
    for barrier in barriers(costs):
        above, below = alphas[barrier.alpha], alphas[barrier.alpha - 1]
        yield (
            f"- From alpha = {above}/15 down to {below}/15 the cost rises at every rho, by at least"
            f" {barrier.rise:.3g} ({barrier.errors:.1f} standard errors)."
        )
    if any(alphas[b.alpha] == 32 for b in barriers(costs)):
        yield _WHY


def calls_summary(choice: Choice, points: Sequence[Point], deltas: Sequence[Delta]) -> str:
    """Figure 2 in words, as Markdown."""

    def parts() -> Iterator[str]:
        yield f"# Figure 2, SAPS: calls until one of the five best is sampled ({choice.name})"
        yield ""
        yield from _how(points, ties(table_of(choice)))
        yield from _curves(points)
        yield from _traps(choice, points)
        yield from _deltas(deltas)

    return _lines(parts)


def _how(points: Sequence[Point], equal: int) -> Iterator[str]:
    searched = max(point.repetitions for point in points)
    yield f"Published: {published.source()}; means of {published.SAPS_REPETITIONS} searches."
    yield (
        "Comparisons go by the entries of our table; a fair coin decides between equal ones, of"
        f" which there are {equal} pairs that differ in one parameter. All means are exact; the"
        " standard deviation of ParamILS with the random order, which remembers what it tried, is"
        f" that of {searched:,} searches a point. z = (published - exact) / (s.d. / sqrt(500)), or"
        " with both errors where ties or local optima leave only searches. A curve"
        " *agrees* if chance explains its mean z^2 at 1 %, is *doubtful* up to 0.01 %."
    )
    yield ""


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
            "" if square is None else verdict(square, len(zs)),
            *(f"{_number(own[n].mean)}, {_number(own[n].published)}" for n in (first, last)),
            _number(own[last].never),
            _number(sum(searched) / len(searched) if searched else None),
        ]
        yield f"| {' | '.join(columns)} |"
    yield ""


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
    stuck = [k for k in local_optima(table_of(choice)) if k not in five_best(table_of(choice))]
    where = ", ".join(f"({16 + k // 16}, {k % 16})" for k in stuck)
    yield (
        "**The l-step is trapped.** With deterministic comparisons it stays for ever in a strict"
        f" local optimum: here {where}, in fifteenths. From {first.size} settings on the"
        f" probability of never ending is positive; at {last.size} it is {last.never:.2f}. Our"
        " means are those given that it ends. The paper says nothing of it, and its means grow"
        " without a kink, so its table seems to have had no such optimum."
    )
    others = [p for p in points if p.operator != "l-step" and p.never]
    yield "Other curves are trapped too." if others else "No other curve is ever trapped."
    rises = [b for b in barriers(measured_costs(choice)) if b.errors > 2]
    if rises:
        words = ", ".join(f"{16 + b.alpha}/15 ({b.errors:.1f} standard errors)" for b in rises)
        yield (
            f"More runs would not remove it: the cost rises at every rho below alpha = {words}."
            " Noise adds traps of its own, which differ between redrawn tables."
        )
    unfinished = [p for p in own if p.unfinished]
    if unfinished:
        p = unfinished[-1]
        yield (
            f"The real configurator at {p.size} settings: {p.unfinished} of {p.repetitions}"
            f" searches were given up after {PATIENCE:,} calls."
        )
    yield ""


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
    yield f"A delta between two samples of 500 has a standard error of about {_DELTA_ERROR}."


def runs_summary(points: Sequence[Point]) -> str:
    """Comparisons of fresh runs against table entries, as Markdown."""
    largest = max(point.size for point in points)
    shown = sorted({p.runs for p in points}, key=lambda runs: runs or 10**9)
    headings = ["the table" if runs is None else f"r = {runs:,}" for runs in shown]

    def cell(curve: Curve, runs: int | None) -> str:
        for p in points:
            if (p.configurator, p.operator, p.size, p.runs) == (*_key(curve), largest, runs):
                mean = "" if p.mean is None else f"{p.mean:,.1f}"
                return f"{mean} (never: {p.never:.2f})" if p.never else mean
        return ""

    def parts() -> Iterator[str]:
        yield "# Figure 2, SAPS: comparisons of fresh runs instead of table entries"
        yield ""
        yield (
            f"Mean calls at {largest} settings. Both sides make r fresh runs on every instance,"
            " drawn from the stored runs, and the smaller sum of fewest false clauses wins; the"
            " target remains the table's five best. ParamRLS is exact, ParamILS searched"
            f" {FEW_REPETITIONS} times a point."
        )
        yield ""
        yield f"| curve | {' | '.join(headings)} |"
        yield f"|---|{'---|' * len(headings)}"
        for curve in CURVES:
            yield f"| {curve.name} | {' | '.join(cell(curve, runs) for runs in shown)} |"
        yield ""
        yield (
            "Noise frees the l-step from the local optima of a table, but few runs make it wander,"
            " and many hold it behind a barrier that is real. The other curves lose little even"
            " with one run."
        )

    return _lines(parts)
