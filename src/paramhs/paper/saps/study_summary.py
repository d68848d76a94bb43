"""Which published curves fit which choice of table, in words."""

from collections.abc import Iterator, Sequence
from statistics import median

from paramhs.paper.saps.choices import Choice
from paramhs.paper.saps.study import Fit, Kind
from paramhs.paper.saps.tuning import CURVES, FEW_REPETITIONS


def choices_summary(fits: Sequence[Fit]) -> str:
    """Which published curve agrees with which choice, as Markdown."""

    def parts() -> Iterator[str]:
        yield "# Figure 2, SAPS: what the paper leaves open"
        yield ""
        yield (
            "Mean z^2 of each published curve (28 sizes, 500 repetitions behind each mean) against"
            " each way to make the table; the target is any of that table's five best. About 1: the"
            " choice explains the curve; bold: chance explains it at 1 %. Means are exact, but for"
            " ParamILS on tables with ties or local optima, which is searched"
            f" {FEW_REPETITIONS} times a point. *Trapped*: the largest probability that the l-step"
            " never ends; its z is for the mean given that it ends."
        )
        yield ""
        yield from _fits(fits, "measured", "choice of table")
        yield from _redrawn(fits)
        yield from _fits(fits, "instance", "one instance alone")
        yield from _conclusion(fits)

    return "\n".join(parts()) + "\n"


def _fits(fits: Sequence[Fit], kind: Kind, title: str) -> Iterator[str]:
    own = [fit for fit in fits if fit.kind == kind]
    yield f"| {title} | {' | '.join(curve.name for curve in CURVES)} | trapped |"
    yield f"|---|{'---|' * (len(CURVES) + 1)}"
    for choice in dict.fromkeys(fit.choice for fit in own):
        by_curve = {fit.curve: fit for fit in own if fit.choice == choice}
        cells = [_cell(by_curve.get(curve)) for curve in CURVES]
        trapped = by_curve[CURVES[0]].never if CURVES[0] in by_curve else 1.0
        yield f"| {choice.name} | {' | '.join(cells)} | {trapped:.2f} |"
    yield ""


def _cell(fit: Fit | None) -> str:
    if fit is None:
        return ""
    text = f"{fit.mean_square:.1f}"
    return f"**{text}**" if fit.verdict == "agrees" else text


def _redrawn(fits: Sequence[Fit]) -> Iterator[str]:
    own = [fit for fit in fits if fit.kind == "redrawn"]
    curves = [curve for curve in CURVES if curve.configurator == "paramrls"]
    yield (
        "Tables redrawn within the standard errors, each with its own five best: least, median and"
        " most mean z^2, and the range of the probability that the l-step is trapped."
    )
    yield ""
    yield f"| choice, redrawn | {' | '.join(curve.name for curve in curves)} | trapped |"
    yield f"|---|{'---|' * (len(curves) + 1)}"
    for name in dict.fromkeys(fit.choice.name for fit in own):
        cells = []
        for curve in curves:
            group = [f for f in own if f.choice.name == name and f.curve == curve]
            squares = [fit.mean_square for fit in group]
            cells.append(f"{min(squares):.1f} .. {median(squares):.1f} .. {max(squares):.1f}")
            if curve == CURVES[0]:
                trapped = f"{min(f.never for f in group):.2f} .. {max(f.never for f in group):.2f}"
        yield f"| {name} | {' | '.join(cells)} | {trapped} |"
    yield ""


def _conclusion(fits: Sequence[Fit]) -> Iterator[str]:
    """For each curve, what fits it; nothing was tuned."""
    yield "Curve by curve, over all tables above (of so many, one may fit by chance):"
    for curve in CURVES:
        own = sorted((f for f in fits if f.curve == curve), key=lambda f: f.mean_square)
        agreeing = [fit for fit in own if fit.verdict == "agrees"]
        best = own[0]
        if agreeing:
            yield (
                f"- {curve.name}: agrees with {len(agreeing)} of {len(own)} tables, best with"
                f" {best.choice.name} ({best.kind}, mean z^2 {best.mean_square:.1f})."
            )
        else:
            yield (
                f"- {curve.name}: agrees with none of {len(own)}; nearest is {best.choice.name}"
                f" ({best.kind}), mean z^2 {best.mean_square:.1f}."
            )
    yield from _all_at_once(fits)


def _all_at_once(fits: Sequence[Fit]) -> Iterator[str]:
    """Whether one table explains all curves."""
    own = [f for f in fits if f.kind != "redrawn" and f.curve.operator != "harmonic-both-sides"]
    yield ""
    yield _nearest(own, "all five curves")
    others = [fit for fit in own if fit.curve.operator != "l-step"]
    yield _nearest(others, "the four without the l-step, which every table may trap,")
    yield "Nothing here was tuned to the published numbers; where no table fits, we know no reason."


def _nearest(fits: Sequence[Fit], curves: str) -> str:
    by_choice: dict[Choice, list[Fit]] = {}
    for fit in fits:
        by_choice.setdefault(fit.choice, []).append(fit)
    means = {c: sum(f.mean_square for f in own) / len(own) for c, own in by_choice.items()}
    best = min(means, key=lambda choice: means[choice])
    agreeing = [fit.curve.name for fit in by_choice[best] if fit.verdict == "agrees"]
    return (
        f"The table nearest to {curves} at once is {best.name}, with a mean z^2 of"
        f" {means[best]:.1f}; with it {_listed(agreeing)}."
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "no curve agrees"
    return f"{' and '.join(names)} {'agrees' if len(names) == 1 else 'agree'}"
