"""Tables and sentences that compare our numbers with the published ones."""

from collections.abc import Iterator, Sequence

from paramhs_paper.landscapes import FitnessPoint
from paramhs_paper.points import Delta, Point
from paramhs_paper.scenarios import HEURISTICS, SCENARIOS, TIES
from paramhs_paper.statistics import delta_error, mean_square, verdict
from paramhs_paper.writing import markdown, number

_MIN_GAP = 3.0  # standard errors at which a single point is named


def fitness_summary(points: Sequence[FitnessPoint]) -> str:
    """Figure 1 of the heuristics."""

    def row(name: str) -> list[str]:
        own = [p for p in points if p.scenario == name]
        best = max(own, key=lambda p: p.exact_mean)
        gaps = {p.value: p.published - p.exact_mean for p in own if p.published is not None}
        worst = max(gaps, key=lambda value: abs(gaps[value]))
        zs = [p.z_published for p in own if p.z_published is not None]
        scenario = HEURISTICS[name]
        return [
            scenario.title,
            f"{scenario.symbol} = {best.value:g}",
            f"{best.exact_mean:.4f}",
            f"{gaps[worst]:+.3f}, at {worst:g}",
            f"{mean_square(zs):.1f} over {len(zs)} points",
            f"{max(map(abs, zs)):.1f}",
        ]

    headings = ("scenario", "best", "exact mean", "largest gap", "mean z^2", "largest abs. z")
    names = dict.fromkeys(p.scenario for p in points)
    return _text(markdown(headings, map(row, names)))


def calls_summary(points: Sequence[Point], deltas: Sequence[Delta]) -> str:
    """Figure 2: every curve, open questions, single points, and Cliff's deltas."""

    def lines() -> Iterator[str]:
        yield from _curves(points)
        yield from _far_points(points)
        yield from _deltas(deltas)

    return _text(lines())


def _text(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"


def _curves(points: Sequence[Point]) -> Iterator[str]:
    def row(own: Sequence[Point]) -> list[str]:
        first, last = own[0], own[-1]
        scenario = SCENARIOS[first.scenario]
        zs = [p.z_published for p in own if p.z_published is not None]
        square, never = mean_square(zs), max(p.never or 0.0 for p in own)
        judged = "" if square is None else verdict(square, len(zs), never, scenario.repetitions)
        return [
            first.scenario,
            curve_name(first),
            number(square),
            judged,
            number(mean_square(p.z_searched for p in own)),
            *(f"{number(p.mean)}, {number(p.published)}" for p in (first, last)),
            number(last.never) if last.never else "",
        ]

    headings = ["scenario", "curve", "z^2, published", "verdict", "z^2, searched"]
    headings += ["smallest: ours, published", "largest: ours, published", "never ends"]
    yield from markdown(headings, map(row, grouped(points)))


def curve_name(point: Point) -> str:
    """Name of a curve, with the reading where the paper is open to several."""
    others = SCENARIOS[point.scenario].others
    if any((c.configurator, c.operator) == (point.configurator, point.operator) for c in others):
        return f"{point.curve}, " + (f"l = {point.l}" if point.l else f"ties: {point.ties}")
    return point.curve


def grouped(points: Sequence[Point]) -> list[list[Point]]:
    """Points grouped by scenario and curve."""
    groups: dict[object, list[Point]] = {}
    for p in points:
        groups.setdefault((p.scenario, p.curve, p.l, p.ties), []).append(p)
    return list(groups.values())


def _far_points(points: Sequence[Point]) -> Iterator[str]:
    """Points far off, in curves that agree on the whole or might."""
    far = [
        p
        for p in points
        if p.scenario in HEURISTICS and p.z_published is not None and abs(p.z_published) > _MIN_GAP
    ]
    if far:
        yield f"Single points of the heuristics more than {_MIN_GAP:g} standard errors off:"
        yield ""
        headings = ("scenario", "curve", "values", "published", "exact", "z")
        yield from markdown(
            headings,
            (
                (
                    p.scenario,
                    curve_name(p),
                    p.size,
                    number(p.published),
                    number(p.exact_mean),
                    f"{p.z_published:+.1f}",
                )
                for p in far
            ),
        )


def _deltas(deltas: Sequence[Delta]) -> Iterator[str]:
    def row(name: str, pair: tuple[str, str]) -> list[str]:
        own = [d for d in deltas if (d.scenario, d.first, d.second) == (name, *pair)]
        gaps = _gaps(own)
        tested = [d for d in own if d.significant is not None]
        same = sum(d.significant == (d.published is not None) for d in tested)
        return [
            name,
            " against ".join(pair),
            f"{len(gaps)} of {len(own)}",
            f"{sum(gaps) / len(gaps):+.3f}" if gaps else "",
            f"{sum(map(abs, gaps)) / len(gaps):.3f}" if gaps else "",
            f"{same} of {len(tested)}" if tested else "",
        ]

    pairs = dict.fromkeys((d.scenario, (d.first, d.second)) for d in deltas)
    headings = ["scenario", "pair", "published", "mean of ours - published", "mean absolute"]
    headings += ["significance as in the paper"]
    yield from markdown(headings, (row(name, pair) for name, pair in pairs))
    far = [d for d in deltas if _far(d)]
    for d in far:
        yield (
            f"- {d.scenario}, {d.first} against {d.second}, {d.size}: published {d.published:.3f},"
            f" ours {d.ours:.3f}, more than {_MIN_GAP:g} standard errors apart."
        )


def _gaps(deltas: Sequence[Delta]) -> list[float]:
    return [d.ours - d.published for d in deltas if d.ours is not None and d.published is not None]


def _far(d: Delta) -> bool:
    error = delta_error(SCENARIOS[d.scenario].repetitions)
    return d.scenario in HEURISTICS and any(abs(gap) > _MIN_GAP * error for gap in _gaps([d]))


def ties_summary(points: Sequence[Point]) -> str:
    """Rules for ties in ParamILS with the harmonic order, against the published means."""
    own = [p for p in points if p.scenario in HEURISTICS and p.curve == "paramils/harmonic"]
    names = list(dict.fromkeys(p.scenario for p in own))

    def row(rule: str) -> list[str]:
        of_rule = [p for p in own if p.ties == rule]
        cells = []
        for name in names:
            group = [p for p in of_rule if p.scenario == name]
            square = mean_square(p.z_published for p in group)
            cells.append(f"{number(square)} ({number(group[-1].mean)})")
        total = sum(p.z_published**2 for p in of_rule if p.z_published is not None)
        return [rule, *cells, f"{total:.1f} over {len(of_rule)} points"]

    headings = ("kept if they tie", *(f"{name}: z^2 (mean at 50)" for name in names), "chi-square")
    rules = [rule for rule in TIES if any(p.ties == rule for p in own)]
    return _text(markdown(headings, map(row, rules)))


def readings_summary(points: Sequence[Point]) -> str:
    """Two readings of the harmonic step: one value, or both sides in turn."""
    names = [name for name in HEURISTICS if any(p.scenario == name for p in points)]

    def chi_square(name: str, operator: str) -> str:
        zs = [
            p.z_published or 0.0
            for p in points
            if (p.scenario, p.configurator, p.operator) == (name, "paramrls", operator)
        ]
        return f"{sum(z * z for z in zs):.1f}"

    rows = (
        (title, *(chi_square(name, operator) for name in names))
        for title, operator in (("one value", "harmonic"), ("both sides", "harmonic-both-sides"))
    )
    return _text(markdown(("reading", *names), rows))
