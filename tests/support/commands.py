"""Commands as targets of a space with one parameter, and searches over them."""

from pathlib import Path
from typing import Any

from paramhs.api.tune import tune_scenario
from paramhs.core.costs import CostMetric, Quality
from paramhs.core.runs import NO_INSTANCE, Instance
from paramhs.core.scenario import Scenario
from paramhs.core.space import Integer, Space
from paramhs.execution.driver import Budget
from paramhs.execution.settings import Running
from paramhs.execution.targets.command import CommandTarget, Style, Template
from paramhs.report.result import Result
from paramhs.search.registry import CONFIGURATORS

SPACE = Space({"x": Integer(0, 20, default=4)})

HERE = Path(__file__).parent


def command(
    text: str | list[str] = "/bin/true {params}",
    folder: Path = HERE,
    space: Space = SPACE,
    **more: Any,
) -> CommandTarget:
    """A command as a target; without a reader it needs no number."""
    more.setdefault("needs_number", False)
    if "checker" in more:
        more["checker"] = Template(more["checker"], SPACE, Style(), whole=False)
    return CommandTarget(Template(text, space, Style()), folder, **more)


def searched(
    target: CommandTarget,
    runs: int = 60,
    cost: CostMetric | None = None,
    instances: tuple[Instance, ...] = (NO_INSTANCE,),
    **more: Any,
) -> Result:
    """The result of a search of `SPACE`."""
    scenario = Scenario(
        SPACE, instances, cost or Quality(), 20.0, deterministic=not target.uses_seed
    )
    configurator = CONFIGURATORS["paramhs"]
    how = {name: more.pop(name) for name in ("jobs", "executor", "watcher") if name in more}
    budget = Budget(runs=runs)
    return tune_scenario(
        scenario, target, configurator, budget=budget, running=Running(**how), **more
    )
