"""Description of the measured landscape of SAPS (Figure 1)."""

from collections.abc import Callable, Iterator

import numpy as np

from paramhs.theory.outcomes import Array
from paramhs_paper.saps.measuring import PS, STEPS, WP
from paramhs_paper.saps.ranking import (
    AGGREGATIONS,
    MIN_PROBABILITY,
    Costs,
    aggregated,
    five_best,
)
from paramhs_paper.saps.table import QUALITIES, Landscape
from paramhs_paper.writing import markdown


def landscape_summary(landscape: Landscape, chance: Array) -> str:
    """Describe Figure 1 in Markdown."""
    costs = aggregated(landscape)

    def setting(flat: int) -> str:
        alpha, rho = divmod(flat, len(landscape.rhos))
        return f"({landscape.alphas[alpha]}, {landscape.rhos[rho]})"

    def parts() -> Iterator[str]:
        yield f"### Figure 1, SAPS with {landscape.smoothing} smoothing"
        yield ""
        yield from _measured(landscape)
        yield from _ranked(costs, chance, setting)
        yield from _five_bests(landscape, setting)

    return "\n".join(parts()) + "\n"


def _measured(landscape: Landscape) -> Iterator[str]:
    count = len(landscape.instances)
    settings = len(landscape.alphas) * len(landscape.rhos)
    yield (
        f"Measured: {settings} settings on {count} instances, {landscape.runs:,} runs a cell"
        f" (the paper had 2,000) of {STEPS:,} steps, ps = {PS}, wp = {WP}. Settings are written"
        " (alpha, rho) in fifteenths. The cost of a run is its fewest false clauses (*best*), or"
        " those after its last step (*final*)."
    )
    yield (
        "Over the instances the plain mean is taken; normalised, each instance is first divided by"
        " its mean over all settings, as otherwise the largest count most:"
    )
    means = landscape.mean["best"].mean(axis=(1, 2))
    share = means / max(means.sum(), np.finfo(float).tiny)
    order = np.argsort(-share, kind="stable")
    parts = (f"{landscape.instances[i]} {100 * share[i]:.0f} %" for i in order)
    yield f"{', '.join(parts)} of the plain mean."
    yield ""


def _ranked(costs: Costs, chance: Array, setting: Callable[[int], str]) -> Iterator[str]:
    mean, error, flat = costs.mean.ravel(), costs.error.ravel(), chance.ravel()
    yield "The five best by the plain mean of best, with standard errors, and how often a"
    yield "table redrawn within all standard errors has them among its five best:"
    yield ""
    yield from markdown(
        ("setting", "cost", "chance"),
        (
            (setting(k), f"{mean[k]:.3f} ± {error[k]:.3f}", f"{100 * flat[k]:.0f} %")
            for k in five_best(costs.mean)
        ),
    )
    others = [int(k) for k in np.argsort(-flat, kind="stable") if flat[k] >= MIN_PROBABILITY]
    outside = [k for k in others if k not in five_best(costs.mean)]
    yield (
        f"{len(others)} settings are not distinguishable from the five best (chance of at least"
        f" {100 * MIN_PROBABILITY:.0f} %)"
        + (
            "; besides the five: "
            + ", ".join(f"{setting(k)} {100 * flat[k]:.0f} %" for k in outside)
            if outside
            else ""
        )
        + "."
    )
    worst = int(np.argmax(mean))
    yield f"The worst is {setting(worst)} with {mean[worst]:.3f}."
    yield (
        "Errors are redrawn independently. In truth the k-th runs of all settings on an instance"
        " share their random numbers, so errors at the same alpha go together, and the ranking"
        " along rho is somewhat surer than these chances say."
    )
    yield ""


def _five_bests(landscape: Landscape, setting: Callable[[int], str]) -> Iterator[str]:
    best: dict[tuple[str, str], list[int]] = {
        (aggregation, quality): five_best(aggregated(landscape, aggregation, quality).mean)
        for aggregation in AGGREGATIONS
        for quality in QUALITIES
    }
    low = all(
        landscape.alphas[k // len(landscape.rhos)] <= 18 for five in best.values() for k in five
    )
    for i, name in enumerate(landscape.instances):
        best[f"{name} alone", "best"] = five_best(landscape.mean["best"][i])
    rows = ((*how, " ".join(map(setting, five))) for how, five in best.items())
    yield from markdown(("aggregation", "quality", "five best"), rows)
    words = "holds" if low else "does not hold"
    yield (
        f"That all five best have alpha <= 18/15, as the paper says, {words} for every aggregation"
        " and quality over all instances."
    )
    yield ""
