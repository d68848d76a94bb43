"""Next steps after a search: commands if it has a scenario file, else lines of Python."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from paramhs.analysis.front import Front
from paramhs.core.description import IMPORTED
from paramhs.core.runs import NO_INSTANCE
from paramhs.core.space.from_description import without_objects
from paramhs.formats.scenario.near import scenario_of
from paramhs.report.result import Result


def next_steps(
    result: Result, scenario: Path | None = None, program: str = "paramhs"
) -> Mapping[str, str]:
    """Commands to run next, ready to paste, by purpose; empty without a store.

    Args:
        result: The search.
        scenario: Its scenario file, if it is known.
        program: Name under which the command line was called.
    """
    if result.store is None or IMPORTED in result.record.target:
        return {}
    if scenario is None and not _has_scenario(result):
        return _in_python(result, result.store)
    if result.front is not None:
        words = ["show", str(result.store), "--pick", _bound(result.front)]
        return {"pick": f"{program} {shlex.join(words)}"}
    store, file = str(result.store), str(scenario or "SCENARIO.toml")
    return {
        "simplify": f"{program} {shlex.join(['simplify', store])}",
        "validate": f"{program} {shlex.join(['validate', file, '--store', store])}",
    }


def _bound(front: Front) -> str:
    """An example of a bound, on the last cost: the default's own mean."""
    name, metric = list(front.metric.by_name.items())[-1]
    return f"{name} {'>=' if metric.maximise else '<='} {front.default.costs[name]:.3g}"


def _has_scenario(result: Result) -> bool:
    """Whether a scenario file near the store describes its search."""
    target = result.record.target
    if not target.keys() & {"command", "function"} or result.store is None:
        return False
    found = scenario_of(result.store)
    if found is None:
        return False
    return "command" in target or found.target.describe().get("function") == target["function"]


def _in_python(result: Result, store: Path) -> Mapping[str, str]:
    target = re.split(r"[.:]", str(result.record.target.get("function", "target")))[-1]
    function = target if target.isidentifier() else "target"
    if result.front is not None:
        return {"pick": f"paramhs.load({str(store)!r}).front.pick({_bound(result.front)!r})"}
    on = "" if result.scenario.instances == (NO_INSTANCE,) else ", instances=instances"
    objects = ", space=space" if without_objects(result.space) else ""
    steps = {
        "simplify": f"paramhs.simplify({function}, paramhs.load({str(store)!r}{objects}){on},"
        f" store={str(store)!r})"
    }
    if on or not result.scenario.deterministic:
        steps["validate"] = (
            f"paramhs.validate({function}, space, [{result.default.as_dict()!r},"
            f" {result.best.as_dict()!r}]{on})"
        )
    return steps
