"""A Python function as a target."""

import inspect
import math
import os
import pickle
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from paramhs.core.answers import normal
from paramhs.core.description import outline
from paramhs.core.errors import BadInput
from paramhs.core.identity import Identity, identity_of
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.execution.large_values import value_of
from paramhs.execution.supervisor import Clock, Execute, Limits
from paramhs.execution.supervisor.orders import patience, too_much_memory
from paramhs.execution.targets.supervised_target import KeptTarget

if TYPE_CHECKING:
    from paramhs.execution.supervisor.run_kinds import FunctionJob

NOT_AWAITED = (
    "which is not awaited here; make it a plain one:"
    " def target(config): return asyncio.run(async_target(config))"
)
_TRACEBACK_LENGTH = 4_000  # characters of a traceback; its end is most informative

Arguments = tuple[Mapping[str, Any], Any, int]
"""A configuration as plain values, an instance, and a seed."""


class Answered(NamedTuple):
    """Return value of a function with an answer: `return Answered("sat")`, or with a cost.

    Answers are compared with the default's on the same instance: a configuration that contradicts
    it is wrong. "unknown" and "timeout" say that there is none; then, where time is the cost, the
    run is unsolved.

    Attributes:
        answer: A text such as "sat", or a number such as the best objective value; None if there is
            none.
        cost: The number to minimise or maximise, if that is tuned for; a tuple or a dictionary
            where several costs are.

    Examples:
        >>> import paramhs
        >>> paramhs.Answered("sat", cost=12.5).cost
        12.5
    """

    answer: str | float | None
    """A text such as "sat", or a number such as the best objective value."""
    cost: float | Sequence[float] | Mapping[str, float] | None = None
    """The number to minimise or maximise, if that is the cost; several where there are several."""


class Returned(NamedTuple):
    """Outcome of one call."""

    status: Status
    runtime: float
    quality: float | None
    detail: str
    answer: str | float | None = None
    others: tuple[float, ...] = ()

    def of(self, task: Task) -> Run:
        """Convert into the run of a task; a call longer than the cutoff has timed out."""
        late = self.status is Status.OK and self.runtime > task.cutoff
        return Run(task, Status.TIMEOUT if late else self.status, *self[1:])


