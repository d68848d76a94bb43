"""The ask-and-tell interface, for callers with a loop of their own."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Literal

from paramhs.core.answers import normal
from paramhs.core.arguments import CostName, check_seed, chosen, configs_of, cost_named, scenario_of
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.runs import Point, Run, Status, Task
from paramhs.core.space import Config
from paramhs.core.text.quoting import short
from paramhs.execution.driver import Session
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.search.configurators import Configurator, check_configurator
from paramhs.search.history import History
from paramhs.search.record import Record
from paramhs.search.registry import CONFIGURATORS, ConfiguratorName

_LOOK_AHEAD = 64  # tasks handed out before the search asks for them


class AskTell:
    """Ask-and-tell interface to a search, for callers with their own loop.

    >>> search = AskTell({"x": range(10)}, deterministic=True)
    >>> while task := search.ask():
    ...     search.tell(task, (task.config["x"] - 7) ** 2)
    >>> search.best["x"], search.ended
    (7, 'all 10 configurations tried')

    Several tasks may be requested before the first result is told; `ask` returns None when it must
    wait for results, or when the search has `ended`.

    Args:
        space: A `Space`, or a dictionary from names to parameters, as for `tune`.
        instances: What to run on, as for `tune`.
        seed: Seed of the search.
        configurator: Name of the search, or a `Configurator`.
        cost: What is compared, as for `tune`.
        cutoff: Seconds after which you stop a run. A longer runtime that you tell is a time-out.
        deterministic: Whether the seed of a task does not matter.
        initial: Configurations that challenge the default first.
    """

    def __init__(
        self,
        space: AnySpace,
        *,
        instances: Iterable[Any] | Mapping[str, Any] | None = None,
        seed: int = 0,
        configurator: ConfiguratorName | Configurator = "paramhs",
        cost: CostName | CostMetric = "minimise",
        cutoff: float | str | None = None,
        deterministic: bool = False,
        initial: Iterable[Config | Mapping[str, object]] = (),
    ) -> None:
        scenario = scenario_of(
            space_from(space), instances, cost_named(cost), cutoff, deterministic
        )
        scenario = replace(scenario, initial=configs_of(initial, scenario.space))
        maker = chosen(configurator, CONFIGURATORS, "configurator")
        check_configurator(maker)
        check_seed(seed)
        self.history = History(scenario, seed)
        self.history.judge.tells_cutoff = True  # a task includes its cutoff
        """History of everything told so far."""
        self._default = scenario.space.default
        self._metric = scenario.cost
        self.record = Record(self.history)
        self._session = Session(maker.search(self.history), self.record)
        self._handed_out: set[Task] = set()
        self._told: set[Task] = set()
        self._early: dict[Task, Run] = {}
        self._renew_offers()

    def _renew_offers(self) -> None:
        request = self._session.request
        self._wanted = set(request.tasks)
        self._offers = chain(request.tasks, islice(request.likely, _LOOK_AHEAD))

    def ask(self) -> Task | None:
        """Return the next task to run.

        Returns:
            A task with a `config`, an `instance` and a `seed`; None if the search has ended or
            waits for tasks that were handed out.
        """
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
        status: Literal["ok", "timeout", "crashed"] = "ok",
        answer: str | float | None = None,
    ) -> None:
        """Report the result of a task: a quality, a runtime in seconds where that is the cost, or
        both.

        A failed run has the status "crashed", a stopped one "timeout". A missing quality where one
        is needed also counts as a failure, and a runtime above the cutoff as a time-out. An
        `answer`, such as "sat" or an optimal value, is compared with the default's on the same
        instance.

        Args:
            task: The task that `ask` returned.
            quality: The number to minimise or maximise; None if the run gave none.
            runtime: Seconds that the run took, where time is the cost.
            status: How the run ended; a run that failed has the status "crashed".
            answer: The answer, such as "sat" or an optimal value, to compare with the default's.
        """
        if not isinstance(task, Task):
            raise BadInput(f"{short(task)} is no task; tell what `ask` gave")
        if task not in self._handed_out or task in self._told:
            what = f"{task.config} with seed {task.seed}"
            raise BadInput(f"{what} was not requested, or was told twice")
        if quality is not None and not _is_number(quality):
            raise BadInput(f"{short(quality)} is not a quality; tell None for a run that failed")
        if runtime is not None and not (_is_number(runtime) and 0 <= runtime < math.inf):
            raise BadInput(f"{short(runtime)} is not a runtime, in seconds")
        if answer is not None and not (isinstance(answer, str) or _is_number(answer)):
            raise BadInput(f"{short(answer)} is not an answer; expected a text or a number")
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
        run = run._replace(answer=None if answer is None else normal(answer))
        if task in self._wanted:
            self._pass_on(run)
        else:
            self._early[task] = run
            self.history.foresee(run)
            self._renew_offers()

    def _pass_on(self, run: Run) -> None:
        """Pass a wanted run to the search; if it continues, also the runs told early."""
        request = self._session.request
        self._session.answer(run)
        while self._session.request is not request:
            request = self._session.request
            self._renew_offers()
            for task in self._wanted & self._early.keys():
                self._session.answer(self._early.pop(task))

    @property
    def best(self) -> Config:
        """The current incumbent configuration."""
        return self.record.best

    @property
    def trajectory(self) -> tuple[Point, ...]:
        """The incumbents so far."""
        return tuple(self.record.trajectory)

    @property
    def ended(self) -> str | None:
        """Reason why the search is over, or None if it is not."""
        return self._session.ended


def _is_number(thing: object) -> bool:
    try:
        return isinstance(thing, int | float) and not math.isnan(thing)
    except OverflowError:  # an integer that no float can hold
        return False
