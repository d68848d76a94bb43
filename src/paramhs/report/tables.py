"""Tables of plain values about a search, for data frames and files.

The column of a parameter is called `config.NAME`; it is None where the parameter is inactive. The
numbers of one row are over the same runs; those of different rows may not be.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from paramhs.analysis.evidence import common_costs, steps
from paramhs.analysis.front import Front, share
from paramhs.analysis.solved_runs import failed_by_config
from paramhs.analysis.verdict import Verdict
from paramhs.core.errors import BadInput
from paramhs.core.runs import Point, Run, Status
from paramhs.core.scenario import Scenario
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config
from paramhs.core.text.numbers import finite
from paramhs.search.front import shown_means
from paramhs.search.history import History

if TYPE_CHECKING:
    import pandas
    import polars

Row = dict[str, Any]
TableName = Literal[
    "runs",
    "configurations",
    "trajectory",
    "verdict",
    "front",
    "verdict-runs",
    "ablation-runs",
]
"""Tables of a result."""
TABLE_NAMES: tuple[str, ...] = get_args(TableName)


def run_rows(scenario: Scenario, runs: Iterable[Run]) -> Iterator[Row]:
    """Yield one row per run, in the given order."""
    for number, run in enumerate(runs):
        capped = run.status is Status.CAPPED
        cost = None if capped else scenario.cost.shown(_alone(scenario, run))
        yield {
            "run": number,
            **_config(run.task.config),
            "instance": run.task.instance.name,
            "seed": run.task.seed,
            "cutoff": finite(run.task.cutoff),
            "status": run.status.value,
            "runtime": run.runtime,
            "quality": run.quality,
            "answer": run.answer,
            "cost": finite(cost),
            **_several(scenario, run, capped),
            "detail": run.detail,
        }


def _alone(scenario: Scenario, run: Run) -> tuple[float, ...]:
    """Score of a single run."""
    cost = scenario.cost_of(run)
    return tuple(x for number in cost for x in (float(math.isinf(number)), number))


def _several(scenario: Scenario, run: Run, capped: bool) -> Row:
    """Each of several costs of a run; empty where there is one."""
    metric = scenario.cost
    if not isinstance(metric, Costs):
        return {}
    shown = shown_means(metric, [scenario.cost_of(run)])
    numbers = zip(metric.names, shown, strict=True)
    return {f"cost.{name}": None if capped else finite(number) for name, number in numbers}


def stored_rows(path: Path, record: str) -> Iterator[Row]:
    """Yield one row per run of a record in a store other than the search."""
    from paramhs.execution.storage.load import streamed  # sqlite3 only where it is needed

    with streamed(path) as stored:
        for row in run_rows(stored.scenario, stored.of(record)):
            yield {**row, "run": None}


def front_rows(front: Front | None) -> Iterator[Row]:
    """Yield one row for the default and each point of a front; none where there is one cost."""
    for point in (front.default, *front.points) if front else ():
        row: Row = {"point": point.number, **_config(point.config)}
        for name, number in point.costs.items():
            made = point.verdicts.get(name)
            factor = made and share(made)
            row |= {
                f"cost.{name}": finite(number),
                f"factor.{name}": factor and finite(factor.estimate),
                f"factor.{name}.low": factor and finite(factor.low),
                f"factor.{name}.high": factor and finite(factor.high),
                f"conclusion.{name}": made and made.conclusion,
            }
        yield {
            **row,
            "beaten": point.beaten,
            "within_bounds": point.within_bounds,
            "failed": point.failed,
            "command": point.command,
        }


def config_rows(history: History, best: Config) -> Iterator[Row]:
    """Yield one row per configuration, compared with the best on common runs."""
    failures = failed_by_config(history)
    for config in history.configs:
        met = common_costs(history, best, config)
        costs = history.costs(config).values()
        yield {
            **_config(config),
            "runs": len(costs),
            "failed": failures[config],
            "common_runs": met.runs if met else 0,
            "cost": finite(met.second) if met else None,
            "best_cost": finite(met.first) if met else None,
            "ratio": finite(met.ratio) if met else None,
        }


def trajectory_rows(history: History, trajectory: Sequence[Point]) -> Iterator[Row]:
    """Yield one row per incumbent, compared with the previous one on common runs."""
    for step in steps(history, trajectory):
        yield {
            "runs": step.runs,
            "target_time": step.target_time,
            **_config(step.config),
            "common_runs": step.common,
            "cost": finite(step.cost),
            "cost_before": finite(step.before),
        }


def verdict_rows(verdicts: Iterable[Verdict]) -> Iterator[Row]:
    """Yield one row per verdict."""
    for verdict in verdicts:
        yield _flat(verdict.to_json())


def _flat(value: dict[str, Any], before: str = "") -> Row:
    row: Row = {}
    for name, item in value.items():
        if isinstance(item, dict):
            row |= _flat(item, f"{before}{name}.")
        else:
            row[f"{before}{name}"] = ", ".join(item) if isinstance(item, list) else item
    return row


def _config(config: Config) -> Row:
    values = {f"config.{name}": config.get(name) for name in config.space.parameters}
    return {"config": config.key, **values}


def dataframe(rows: Sequence[Row]) -> "pandas.DataFrame":
    """Convert rows to a pandas data frame; integers and booleans with gaps become nullable."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise BadInput("pandas is not installed: pip install 'paramhs[pandas]'") from None
    nullable: dict[frozenset[type], str] = {frozenset([int]): "Int64", frozenset([bool]): "boolean"}
    columns = {}
    for name, values in _columns(rows).items():
        dtype = nullable.get(_kinds(values)) if None in values and _fits(values) else None
        empty = not _kinds(values)  # as in a file of CSV that is read again
        columns[name] = pandas.Series(values, dtype="float64" if empty else dtype)
    return pandas.DataFrame(columns)


def polars_dataframe(rows: Sequence[Row]) -> "polars.DataFrame":
    """Convert rows to a polars data frame; columns of mixed types become texts."""
    try:
        import polars
    except ModuleNotFoundError:
        raise BadInput("polars is not installed: pip install polars") from None
    columns = {}
    for name, values in _columns(rows).items():
        kinds = _kinds(values)
        if not _fits(values) or (len(kinds) > 1 and kinds != {int, float}):
            values = [None if value is None else str(value) for value in values]
        columns[name] = polars.Series(name, values, strict=False)
    return polars.DataFrame(columns)


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _kinds(values: Iterable[Any]) -> frozenset[type]:
    return frozenset(type(value) for value in values if value is not None)


def _fits(values: Iterable[Any]) -> bool:
    """Whether all integers have 64 bits."""
    return all(-(2**63) <= value < 2**63 for value in values if type(value) is int)
