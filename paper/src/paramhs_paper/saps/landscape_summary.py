"""The measured landscape of SAPS (Figure 1), in words."""

from collections.abc import Callable, Iterator

import numpy as np

from paramhs.results.landscape.outcomes import Array
from paramhs_paper.saps.grid import PS, STEPS, WP
from paramhs_paper.saps.ranking import (
    AGGREGATIONS,
    POSSIBLE,
    Aggregation,
    Costs,
    aggregated,
    barriers,
    five_best,
    local_optima,
    real_barriers,
)
from paramhs_paper.saps.table import QUALITIES, Landscape

_NAMED = 10  # local optima that are named
_LOOKED_AT = "fuzz_100_16905"
_WHY = (
    "The barrier below 32/15 is no noise. It is part of a window that begins where alpha reaches a"
    f" whole number and ends 0.1 above. On {_LOOKED_AT} (rho = 4/15, ubcsat smoothing, 200 runs"
    " each) the mean is 340 ± 2 at alpha = 1.99, 380 ± 3 at 2, 399 ± 4 at 2.01, 383 ± 3 at 2.099"
    " and 359 ± 2 at 2.101; likewise 435 ± 2 at 2.99, 465 ± 3 at 3, 484 ± 4 at 3.01, 476 ± 4 at"
    " 3.09 and 459 ± 2 at 3.11, which is why 45/15 is the worst. UBCSAT's threshold, by which only"
    " a score below -0.1 is an improvement, makes the end: a flip that satisfies a clause of weight"
    " alpha and breaks two of weight 1 scores 2 - alpha. With the threshold moved to -0.02 the"
    " windows end at 2.02 and 3.02: the mean falls from 394 ± 3 to 351 ± 2 at 2.05, and from 485 ±"
    " 3 to 453 ± 3 at 3.03, while at 2.01 and 3.01 it stays. Why a window begins, we have not"
    " measured: among flips that score alike at a whole number, a larger alpha prefers those that"
    " break more."
)


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
        yield from _obstacles(costs, landscape, place)

    return "\n".join(parts()) + "\n"


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
    means = landscape.mean["best"].mean(axis=(1, 2))
    share = means / max(means.sum(), np.finfo(float).tiny)
    order = np.argsort(-share, kind="stable")
    parts = (f"{landscape.instances[i]} {100 * share[i]:.0f} %" for i in order)
    yield f"{', '.join(parts)} of the plain mean."
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
    yield (
        "Errors are redrawn independently. In truth the k-th runs of all settings on an instance"
        " share their random numbers, so errors at the same alpha go together, and the ranking"
        " along rho is somewhat surer than these chances say."
    )
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
        " and quality over all instances."
    )
    yield ""


def _obstacles(costs: Costs, landscape: Landscape, place: Callable[[int], str]) -> Iterator[str]:
    alphas, best = landscape.alphas, five_best(costs.mean)
    stuck = [k for k in local_optima(costs.mean) if k not in best]
    if stuck:
        yield (
            "Strict local optima of single steps besides the five best, where a 1-step search on"
            f" this table stays for ever: {' '.join(map(place, stuck[:_NAMED]))}"
            + (f" and {len(stuck) - _NAMED} more." if len(stuck) > _NAMED else ".")
        )
    for barrier in barriers(costs):
        above, below = alphas[barrier.alpha], alphas[barrier.alpha - 1]
        yield (
            f"- From alpha = {above}/15 down to {below}/15 the cost rises at every rho, by at least"
            f" {barrier.rise:.3g} and at least {barrier.errors:.1f} standard errors."
        )
    sure = any(alphas[barrier.alpha] == 32 for barrier in real_barriers(costs))
    if sure and landscape.smoothing == "ubcsat" and _LOOKED_AT in landscape.instances:
        yield _WHY
