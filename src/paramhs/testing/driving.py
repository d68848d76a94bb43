"""Answers searches by plain functions."""

from collections.abc import Callable, Generator, Sequence
from itertools import islice

from paramhs.values.runs import Evaluate, Incumbent, Instance, Run, Search, Status, Task
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import stream
from paramhs.values.space import Space

Cost = Callable[[Task], float]

SPACE = Space({"x": range(12), "mode": ["a", "b", "c"]})
INSTANCES = tuple(Instance(f"i{k}") for k in range(4))
SCENARIO = Scenario(SPACE, INSTANCES)


def noisy(task: Task) -> float:
    """Best at x = 8 and mode b, with noise that is a function of the task."""
    noise = stream(task.seed, task.config.key, task.instance.name).random()
    return abs(task.config.indices[0] - 8) + (task.config.indices[1] != 1) + noise


def answer(asking: Generator[Evaluate, Sequence[Run], bool], cost: Cost) -> tuple[bool, list[Task]]:
    """What a comparison decides, and the runs that it asked for."""
    tasks: list[Task] = []
    answers: list[Run] = []
    while True:
        try:
            asked = asking.send(answers) if answers else next(asking)
        except StopIteration as end:
            return bool(end.value), tasks
        tasks += asked.tasks
        answers = [Run(task, Status.OK, 0.0, cost(task)) for task in asked.tasks]


def events(search: Search, cost: Cost, runs: int, peek: int = 0) -> list[object]:
    """What a search asked for and said until it was given so many runs, or ended.

    `peek`: at how many likely tasks to look each time.
    """
    seen: list[object] = []
    answers: list[Run] = []
    made = 0
    while made < runs:
        try:
            step = search.send(answers) if answers else next(search)
        except StopIteration as end:
            seen.append(end.value)
            break
        answers = []
        if isinstance(step, Incumbent):
            seen.append(step.config)
        else:
            list(islice(step.likely, peek))
            seen += step.tasks
            made += len(step.tasks)
            answers = [Run(task, Status.OK, 0.0, cost(task)) for task in step.tasks]
    search.close()
    return seen
