"""irace's log, `irace.Rdata`: parameters, configurations, and every experiment in order.

The cost of an experiment is in the matrix `experiments` (a row for each instance and seed, a column
for each configuration); `experimentLog` has the order, the time and the bound. Where irace cut runs
short (capping), the time is the cost, and a run that reached a bound below `boundMax` is censored.

Source: Lopez-Ibanez et al., The irace package: User Guide, "irace log file".
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paramhs.core.costs import CostMetric, Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import Status
from paramhs.core.space import Space
from paramhs.core.text.numbers import printable
from paramhs.formats.imports.other_search import (
    OtherRun,
    OtherSearch,
    Step,
    Values,
    first_usable,
)
from paramhs.formats.imports.r_data import Expression, Table, read_r_data
from paramhs.formats.space_files.irace_reader import read_irace

_MAGIC = (b"\x1f\x8b", b"RDX", b"BZh", b"\xfd7zXZ")


def is_r_data(path: Path) -> bool:
    """Whether a file begins as R's serialised data do."""
    with path.open("rb") as file:
        return file.read(6).startswith(_MAGIC)


def read_irace_log(path: Path) -> OtherSearch:
    """Read a log of irace 3 or 4."""
    found = read_r_data(path)
    results = found.get("iraceResults")
    if not isinstance(results, Mapping):
        raise BadInput(f"{printable(str(path))} is no log of irace: it has no iraceResults")
    try:
        return _search(path, results)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        version = _one(results.get("irace.version") or results.get("irace_version"), "unknown")
        raise BadInput(
            f"{printable(str(path))}: the log of irace {version} is not as expected"
            f" ({type(error).__name__}: {error}); logs of irace 3 are known"
        ) from error


def _one(thing: Any, otherwise: Any = None) -> Any:
    """The element of a vector of length one."""
    return thing[0] if isinstance(thing, list) and thing and thing[0] is not None else otherwise


def _search(path: Path, results: Mapping[str, Any]) -> OtherSearch:
    scenario, state = results["scenario"], results["state"]
    log = results.get("experimentLog") or state["experiment_log"]
    parameters = results.get("parameters") or scenario["parameters"]
    space = _space(path, parameters)
    table = results["allConfigurations"]
    configs = [_values(table, row, space) for row in range(len(table[".ID."]))]
    numbered = {int(number): k for k, number in enumerate(table[".ID."])}
    pairs = _pairs(scenario, state)
    metric, cutoff = _metric(scenario)
    capped = isinstance(metric, Runtime)
    runs = [
        _run(results["experiments"], row, numbered, pairs, cutoff if capped else None)
        for row in _rows(log)
    ]
    version = str(_one(results.get("irace.version") or results.get("irace_version"), ""))
    names = dict.fromkeys(name for name, _ in pairs)
    first = first_usable(runs)
    return OtherSearch(
        f"irace {version}".strip(),
        space,
        configs[first],
        configs,
        runs,
        [Step(first, 0), *_steps(results, _rows(log), numbered)],
        list(dict.fromkeys([*names, *(run.instance for run in runs)])),
        metric,
        cutoff if capped else math.inf,
        bool(_one(scenario.get("deterministic"), False)),
        int(_one(scenario.get("seed"), 0)),
        ["the default is the first configuration that did not fail"],
    )


def _rows(log: Any) -> list[dict[str, Any]]:
    """Rows of the experiment log, a matrix in irace 3 and a data frame in irace 4."""
    if isinstance(log, Table):
        log = {name: log.column(name) for name in log.columns or ()}
    return [dict(zip(log, row, strict=True)) for row in zip(*log.values(), strict=True)]


def _space(path: Path, parameters: Mapping[str, Any]) -> Space:
    """The space, by way of the text that irace itself reads."""
    domains = parameters.get("domain") or parameters["domains"]
    lines = []
    for name in parameters["names"]:
        kind, transform = parameters["types"][name], _transform(parameters["transform"][name])
        inside = ", ".join(map(_written, _listed(domains[name])))
        condition = _condition(parameters["conditions"].get(name))
        lines.append(f'{name} "" {kind}{transform} ({inside}){condition}')
    return read_irace(path, "\n".join(lines) + "\n")[0]


def _listed(domain: Any) -> list[Any]:
    return list(domain.values()) if isinstance(domain, Mapping) else list(domain)


def _transform(transform: Any) -> str:
    return ",log" if "log" in (transform if isinstance(transform, list) else [transform]) else ""


def _written(value: Any) -> str:
    if isinstance(value, Expression):
        return f'"{value.text}"'
    if isinstance(value, str):
        return f'"{value}"'
    return str(int(value)) if float(value).is_integer() else repr(value)


def _condition(condition: Any) -> str:
    found = _one(condition) if isinstance(condition, list) else condition
    return f" | {found.text}" if isinstance(found, Expression) else ""


def _values(table: Mapping[str, Any], row: int, space: Space) -> Values:
    """Values of one configuration; NA stands for a parameter that is not active."""
    return {
        name: table[name][row]
        for name in space.parameters
        if name in table and table[name][row] is not None
    }


def _pairs(scenario: Mapping[str, Any], state: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Name and seed of each row of the matrix of experiments."""
    listed = (state.get(".irace") or {}).get("instancesList") or state["instances_log"]
    names = scenario["instances"]
    numbers = listed.get("instance") or listed["instanceID"]
    seeds = listed.get("seed") or [0] * len(numbers)
    return [
        (str(names[int(number) - 1]), int(seed or 0))
        for number, seed in zip(numbers, seeds, strict=True)
    ]


def _metric(scenario: Mapping[str, Any]) -> tuple[CostMetric, float]:
    """Runtime where irace caps runs, else the number that the target printed."""
    bound = _one(scenario.get("boundMax"))
    if _one(scenario.get("capping"), False) and bound:
        return Runtime(float(_one(scenario.get("boundPar"), 1.0))), float(bound)
    return Quality(), math.inf


def _run(
    costs: Table,
    row: Mapping[str, Any],
    numbered: Mapping[int, int],
    pairs: list[tuple[str, int]],
    cutoff: float | None,
) -> OtherRun:
    name, seed = pairs[int(row["instance"]) - 1]
    place = (costs.columns or []).index(str(int(row["configuration"])))
    cost = costs.values[place][int(row["instance"]) - 1]
    config, seconds = numbered[int(row["configuration"])], float(row.get("time") or 0.0)
    if cost is None or math.isinf(cost):
        status = Status.CRASHED
        return OtherRun(config, name, seed, status, seconds, None, cutoff or math.inf,
                        detail="irace rejected it")  # fmt: skip
    if cutoff is None:
        return OtherRun(config, name, seed, Status.OK, seconds, float(cost))
    # irace runs a configuration with a bound that may be smaller than the scenario's. A run that
    # reached such a bound was capped; only the scenario's makes a timeout.
    bound = min(float(row.get("bound") or cutoff), cutoff)
    status = Status.OK
    if seconds >= bound or cost > bound:
        status = Status.TIMEOUT if bound >= cutoff else Status.CAPPED
    return OtherRun(config, name, seed, status, min(seconds, bound), None, bound)


def _steps(
    results: Mapping[str, Any], rows: list[dict[str, Any]], numbered: Mapping[int, int]
) -> list[Step]:
    """The best configuration of each iteration."""
    steps = []
    for iteration, elite in enumerate(results.get("iterationElites") or [], 1):
        made = sum(int(row["iteration"]) <= iteration for row in rows)
        if elite is not None:
            steps.append(Step(numbered[int(elite)], made))
    return steps
