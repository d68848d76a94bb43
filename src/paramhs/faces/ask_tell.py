"""A search for people with a loop of their own."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from paramhs.faces.choices import check_seed, chosen, configs_of, cost_named, scenario_of
from paramhs.search.configurators import CONFIGURATORS, Configurator, check_configurator
from paramhs.search.history import History
from paramhs.values.costs import CostMetric
from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.runs import Point, Run, Status, Task
from paramhs.values.space import Config, Space
from paramhs.world.driver import Session

_LOOK_AHEAD = 64  # tasks that may be handed out before the search asks for them


class AskTell:
    """A search for people with a loop of their own.

    >>> search = AskTell({"x": range(10)}, deterministic=True)
    >>> while task := search.ask():
    ...     search.tell(task, (task.config["x"] - 7) ** 2)
    >>> search.best["x"], search.ended
    (7, 'all 10 configurations tried')

    Several tasks may be asked for before the first is told; `ask` gives None when it must wait for
    answers, or when the search has `ended`.
    """

    def __init__(
        self,
        space: Space | Mapping[str, object],
        *,
        instances: Iterable[Any] | Mapping[str, Any] | None = None,
        seed: int = 0,
        configurator: str | Configurator = "paramhs",
        cost: str | CostMetric = "minimise",
        cutoff: float | None = None,
        deterministic: bool = False,
        initial: Iterable[Config | Mapping[str, object]] = (),
    ) -> None:
        scenario = scenario_of(space, instances, cost_named(cost), cutoff, deterministic)
        scenario = replace(scenario, initial=configs_of(initial, scenario.space))
        maker = chosen(configurator, CONFIGURATORS, "configurator")
        check_configurator(maker)
        check_seed(seed)
        self.history = History(scenario, seed)
        """All that was told so far."""
        self._default = scenario.space.default
        self._metric = scenario.cost
        self._session = Session(maker.search(self.history), self.history)
        self._handed_out: set[Task] = set()
        self._told: set[Task] = set()
        self._early: dict[Task, Run] = {}
        self._renew_offers()

    def _renew_offers(self) -> None:
        request = self._session.request
        self._wanted = set(request.tasks)
        self._offers = chain(request.tasks, islice(request.likely, _LOOK_AHEAD))

    def ask(self) -> Task | None:
        """A run to make: it has a `config`, an `instance` (its `value` is yours) and a `seed`."""
        for task in self._offers:
            if task not in self._handed_out:
                self._handed_out.add(task)
                return task
        return None

    def tell(
        self,
        task: Task,
        quality: float | None = None,
        *,
        runtime: float | None = None,
        status: str = "ok",
    ) -> None:
        """What came of it: a quality, or a runtime in seconds where that counts, or both.

        A run that failed has the status "crashed", one that was stopped "timeout". No quality where
        one is needed is a failure too; a runtime above the cutoff is a timeout.
        """
        if not isinstance(task, Task):
            raise BadInput(f"{short(task)} is no task; tell what `ask` gave")
        if task not in self._handed_out or task in self._told:
            what = f"{task.config} with seed {task.seed}"
            raise BadInput(f"{what} was not asked for, or is told twice")
        if quality is not None and not _is_number(quality):
            raise BadInput(f"{short(quality)} is not a quality; tell None for a run that failed")
        if runtime is not None and not (_is_number(runtime) and 0 <= runtime < math.inf):
            raise BadInput(f"{short(runtime)} is not a runtime, in seconds")
        if status not in ("ok", "timeout", "crashed"):
            raise BadInput(f"status must be 'ok', 'timeout' or 'crashed', not {short(status)}")
        if status == "ok" and self._metric.needs_runtime and runtime is None:
            raise BadInput("tuning for runtime: tell the runtime of a run that ended")
        if status == "ok" and not self._metric.needs_runtime and quality is None:
            status = "crashed"
        seconds = runtime or 0.0
        late = status == "ok" and seconds > task.cutoff
        self._told.add(task)
        run = Run(task, Status.TIMEOUT if late else Status(status), seconds, quality)
        if task in self._wanted:
            self._pass_on(run)
        else:
            self._early[task] = run
            self.history.foresee(run)
            self._renew_offers()

    def _pass_on(self, run: Run) -> None:
        """Give the search an answer that it wants; if it goes on, also those told early."""
        request = self._session.request
        self._session.answer(run)
        while self._session.request is not request:
            request = self._session.request
            self._renew_offers()
            for task in self._wanted & self._early.keys():
                self._session.answer(self._early.pop(task))

    @property
    def best(self) -> Config:
        """The incumbent."""
        points = self._session.trajectory
        return points[-1].config if points else self._default

    @property
    def trajectory(self) -> tuple[Point, ...]:
        """The incumbents so far."""
        return tuple(self._session.trajectory)

    @property
    def ended(self) -> str | None:
        """Why the search is over, or None if it is not."""
        return self._session.ended


def _is_number(thing: object) -> bool:
    try:
        return isinstance(thing, int | float) and not math.isnan(thing)
    except OverflowError:  # an integer that no float can hold
        return False
