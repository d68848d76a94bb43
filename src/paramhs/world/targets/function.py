"""A Python function as the target."""

import inspect
import math
import os
import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from paramhs.values.describing import description, source_digest
from paramhs.values.errors import BadInput
from paramhs.values.runs import Run, Status, Target, Task
from paramhs.world.targets.supervisor import Clock, Execute, Limits
from paramhs.world.targets.supervisor.outcome import patience, too_much_memory

if TYPE_CHECKING:
    from paramhs.world.targets.supervisor.jobs import FunctionJob

_DETAIL = 4_000  # characters of a traceback that are kept: its end says most

Arguments = tuple[Mapping[str, Any], Any, int]
"""A configuration as plain values, an instance, a seed."""


class Answer(NamedTuple):
    """What became of one call."""

    status: Status
    runtime: float
    quality: float | None
    detail: str

    def of(self, task: Task) -> Run:
        """The run of this task; one that took longer than its cutoff has timed out."""
        late = self.status is Status.OK and self.runtime > task.cutoff
        return Run(task, Status.TIMEOUT if late else self.status, *self[1:])


class FunctionTarget(Target):
    """Calls `f(config)`, `f(config, instance)`, `f(config, seed)` or `f(config, instance, seed)`.

    The configuration is a dictionary of plain values. The function returns a number. An exception
    is a crashed run that keeps its traceback; so is an answer that is not a number, named as such
    (without `needs_number`, where only runtime counts, None will do). In a worker process, runtime
    may be processor time (`clock="cpu"`), and `memory` (bytes) is limited.
    """

    clock: Clock = "wall"
    memory: float = math.inf

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        needs_number: bool = True,
        clock: Clock = "wall",
        memory: float = math.inf,
    ) -> None:
        if not callable(function):
            raise BadInput(f"the target must be a function, not {function!r}")
        self.function = function
        self.clock = clock
        self.memory = memory
        self.needs_number = needs_number
        self.takes = _accepted(function)

    @property
    def uses_seed(self) -> bool:
        """Whether the function is given a seed; if not, it is taken to be deterministic."""
        return "seed" in self.takes

    @property
    def needs_keeper(self) -> bool:
        """Only a keeper can limit memory and measure processor time."""
        return math.isfinite(self.memory) or self.clock == "cpu"

    @property
    def source(self) -> str:
        """A digest of its code, to notice that it changed; empty if that cannot be read."""
        return source_digest(_unwrapped(self.function))

    @property
    def name(self) -> str:
        """Where the function is, as `module:function`."""
        function = _unwrapped(self.function)
        module = getattr(function, "__module__", None) or "?"
        name = getattr(function, "__qualname__", type(function).__name__)
        return name if module in ("__main__", "__mp_main__") else f"{module}:{name}"

    def describe(self) -> dict[str, object]:
        """What defines its answers, in JSON types: the function, and limits where there are any."""
        described: dict[str, object] = {"function": description(self.function, "the target")}
        if self.clock != "wall":
            described["clock"] = self.clock
        if math.isfinite(self.memory):
            described["memory"] = self.memory
        return described

    def arguments(self, task: Task) -> Arguments:
        """What the function is to be called with, free of paramhs's own types."""
        return task.config.as_dict(), task.instance.value, task.seed

    def __call__(self, task: Task) -> Run:
        """Run a task in this process; the cutoff is judged when it is over."""
        return self.answer(self.arguments(task)).of(task)

    def job(self) -> "FunctionJob":
        """What a keeper runs: the function, in a worker process."""
        from paramhs.world.targets.supervisor.jobs import (
            FunctionJob,  # only where processes are used
        )

        return FunctionJob(self.answer)

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task in a worker process, which is stopped at the limits."""
        outcome = execute(_pickled(self.arguments(task), task), self._limits(task))
        seconds = outcome.seconds(self.clock)
        if outcome.trouble:
            return Run(task, Status.CRASHED, seconds, None, outcome.trouble)
        if outcome.limit == "memory":
            return Run(task, Status.CRASHED, seconds, None, too_much_memory(self.memory))
        if outcome.limit:
            seconds = max(seconds, task.cutoff)
            return Run(task, Status.TIMEOUT, seconds, None, "stopped at the cutoff")
        if not outcome.answer:
            what = f"the worker process died (exit code {outcome.code})"
            return Run(task, Status.CRASHED, seconds, None, what)
        answer: Answer = pickle.loads(outcome.answer)  # noqa: S301 -- from our own worker
        if self.clock == "cpu" or seconds < answer.runtime:  # less: there was a stop meanwhile
            answer = answer._replace(runtime=seconds)
        return answer.of(task)

    def _limits(self, task: Task) -> Limits:
        if self.clock == "cpu":
            return Limits(patience(task.cutoff), task.cutoff, self.memory, clock="cpu")
        return Limits(task.cutoff, memory=self.memory)

    def answer(self, arguments: Arguments) -> Answer:
        """Call the function. A child that it forks and that returns, too, ends here: only the
        process that was asked may answer, and go on with what comes after."""
        asked = os.getpid()
        try:
            return self._answer(arguments)
        finally:
            if os.getpid() != asked:
                os._exit(0)

    def _answer(self, arguments: Arguments) -> Answer:
        config, instance, seed = arguments
        given = {"instance": instance, "seed": seed}
        start = time.perf_counter()
        try:
            result = self.function(config, *(given[name] for name in self.takes))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also what asyncio and libraries in Rust raise
            seconds = time.perf_counter() - start
            return Answer(Status.CRASHED, seconds, None, traceback_of(error))
        seconds = time.perf_counter() - start
        if result is None and not self.needs_number:
            return Answer(Status.OK, seconds, None, "")
        return _judged(result, seconds)

    def shown(self, task: Task) -> str:
        """The call, for people."""
        config, instance, seed = self.arguments(task)
        given = {"instance": instance, "seed": seed}
        words = [repr(config), *(repr(given[name]) for name in self.takes)]
        return f"{self.name}({', '.join(words)})"


def _pickled(arguments: Arguments, task: Task) -> bytes:
    try:
        return pickle.dumps(arguments)
    except Exception as error:  # whatever the object's own pickling raises
        raise BadInput(
            f"instance {task.instance.name!r} cannot be sent to a worker process ({error});"
            " use executor='threads', or give a path or a name"
        ) from error


def traceback_of(error: BaseException) -> str:
    """From the function on; how it was called is our own affair."""
    trace = error.__traceback__ and error.__traceback__.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    return _plain("".join(lines))[-_DETAIL:]


def _judged(result: object, seconds: float) -> Answer:
    try:
        if result is None or isinstance(result, str | bytes):
            raise TypeError
        quality = float(result)  # type: ignore[arg-type]
    except Exception:  # whatever the object's own conversion raises
        what = f"the function returned {_brief(result)}; expected a number"
        return Answer(Status.CRASHED, seconds, None, what)
    if math.isnan(quality):
        what = "the function returned nan, which is not a number and cannot be compared"
        return Answer(Status.CRASHED, seconds, None, what)
    return Answer(Status.OK, seconds, quality, "")


def _brief(result: object) -> str:
    try:
        return f"{_plain(repr(result))[:80]} ({type(result).__name__})"
    except Exception:
        return f"a {type(result).__name__}"


def _plain(text: str) -> str:
    """Text that every file can hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def _accepted(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which of instance and seed the function takes after the configuration, in its order."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions do not tell
        return ()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return ("instance", "seed")
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if not positional or len(needed) > 3 or any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise BadInput(
            "the target must be f(config), f(config, instance), f(config, seed)"
            f" or f(config, instance, seed), not f{inspect.signature(function)}"
        )
    rest = [p for p in positional[1:] if p.default is p.empty or p.name in ("instance", "seed")]
    names = [p.name for p in rest]
    if names in (["seed"], ["seed", "instance"]):
        return tuple(names)
    return ("instance", "seed")[: len(names)]


def _unwrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function inside partial ones."""
    while isinstance(function, partial):
        function = function.func
    return function
