"""Next steps after a search, shown below the recommendation."""

from collections.abc import Iterator, Mapping

from paramhs.analysis.cases import MIN_INSTANCES
from paramhs.analysis.front import Front
from paramhs.analysis.verdict import Verdict
from paramhs.core.text.numbers import counted
from paramhs.report.result import Result

_LATE_SHARE = 0.7  # share of a search after which a new incumbent counts as late
_WIDE_RATIO = 1.5  # ratio of the ends of an interval that counts as wide


def advice(result: Result, calls: Mapping[str, str]) -> list[str]:
    """Advice as sentences, the most useful first; `calls` are commands to run next, by name."""
    return [*result.answers.warnings, *_advice(result, calls)]


def _advice(result: Result, calls: Mapping[str, str]) -> list[str]:
    if result.running:
        return ["The search is running: these results are preliminary."]
    if not result.trajectory:
        return ["No run has finished yet."]
    if result.front is not None and result.front.points:
        return [_point(result.front, calls)]
    if result.best == result.default:
        return list(_kept(result))
    if isinstance(result.verdict, Verdict):
        return list(_proven(result, result.verdict, calls))
    return list(_unproven(result, calls))


def _point(front: Front, calls: Mapping[str, str]) -> str:
    if not front.is_verdict:
        return "Do not rely on the points yet: there is no verdict on held-out runs."
    call = calls.get("pick")
    return f"Choose a point by a bound, such as: {call}" if call else "Choose a point."


def _proven(result: Result, verdict: Verdict, calls: Mapping[str, str]) -> Iterator[str]:
    if verdict.conclusion == "better":
        where = "its command is above" if result.command else "its values are below"
        yield f"Use the best: {where}, ready to copy."
    elif _few(verdict):
        yield (
            f"Get more instances: {counted(verdict.instances, 'instance')} in the test set"
            " cannot show a difference on others, however clear it is here."
            if verdict.about_these_only
            else "Get more instances for the test set: the interval is wide."
        )
    if _is_late(result):
        yield (
            "Extend the budget: the last incumbent was found late, so the search may improve"
            " further. Run the same command with a larger budget to continue it."
        )
    if verdict.conclusion == "better":
        yield from _simpler(result, calls)


def _simpler(result: Result, calls: Mapping[str, str]) -> Iterator[str]:
    made, simplify = result.simplified, calls.get("simplify")
    if made is None:
        if simplify:
            yield f"Find out which changes matter: {simplify}"
    elif made.kept is not None and len(made.changes) < len(made.ablation.changes):
        some = f"{len(made.changes):,} of the {len(made.ablation.changes):,} changes"
        yield f"Or use the simplified best (below): {some} keep {made.kept:.0%} of the gain."


def _few(verdict: Verdict) -> bool:
    if verdict.instances < MIN_INSTANCES:
        return True
    ratio = verdict.ratio
    return ratio is not None and ratio.low > 0 and ratio.high / ratio.low > _WIDE_RATIO


def _unproven(result: Result, calls: Mapping[str, str]) -> Iterator[str]:
    yield "Do not rely on the best yet: there is no verdict on held-out runs."
    validate = calls.get("validate")
    if validate:
        yield f"Get a verdict: {validate}"
    if _is_late(result):
        yield "Or extend the budget first: the last incumbent was found late."


def _kept(result: Result) -> Iterator[str]:
    tried = len(result.history.configs) - 1
    space = result.history.scenario.space
    size = space.size()
    if size is not None and tried >= size - 1:
        yield "Every configuration was tried; only a larger space can contain a better one."
        return
    yield (
        f"Extend the budget: {counted(tried, 'challenger')} raced the default so far"
        f"{'' if size is None else f', of {size - 1:,}'}."
    )


def _is_late(result: Result) -> bool:
    points, total = result.trajectory, len(result.runs)
    return len(points) > 1 and points[-1].runs > _LATE_SHARE * total
