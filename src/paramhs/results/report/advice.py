"""What to do next, given how a search ended."""

from collections.abc import Iterator

from paramhs.results.report.material import Material
from paramhs.results.verdict import LEAST_INSTANCES, Verdict
from paramhs.values.wording import counted

_LATE = 0.7  # the part of a search after which a new incumbent is late
_WIDE = 1.5  # the ratio of the ends of an interval from which it is wide


def advice(material: Material) -> list[str]:
    """Sentences, the most useful first."""
    if material.running:
        return ["The search is running: what follows is how things stand, and may change."]
    if not material.trajectory:
        return ["No run has ended yet."]
    first = [material.challenger] if material.challenger else []
    return [*first, *_advice(material)]


def _advice(material: Material) -> list[str]:
    if material.best == material.default:
        return list(_kept(material))
    if material.verdict is None:
        return list(_unproven(material))
    return list(_proven(material, material.verdict))


def _proven(material: Material, verdict: Verdict) -> Iterator[str]:
    if verdict.conclusion == "better":
        where = "its command is above" if material.command else "its values are below"
        yield f"Use it: {where}, ready to copy."
    elif verdict.conclusion == "worse":
        yield "Keep the default: what the search found does not hold on the test set."
    else:
        yield "Keep the default for now: no difference is proven."
    if verdict.conclusion != "better" and _few(verdict):
        yield (
            f"Get more instances: {counted(verdict.instances, 'instance')} in the test set cannot"
            " prove a difference, however clear it is."
            if verdict.case == "run"
            else "Get more instances for the test set: the interval is wide."
        )
    if _is_late(material):
        yield (
            "Extend the budget: the last incumbent was found late in the search, so more may be"
            " found. The same command with a larger budget goes on where it was."
        )
    if verdict.conclusion == "better":
        yield from _simpler(material)


def _simpler(material: Material) -> Iterator[str]:
    made, simplify = material.simplified, material.calls.get("simplify")
    if made is None or made.ablation.best != material.best:
        if simplify:
            yield f"See which changes matter: {simplify}"
    elif made.kept is not None and len(made.changes) < len(made.ablation.changes):
        some = f"{len(made.changes):,} of the {len(made.ablation.changes):,} changes"
        yield f"Or use the simplified best (below): {some} keep {made.kept:.0%} of the gain."


def _few(verdict: Verdict) -> bool:
    if verdict.instances < LEAST_INSTANCES:
        return True
    ratio = verdict.ratio
    return ratio is not None and ratio.low > 0 and ratio.high / ratio.low > _WIDE


def _unproven(material: Material) -> Iterator[str]:
    yield "Do not rely on it yet: there is no verdict on runs that the search has not chosen by."
    validate = material.calls.get("validate")
    if validate:
        yield f"Get one: {validate}"
    if _is_late(material):
        yield "Or extend the budget first: the last incumbent was found late in the search."


def _kept(material: Material) -> Iterator[str]:
    yield "Keep the default: nothing that was tried is better."
    tried = len(material.history.configs) - 1
    space = material.history.scenario.space
    size = space.size()
    if size is not None and tried >= size - 1:
        yield "All of the space was tried; only a wider one can hold something better."
        return
    yield (
        f"Extend the budget: {counted(tried, 'challenger')} met the default so far"
        f"{'' if size is None else f', of {size - 1:,}'}."
    )


def _is_late(material: Material) -> bool:
    points, total = material.trajectory, len(material.asked)
    return len(points) > 1 and points[-1].runs > _LATE * total
