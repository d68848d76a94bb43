"""Which published curves fit which choice of table, in words."""

from collections.abc import Iterator, Sequence
from statistics import median

from paramhs_paper.saps.choices import Choice
from paramhs_paper.saps.study import Fit, Kind
from paramhs_paper.saps.tuning import CURVES, FEW_REPETITIONS


def choices_summary(fits: Sequence[Fit]) -> str:
    """Which published curve agrees with which choice, as Markdown."""

    def parts() -> Iterator[str]:
        yield "# Figure 2, SAPS: what the paper leaves open"
        yield ""
        yield (
            "Mean z^2 of each published curve (28 sizes, 500 repetitions behind each mean) against"
            " each way to make the table; the target is any of that table's five best. About 1: the"
            " choice explains the curve; bold: chance explains it at 1 %. Means are exact, but for"
            f" ParamILS on tables with ties or local optima, which is searched {FEW_REPETITIONS}"
            " times a point, as is the standard deviation of its random order everywhere."
            " *Trapped*: the largest probability that the l-step never ends. Its z is for the mean"
            " given that it ends; but behind every published mean all searches ended, so a table"
            " that traps it does not agree, whatever z is."
        )
        yield ""
        yield from _fits(fits, "measured", "choice of table")
        yield (
            "Tables redrawn within the standard errors, each with its own five best: least, median"
            " and most mean z^2, and the range of the probability that the l-step is trapped."
            " (Errors are drawn independently, although those at the same alpha go together.)"
        )
        yield ""
        yield from _ranges(fits, "redrawn", "choice, redrawn")
        yield (
            "The tables as measured, with the five best of those redrawn ones as the target: how"
            " much depends on which five are looked for alone."
        )
        yield ""
        yield from _ranges(fits, "retargeted", "choice, other targets")
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


def _ranges(fits: Sequence[Fit], kind: Kind, title: str) -> Iterator[str]:
    own = [fit for fit in fits if fit.kind == kind]
    curves = [curve for curve in CURVES if curve.configurator == "paramrls"]
    yield f"| {title} | {' | '.join(curve.name for curve in curves)} | trapped |"
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
        yield f"- {curve.name}: {_of_curve([fit for fit in fits if fit.curve == curve])}."
    yield ""
    yield from _all_at_once(fits)


def _of_curve(fits: Sequence[Fit]) -> str:
    agreeing = [fit for fit in fits if fit.verdict == "agrees"]
    if agreeing:
        best = min(agreeing, key=lambda fit: fit.mean_square)
        which = f"best with {best.choice.name} ({best.kind}, mean z^2 {best.mean_square:.1f})"
        return f"agrees with {len(agreeing)} of {len(fits)} tables, {which}"
    ending = [fit for fit in fits if not fit.never]
    if not ending:
        least = min(fit.never for fit in fits)
        return f"agrees with none of {len(fits)}, which all trap it (probability >= {least:.2f})"
    best = min(ending, key=lambda fit: fit.mean_square)
    nearest = f"nearest is {best.choice.name} ({best.kind}), mean z^2 {best.mean_square:.1f}"
    return f"agrees with none of {len(fits)}; {nearest}"


def _all_at_once(fits: Sequence[Fit]) -> Iterator[str]:
    """Whether one table explains all curves."""
    whole = [fit for fit in fits if fit.kind in ("measured", "instance")]
    own = [fit for fit in whole if fit.curve.operator != "harmonic-both-sides"]
    trapping = {fit.choice for fit in own if fit.never}
    free = [fit for fit in own if fit.choice not in trapping]
    if free:
        yield _nearest(free, "all five curves")
    else:
        yield "Every table traps the l-step, so none explains all five curves."
    others = [fit for fit in own if fit.curve.operator != "l-step"]
    yield _nearest(others, "the four without the l-step")
    free_steps = [f for f in whole if f.curve.name not in ("paramrls/l-step", "paramrls/harmonic")]
    yield _nearest(free_steps, "these, with the harmonic step's other reading (both sides),")
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
