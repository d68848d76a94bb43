"""Tables of plain values about a search, for data frames and files.

The column of a parameter is called `config.NAME`; it is None where the parameter is inactive. The
numbers of one row are over the same runs; those of different rows may not be.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paramhs.analysis.evidence import common_costs, steps
from paramhs.analysis.solved import failed_by_config
from paramhs.analysis.verdict import Verdict
from paramhs.core.errors import BadInput
from paramhs.core.runs import Point, Run, Status
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config
from paramhs.core.text.numbers import finite
from paramhs.search.history import History

if TYPE_CHECKING:
    import pandas

Row = dict[str, Any]


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
            "detail": run.detail,
        }


def _alone(scenario: Scenario, run: Run) -> tuple[float, ...]:
    """Score of a single run."""
    cost = scenario.cost_of(run)
    return tuple(x for number in cost for x in (float(math.isinf(number)), number))


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


def dataframe(rows: Iterable[Row]) -> "pandas.DataFrame":
    """Convert rows to a pandas data frame."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise BadInput("pandas is not installed: pip install 'paramhs[pandas]'") from None
    return pandas.DataFrame(list(rows))