class FunctionTarget(KeptTarget):
    """Calls `f(config)`, `f(config, instance)`, `f(config, seed)` or `f(config, instance, seed)`.

    The configuration is a dictionary of plain values. The function returns a number, or `Answered`
    with an answer to compare; a dictionary after the number, SMAC3's additional information, is
    ignored. An exception is a crashed run that keeps its traceback; a result that is not a number
    is an unreadable run (without `needs_number`, where only runtime counts, None is accepted). With
    several `names`, it returns a dictionary with these keys, or numbers in their order. In a worker
    process, runtime may be processor time (`clock="cpu"`), and `memory` (bytes) is limited.
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
        names: Sequence[str] = (),
    ) -> None:
        if not callable(function):
            raise BadInput(f"the target must be a function, not {function!r}")
        if is_async(function):
            raise BadInput(f"the target is an async function, {NOT_AWAITED}")
        self.function = function
        self.clock = clock
        self.memory = memory
        self.needs_number = needs_number
        self.names = tuple(names)
        self.takes = accepted_arguments(function)

    @property
    def uses_seed(self) -> bool:
        """Whether the function takes a seed; if not, it is treated as deterministic."""
        return "seed" in self.takes

    @property
    def needs_keeper(self) -> bool:
        """Whether a keeper is needed to limit memory or measure processor time."""
        return math.isfinite(self.memory) or self.clock == "cpu"

    def identity(self) -> Identity:
        """Code of the function and everything it uses."""
        return identity_of(self.function, "the target")

    def instance_file(self, instance: Instance) -> str:
        """File of an instance; a text names a folder only if it is an explicit path."""
        path = super().instance_file(instance)
        return "" if isinstance(instance.value, str) and os.path.isdir(path) else path

    @property
    def name(self) -> str:
        """Location of the function as `module:function`."""
        function = _unwrapped(self.function)
        module = getattr(function, "__module__", None) or "?"
        name = getattr(function, "__qualname__", type(function).__name__)
        return name if module in ("__main__", "__mp_main__") else f"{module}:{name}"

    def describe(self) -> dict[str, object]:
        """Describe in JSON types what defines the answers: the function, and its limits if any."""
        described: dict[str, object] = {"function": outline(self.function, "the target")}
        if self.clock != "wall":
            described["clock"] = self.clock
        if math.isfinite(self.memory):
            described["memory"] = self.memory
        return described

    def arguments(self, task: Task) -> Arguments:
        """Arguments of the call, without types of paramhs."""
        return task.config.arguments(), task.instance.value, task.seed

    def __call__(self, task: Task) -> Run:
        """Run a task in this process; the cutoff is judged afterwards."""
        return self.answer(self.arguments(task)).of(task)

    def job(self) -> "FunctionJob":
        """Work of the function's keeper: calls in a worker process."""
        from paramhs.execution.supervisor.run_kinds import (
            FunctionJob,  # only where processes are used
        )

        return FunctionJob(self._answer_packed)

    def _answer_packed(self, arguments: Arguments) -> Returned:
        config, instance, seed = arguments
        return self.answer((config, value_of(instance), seed))

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task in a worker process, which is stopped at the limits."""
        outcome = execute(pickle.dumps(self.arguments(task)), self._limits(task))
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
        answer: Returned = pickle.loads(outcome.answer)  # noqa: S301 -- from our own worker
        # Less time than measured inside means that the process was stopped.
        if self.clock == "cpu" or seconds < answer.runtime:
            answer = answer._replace(runtime=seconds)
        return answer.of(task)

    def _limits(self, task: Task) -> Limits:
        if self.clock == "cpu":
            return Limits(patience(task.cutoff), task.cutoff, self.memory, clock="cpu")
        return Limits(task.cutoff, memory=self.memory)

    def answer(self, arguments: Arguments) -> Returned:
        """Call the function.

        A child that the function forks and that returns here ends: only the process that was asked
        may answer and continue with the caller's code.
        """
        asked = os.getpid()
        try:
            return self._answer(arguments)
        finally:
            if os.getpid() != asked:
                os._exit(0)

    def _answer(self, arguments: Arguments) -> Returned:
        config, instance, seed = arguments
        given = {"instance": instance, "seed": seed}
        start = time.perf_counter()
        try:
            result = self.function(config, *(given[name] for name in self.takes))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # asyncio and Rust libraries raise BaseException
            seconds = time.perf_counter() - start
            return Returned(Status.CRASHED, seconds, None, traceback_of(error))
        seconds = time.perf_counter() - start
        answer = None
        if isinstance(result, Answered):
            answer, result = result.answer, result.cost
            if not _is_usable(answer):
                what = f"the function answered {_brief(answer)}; expected a text or a number"
                return Returned(Status.UNREADABLE, seconds, None, what)
            answer = None if answer is None else normal(answer)
        if result is None and not self.needs_number:
            return Returned(Status.OK, seconds, None, "", answer)
        if inspect.isawaitable(result):
            return _unawaited(result, seconds)
        if len(self.names) > 1 or isinstance(result, Mapping):
            return _several(result, self.names, seconds)._replace(answer=answer)
        return _judged(result, seconds)._replace(answer=answer)

    def shown(self, task: Task) -> str:
        """Format the call of a task for display."""
        config, instance, seed = self.arguments(task)
        given = {"instance": instance, "seed": seed}
        words = [repr(config), *(repr(given[name]) for name in self.takes)]
        return f"{self.name}({', '.join(words)})"


def traceback_of(error: BaseException) -> str:
    """Format a traceback, starting in the user's function."""
    trace = error.__traceback__ and error.__traceback__.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    return _plain("".join(lines))[-_TRACEBACK_LENGTH:]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function, or the `__call__` of an object, must be awaited."""
    called = _unwrapped(function)
    return any(
        inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one)
        for one in (called, getattr(type(called), "__call__", None))  # noqa: B004 -- looks into it
    )


def _unawaited(result: object, seconds: float) -> Returned:
    if inspect.iscoroutine(result):
        result.close()  # or Python warns that it was never awaited
    what = f"the function returned {_brief(result)}, {NOT_AWAITED}"
    return Returned(Status.UNREADABLE, seconds, None, what)


def _judged(result: object, seconds: float) -> Returned:
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Mapping):
        result = result[0]  # SMAC3's cost and additional information
    try:
        if result is None or isinstance(result, str | bytes):
            raise TypeError
        quality = float(result)  # type: ignore[arg-type]
    except Exception:  # the object's own conversion may raise anything
        what = f"the function returned {_brief(result)}; expected a number"
        return Returned(Status.UNREADABLE, seconds, None, what)
    if math.isnan(quality):
        what = "the function returned nan, which is not a number and cannot be compared"
        return Returned(Status.UNREADABLE, seconds, None, what)
    return Returned(Status.OK, seconds, quality, "")


def _several(result: object, names: Sequence[str], seconds: float) -> Returned:
    """Read several numbers: a dictionary with these names, or a sequence in this order."""
    if isinstance(result, Mapping):
        found = [result.get(name) for name in names]
        missing = [name for name, number in zip(names, found, strict=True) if number is None]
        if missing or not names:
            expected = f"expected {', '.join(map(repr, names))}" if names else "expected a number"
            what = f"the function returned {_brief(result)}; {expected}"
            return Returned(Status.UNREADABLE, seconds, None, what)
    else:
        try:
            found = [] if isinstance(result, str | bytes) else list(result)  # type: ignore[call-overload]
        except Exception:  # the object's own iteration may raise anything
            found = []
        if len(found) != len(names):
            what = f"the function returned {_brief(result)}; expected {len(names)} numbers"
            return Returned(Status.UNREADABLE, seconds, None, f"{what} ({', '.join(names)})")
    judged = [_judged(number, seconds) for number in found]
    failed = next((one for one in judged if one.status is not Status.OK), None)
    numbers = tuple(one.quality for one in judged if one.quality is not None)
    return failed or judged[0]._replace(others=numbers[1:])


def _is_usable(answer: object) -> bool:
    """Whether a value can be an answer: a text, a comparable number, or none."""
    if answer is None or isinstance(answer, str):
        return True
    return isinstance(answer, int | float) and not isinstance(answer, bool) and answer == answer


def _brief(result: object) -> str:
    try:
        return f"{_plain(repr(result))[:80]} ({type(result).__name__})"
    except Exception:
        return f"a {type(result).__name__}"


def _plain(text: str) -> str:
    """Replace characters that a file cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def accepted_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names among instance and seed that follow the configuration, in the function's order."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature
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
    """Function inside nested partial objects."""
    while isinstance(function, partial):
        function = function.func
    return function
