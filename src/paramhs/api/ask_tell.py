"""The ask-and-tell interface, for callers with a loop of their own."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, overload

from paramhs.api.told_runs import TARGET, ToldRuns
from paramhs.core.answers import normal
from paramhs.core.arguments import (
    CostName,
    chosen,
    configs_of,
    cost_named,
    path_of,
    scenario_of,
    seed_of,
)
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Point, Run, Status, Task
from paramhs.core.scenario import FIXED_SEED, Scenario
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config
from paramhs.core.space.objects import plain
from paramhs.core.text.html import Markup, joined, paragraph
from paramhs.core.text.numbers import counted
from paramhs.core.text.quoting import short
from paramhs.execution.driver import LookAhead, Session
from paramhs.execution.storage import Known
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.procedures.recommendation import outcome
from paramhs.report.result import Result
from paramhs.search.configurators import Configurator, check_configurator
from paramhs.search.history import History
from paramhs.search.record import Ending, Record
from paramhs.search.registry import CONFIGURATORS, ConfiguratorName

NO_TEST_SET = "ask and tell holds no instances out; `validate` compares configurations."


class AskTell:
    """Ask-and-tell interface to a search, for callers with their own loop.

    >>> search = AskTell({"x": range(10)}, deterministic=True)
    >>> while task := search.ask():
    ...     search.tell(task, (task.config["x"] - 7) ** 2)
    >>> search.best["x"], search.ended
    (7, 'all 10 configurations tried')

    Several tasks may be requested before the first result is told; `ask` returns None when it must
    wait for results, or when the search has `ended`.

    With a `store`, everything told is kept; the same search made again continues from there. Close
    it with `close`, or by `with AskTell(...) as search:`.

    Args:
        space: A `Space`, or a dictionary from names to parameters, as for `tune`.
        instances: What to run on, as for `tune`.
        seed: Seed of the search.
        configurator: Name of the search, or a `Configurator`.
        cost: What is compared, as for `tune`.
        cutoff: Seconds after which you stop a run. A longer runtime that you tell is a time-out.
        deterministic: Whether the seed of a task does not matter.
        initial: Configurations that challenge the default first.
        store: A file for all runs that are told.
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
        store: str | Path | None = None,
    ) -> None:
        scenario = scenario_of(
            space_from(space), instances, cost_named(cost), cutoff, deterministic
        )
        if isinstance(scenario.cost, Costs):
            raise BadInput("ask and tell searches with one cost; `tune` searches with several")
        self._scenario = replace(scenario, initial=configs_of(initial, scenario.space))
        self._maker: Configurator = chosen(configurator, CONFIGURATORS, "configurator")
        check_configurator(self._maker)
        self._seed = seed_of(seed)
        self._path = None if store is None else path_of(store, "store")
        self._metric = scenario.cost
        self._known: dict[Task, Run] = {}
        self._handed_out: set[Task] = set()
        self._told: set[Task] = set()
        self._wanted: set[Task] = set()
        self._offers: Iterator[Task] = iter(())
        if self._path is not None and self._path.exists():
            _ = self._begun  # an error of the store is better seen here than at the first ask

    @cached_property
    def _begun(self) -> tuple[Session, ToldRuns]:
        """The running search. It begins when it is first needed, with what was told before."""
        given = Known(tuple(self._known.values()), tuple(task.config for task in self._known))
        known = _stored_known(self._path, self._scenario) or given
        initial = dict.fromkeys((*self._scenario.initial, *known.initial))
        initial.pop(self._scenario.space.default, None)
        scenario = replace(self._scenario, known=known.runs, initial=tuple(initial))
        history = History(scenario, self._seed)
        history.judge.tells_cutoff = True  # a task includes its cutoff
        session = Session(self._maker.search(history), Record(history, dict(TARGET)))
        self._ahead = LookAhead()
        kept = ToldRuns(self._path, history, self._maker, session)
        self._told |= kept.replay()
        self._handed_out |= self._told
        for run in given.runs:
            if run not in known.runs and run.task not in self._told:
                kept.keep(run, wanted=False)
                self._ahead.add(run)
        return session, kept

    @property
    def _session(self) -> Session:
        return self._begun[0]

    @property
    def history(self) -> History:
        """History of everything told so far."""
        return self._session.history

    @property
    def record(self) -> Record:
        """Everything that happened: runs, races and incumbents."""
        return self._session.record

    def _renew_offers(self) -> None:
        request = self._session.request
        self._wanted = set(request.tasks)
        self._offers = chain(request.tasks, self._ahead.tasks(request))

    @overload
    def ask(self) -> Task | None: ...

    @overload
    def ask(self, count: int) -> list[Task]: ...

    def ask(self, count: int | None = None) -> Task | list[Task] | None:
        """Return the next task to run, or up to `count` tasks to run at the same time.

        Args:
            count: Number of tasks wanted. Left out: one task, not in a list.

        Returns:
            A task with a `config`, an `instance` and a `seed`; None if the search has ended or
            waits for tasks that were handed out. With a `count`, a list of such tasks, which may
            be shorter: first those the search waits for, then those of the next races.
        """
        if count is None:
            return next(self._next_tasks(), None)
        count = plain(count)  # type: ignore[assignment]  # numpy's integers count
        if type(count) is not int or count < 1:
            raise BadInput(f"count must be a whole number from 1 on, not {short(count)}")
        return list(islice(self._next_tasks(), count))

    def _next_tasks(self) -> Iterator[Task]:
        """The tasks that can be handed out now, each marked as it is taken."""
        if not self._wanted:
            self._renew_offers()
        for task in self._offers:
            if task not in self._handed_out:
                self._handed_out.add(task)
                yield task

    def tell(
        self,
        task: Task | Config | Mapping[str, object],
        quality: float | None = None,
        *,
        runtime: float | None = None,
        status: Literal["ok", "timeout", "crashed"] = "ok",
        answer: str | float | None = None,
        instance: object = None,
        seed: int | None = None,
    ) -> None:
        """Report the result of a task: a quality, a runtime in seconds where that is the cost, or
        both.

        A failed run has the status "crashed", a stopped one "timeout". A missing quality where one
        is needed also counts as a failure, and a runtime above the cutoff as a time-out. An
        `answer`, such as "sat" or an optimal value, is compared with the default's on the same
        instance.

        A configuration of your own may take the place of the task. Told before the first `ask`, its
        runs are known to the search, which compares it with the default first. Told later, a run is
        used when the search asks for it.

        Args:
            task: The task that `ask` returned, or a configuration of your own.
            quality: The number to minimise or maximise; None if the run gave none.
            runtime: Seconds that the run took, where time is the cost.
            status: How the run ended; a run that failed has the status "crashed".
            answer: The answer, such as "sat" or an optimal value, to compare with the default's.
            instance: Instance of a configuration of your own; needed if there are several.
            seed: Seed of a configuration of your own. Left out: the next seed of the search.
        """
        quality, runtime, answer = map(plain, (quality, runtime, answer))  # type: ignore[assignment]
        own = not isinstance(task, Task)
        if not isinstance(task, Task):
            task = self._own_task(task, instance, seed)
        elif instance is not None or seed is not None:
            raise BadInput("a task has its instance and seed; give them with a configuration only")
        elif task not in self._handed_out or task in self._told:
            what = f"{task.config} with seed {task.seed}"
            raise BadInput(f"{what} was not requested, or was told twice")
        self._check(quality, runtime, status, answer)
        if status == "ok" and not self._metric.needs_runtime and quality is None:
            status = "crashed"
        seconds = runtime or 0.0
        late = status == "ok" and seconds > task.cutoff
        run = Run(task, Status.TIMEOUT if late else Status(status), seconds, quality)
        run = run._replace(answer=None if answer is None else normal(answer))
        if own and not self._has_begun:
            self._known[task] = run
            return
        self._told.add(task)
        kept = self._begun[1]
        kept.keep(run, task in self._wanted)
        if task in self._wanted:
            self._pass_on(run)
        else:
            self._ahead.add(run)
            self._renew_offers()

    @property
    def _has_begun(self) -> bool:
        return "_begun" in vars(self)

    def _own_task(
        self, values: Config | Mapping[str, object], instance: object, seed: int | None
    ) -> Task:
        """Task of a configuration that the caller has run."""
        if not isinstance(values, Mapping) or not values:
            raise BadInput(f"{short(values)} is no task; tell what `ask` gave, or a configuration")
        (config,) = configs_of([values], self._scenario.space, "configuration")
        name = self._instance_named(instance)
        if self._scenario.deterministic:
            seed = FIXED_SEED
        tasks = (
            Task(config, name, number, self._scenario.cutoff)
            for number in ([seed_of(seed)] if seed is not None else self._seeds(config, name))
        )
        done = self._known.keys() | self._told
        task = next((task for task in tasks if task not in done), None)
        if task is None:
            raise BadInput(f"{config} on {name}: this run was told before")
        return task

    def _seeds(self, config: Config, instance: Instance) -> Iterator[int]:
        """Seeds of the search's own pairs on this instance, in their order."""
        if self._has_begun:
            pairs = self.history.new_pairs(config)
        else:
            pairs = History(self._scenario, self._seed).new_pairs(config)
        return (number for name, number in pairs if name == instance)

    def _instance_named(self, instance: object) -> Instance:
        names = self._scenario.instances
        if instance is None and len(names) == 1:
            return names[0]
        for name in names:
            if instance is not None and (name.name == str(instance) or name.value is instance):
                return name
        some = ", ".join(name.name for name in names[:8])
        raise BadInput(f"instance must be one of {some}, not {short(instance)}")

    def _check(self, quality: object, runtime: float | None, status: str, answer: object) -> None:
        """Reject what cannot be the result of a run."""
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

    def _pass_on(self, run: Run) -> None:
        """Pass a wanted run to the search; if it continues, also those told early."""
        session, kept = self._begun
        request = session.request
        session.answer(run)
        kept.note()
        if session.request is not request:
            answered = kept.replay()
            self._told |= answered
            self._handed_out |= answered
            self._renew_offers()

    @property
    def result(self) -> Result:
        """What is known so far, as `tune` would return it: best, tables, importance, pictures."""
        record = replace(self.record, ending=self._ending)
        return Result(record, outcome(record, self._path), self._path)

    def _repr_html_(self) -> str:
        return joined(paragraph(repr(self)), Markup(self.result._repr_html_()))

    @property
    def store(self) -> Path | None:
        """File of all runs that were told, if there is one."""
        return self._path

    @property
    def _ending(self) -> Ending:
        return Ending(self.ended or "nothing more was asked for", NO_TEST_SET)

    def close(self) -> None:
        """Release the store, so that another process may continue; tell nothing after that."""
        if self._has_begun:
            self._begun[1].close(self._ending)

    def __enter__(self) -> "AskTell":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        runs = counted(len(self._told | self._known.keys()), "run")
        waiting = counted(len(self._handed_out - self._told), "task")
        state = self.ended or f"{waiting} handed out and not told"
        return f"AskTell after {runs}: best {self.best}; {state}"

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


def _stored_known(path: Path | None, scenario: Scenario) -> Known | None:
    """What a stored search began with; None if there is none."""
    if path is None:
        return None
    from paramhs.execution.storage.warm_start import read_known  # sqlite3 only where it is needed

    return read_known(path, scenario)
