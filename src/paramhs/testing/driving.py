"""Drivers that answer searches with plain functions."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

from paramhs.core.random_streams import stream
from paramhs.core.runs import Asking, Evaluate, Incumbent, Instance, Run, Search, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.execution.driver import LookAhead
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History

Cost = Callable[[Task], float]
Step = TypeVar("Step", Evaluate, Evaluate | Incumbent)

SPACE = Space({"x": range(12), "mode": ["a", "b", "c"]})
INSTANCES = tuple(Instance(f"i{k}") for k in range(4))
SCENARIO = Scenario(SPACE, INSTANCES)


def noisy(task: Task) -> float:
    """Noisy cost, best at x = 8 and mode b; the noise is a function of the task."""
    noise = stream(task.seed, task.config.key, task.instance.name).random()
    return abs(task.config.indices[0] - 8) + (task.config.indices[1] != 1) + noise


def steps(dialogue: Dialogue[Step, Any], run: Callable[[Task], Run]) -> Iterator[Step]:
    """Yield every step of a search or a comparison; its runs are made at the next step."""
    while step := dialogue.request:
        yield step
        tasks = step.tasks if isinstance(step, Evaluate) else ()
        dialogue.advance([run(task) for task in tasks])


def costing(cost: Cost) -> Callable[[Task], Run]:
    """Target with this cost whose runs take no time."""
    return lambda task: Run(task, Status.OK, 0.0, cost(task))


def answer(asking: Asking, cost: Cost) -> tuple[bool, list[Task]]:
    """Decision of a comparison, and the runs it requested."""
    dialogue = Dialogue(asking)
    tasks = [task for request in steps(dialogue, costing(cost)) for task in request.tasks]
    return bool(dialogue.result), tasks


def events(
    search: Search, cost: Cost, runs: int, peek: int = 0, history: History | None = None
) -> list[object]:
    """Requests and reports of a search until this number of runs, or its end.

    Each time, `peek` tasks are made early, as an idle worker would; that takes the `history`.
    """
    ahead = LookAhead() if history else None
    seen: list[object] = []
    dialogue, made = Dialogue(search), 0
    for step in steps(dialogue, costing(cost)):
        if isinstance(step, Incumbent):
            seen.append(step.config)
            continue
        for task in islice(ahead.tasks(step), peek) if ahead else ():
            ahead.add(costing(cost)(task))  # type: ignore[union-attr]
        seen += step.tasks
        made += len(step.tasks)
        if made >= runs:
            break
    else:
        seen.append(dialogue.result)
    dialogue.close()
    return seen
