"""What the comparison with the published numbers says, in words."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from paramhs.paper import published
from paramhs.paper.exact import exact_calls
from paramhs.paper.scenarios import RUNS, SCENARIOS, Curve
from paramhs.paper.tables import CallsPoint, DeltaPoint, LandscapePoint

CAP = 1700  # calls at which the published l-step searches on Ridge seem to have been cut off
_FAR = 3.0  # standard errors from which a single point is named


def calls_summary(
    points: Sequence[CallsPoint], deltas: Sequence[DeltaPoint], runs: int = RUNS
) -> str:
    """Figure 2 in words, as Markdown; `runs` are those of each side in a comparison."""
    return "\n".join(_calls_lines(points, deltas, runs)) + "\n"


def _calls_lines(
    points: Sequence[CallsPoint], deltas: Sequence[DeltaPoint], runs: int
) -> Iterator[str]:
    yield "# Figure 2: published means against exact laws"
    yield ""
    yield f"Published: {published.source()}."
    yield "z = (published - exact) / (exact s.d. / sqrt(repetitions)); a model that is right has a"
    yield "mean squared z of about 1 (for ten points, below 2.1 in 98 of 100 cases)."
    yield ""
    yield "| scenario | configurator | operator | z^2, published | z^2, searched | verdict |"
    yield "|---|---|---|---|---|---|"
    for (scenario, configurator, operator), curve in _grouped(points).items():
        there = _mean_square([p.z_published for p in curve])
        searched = _mean_square([p.z_searched for p in curve])
        words = "" if there is None else _verdict(there, len(curve))
        yield (
            f"| {scenario} | {configurator} | {operator} | {_number(there)} | {_number(searched)} |"
            f" {words} |"
        )
    yield ""
    yield from _far_points(points)
    if runs == RUNS:
        yield from _censoring(points)
    yield from _outlier(points)
    yield from _no_freedom(points)
    yield from _readings(points)
    yield from _deltas(deltas)


def _grouped(points: Sequence[CallsPoint]) -> dict[tuple[str, str, str], list[CallsPoint]]:
    groups: dict[tuple[str, str, str], list[CallsPoint]] = defaultdict(list)
    for p in points:
        groups[p.scenario, p.configurator, p.operator].append(p)
    return groups


def _mean_square(zs: Sequence[float | None]) -> float | None:
    known = [z * z for z in zs if z is not None]
    return sum(known) / len(known) if known else None


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.2f}"


def _verdict(mean_square: float, count: int) -> str:
    """Against the law of a mean of squares of `count` standard normals."""
    from scipy.stats import chi2

    p = float(chi2.sf(mean_square * count, count))
    if p > 0.01:
        return "agrees"
    return "doubtful" if p > 1e-4 else "does not agree"


def _far_points(points: Sequence[CallsPoint]) -> Iterator[str]:
    far = [p for p in points if p.z_published is not None and abs(p.z_published) > _FAR]
    if far:
        yield f"Single points more than {_FAR:g} standard errors off:"
        for p in far:
            yield (
                f"- {p.scenario}, {p.configurator}/{p.operator}, {p.size} values: published"
                f" {p.published:.2f}, exact {p.exact_mean:.2f}, z = {p.z_published:+.1f}"
            )
        yield ""


def _censoring(points: Sequence[CallsPoint]) -> Iterator[str]:
    """The Ridge l-step means at 45 and 50 values, over the repetitions that finished."""
    key = ("ridge", "paramrls", "l-step")
    there = {p.size: p for p in points if (p.scenario, p.configurator, p.operator) == key}
    if not {45, 50} <= set(there):
        return
    yield (
        "Ridge, l-step, at 45 and 50 values: the published numbers are fractions of 197 and 189, so"
        f" 3 and 11 of 200 repetitions are missing. If searches were cut off at {CAP:,} calls:"
    )
    for size in (45, 50):
        law = exact_calls("ridge", Curve(*key[1:]), size)
        dropped = 200 * (1 - law.finished(CAP))
        yield (
            f"- {size} values: {dropped:.1f} of 200 would be missing, and the mean of the others"
            f" would be {law.capped(CAP).mean:.1f} (published {there[size].published:.1f},"
            f" uncensored {law.mean:.1f})"
        )
    yield ""


def _outlier(points: Sequence[CallsPoint]) -> Iterator[str]:
    """LeadingOnes, ParamILS with the harmonic order: one point is lower than its neighbours."""
    curve = _grouped(points).get(("leadingones", "paramils", "harmonic"), [])
    rest = _mean_square([p.z_published for p in curve if p.size != 35])
    if rest is None or len(curve) < 10:
        return
    yield (
        "LeadingOnes, ParamILS harmonic: the point at 35 values is published below that at 30,"
        " though more values cannot need fewer calls here; it looks like a slip. Without it the"
        f" curve's mean z^2 is {rest:.2f}."
    )
    yield ""


def _no_freedom(points: Sequence[CallsPoint]) -> Iterator[str]:
    """Where nothing is tried twice, the law is uniform whatever the landscape."""
    zs = [
        p.z_published
        for p in points
        if p.operator in ("random-without-replacement", "random") and p.z_published is not None
    ]
    if zs:
        yield (
            "Without replacement (ParamRLS, and ParamILS's random order) the number of calls is"
            " uniform on 0 .. values - 1 whatever the landscape and the comparisons, so a mean z^2"
            f" of {_mean_square(zs):.2f} over {len(zs)} points is not explained by anything a model"
            " could say: the published means scatter more than 200 independent repetitions do."
        )
        yield ""


def _readings(points: Sequence[CallsPoint]) -> Iterator[str]:
    """One value or both sides."""
    sums = {}
    for operator in ("harmonic", "harmonic-both-sides"):
        zs = [
            p.z_published
            for p in points
            if p.configurator == "paramrls" and p.operator == operator and p.z_published is not None
        ]
        sums[operator] = (sum(z * z for z in zs), len(zs))
    (one, count), (both, _) = sums["harmonic"], sums["harmonic-both-sides"]
    if count:
        yield (
            f"The harmonic step's two readings, over {count} points: chi-square {one:.0f} for one"
            f" value, {both:.0f} for both sides in turn; the data do not decide between them where"
            " these are close."
        )
        onemax = _grouped(points).get(("onemax", "paramrls", "harmonic"), [])
        low = sum(p.published is not None and p.published < p.exact_mean for p in onemax)
        if onemax:
            yield f"On OneMax {low} of {len(onemax)} published means lie below the first reading's."
        yield ""


def _deltas(deltas: Sequence[DeltaPoint]) -> Iterator[str]:
    known = [d for d in deltas if d.published is not None]
    if not known:
        return
    off = max(abs(d.exact - (d.published or 0.0)) for d in known)
    mean = sum(abs(d.exact - (d.published or 0.0)) for d in known) / len(known)
    yield (
        f"Cliff's delta: {len(known)} published values; the exact ones differ by {mean:.3f} on"
        f" average and {off:.3f} at most (a sample of 200 against 200 has a standard error of about"
        " 0.06)."
    )
    tested = [d for d in deltas if d.significant is not None]
    if tested:
        same = sum(d.significant == (d.published is not None) for d in tested)
        yield (
            f"Significance at 0.95 (two-sided Mann-Whitney U): {same} of {len(tested)} searched"
            " points agree with the paper's on whether there is a difference."
        )


def landscape_summary(points: Sequence[LandscapePoint]) -> str:
    """Figure 1 in words, as Markdown."""
    lines = ["# Figure 1: published mean fitness against exact means", ""]
    for name in dict.fromkeys(p.scenario for p in points):
        known = [p for p in points if p.scenario == name and p.published is not None]
        gaps = {p.value: (p.published or 0.0) - p.exact_mean for p in known}
        worst = max(gaps, key=lambda value: abs(gaps[value]))
        zs = [p.z_published for p in known if p.z_published is not None]
        best = max((p for p in points if p.scenario == name), key=lambda p: p.exact_mean)
        lines.append(
            f"- {SCENARIOS[name].title}: best {SCENARIOS[name].symbol} = {best.value:g}, exact mean"
            f" {best.exact_mean:.4f}. The largest gap is {gaps[worst]:+.3f}, at {worst:g}; mean z^2"
            f" {sum(z * z for z in zs) / len(zs):.1f} over {len(zs)} points."
        )
    lines += [
        "",
        "A mean z^2 far above 1 means that 10,000 runs do not explain the difference: the",
        "published means have some further source of error, small against the landscapes' heights.",
    ]
    return "\n".join(lines) + "\n"
