"""What a search knows as tables: rows of plain values, for data frames and files.

A column of a parameter is called `config.NAME`; of what is not active its value is None. Numbers
that stand in one row are over the same runs; those of two rows may not be.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paramhs.results.evidence import common_costs, steps
from paramhs.results.verdict import Verdict
from paramhs.search.history import History
from paramhs.values.errors import BadInput
from paramhs.values.runs import Point, Run, Status
from paramhs.values.scenario import Scenario
from paramhs.values.space import Config
from paramhs.values.wording import finite

if TYPE_CHECKING:
    import pandas

Row = dict[str, Any]


def run_rows(scenario: Scenario, runs: Iterable[Run]) -> Iterator[Row]:
    """One row a run, in the order given."""
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
            "cost": finite(cost),
            "detail": run.detail,
        }


def _alone(scenario: Scenario, run: Run) -> tuple[float, ...]:
    """The score of a run by itself."""
    cost = scenario.cost.of(run)
    return tuple(x for number in cost for x in (float(math.isinf(number)), number))


def config_rows(history: History, best: Config) -> Iterator[Row]:
    """One row a configuration, in the order of their first runs, beside the best on common runs."""
    for config in history.configs:
        met = common_costs(history, best, config)
        costs = history.costs(config).values()
        yield {
            **_config(config),
            "runs": len(costs),
            "failed": sum(math.isinf(cost[0]) for cost in costs),
            "common_runs": met.runs if met else 0,
            "cost": finite(met.second) if met else None,
            "best_cost": finite(met.first) if met else None,
            "ratio": finite(met.ratio) if met else None,
        }


def trajectory_rows(history: History, trajectory: Sequence[Point]) -> Iterator[Row]:
    """One row an incumbent, beside the one before on common runs."""
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
    """One row a verdict."""
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


def dataframe(rows: Iterable[Row]) -> "pandas.DataFrame":
    """The same as a table of pandas."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise BadInput("pandas is not installed: pip install 'paramhs[pandas]'") from None
    return pandas.DataFrame(list(rows))
