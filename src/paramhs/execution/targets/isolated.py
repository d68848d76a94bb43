"""Any target in a worker process that is stopped at the cutoff."""

import pickle
from typing import TYPE_CHECKING, Any

from paramhs.core.runs import Run, Status, Target, Task
from paramhs.execution.large_values import unpacked
from paramhs.execution.supervisor import Execute, Limits
from paramhs.execution.targets.function import traceback_of
from paramhs.execution.targets.supervised_target import KeptTarget

if TYPE_CHECKING:
    from paramhs.execution.supervisor.pool import Supervisable
    from paramhs.execution.supervisor.run_kinds import FunctionJob


def supervisable(target: Target) -> "Supervisable":
    """Return the target if it supports keepers, else a wrapper that calls it in a worker."""
    return target if isinstance(target, KeptTarget) else InWorker(target)


class InWorker:
    """Calls a target that knows nothing about keepers."""

    def __init__(self, target: Target) -> None:
        self.target = target

    @property
    def name(self) -> str:
        """Display name of the target."""
        return self.target.name

    def shown(self, task: Task) -> str:
        """Format the call of a task for display."""
        return self.target.shown(task)

    def job(self) -> "FunctionJob":
        """Work of the keeper: calls of the target in a worker process."""
        from paramhs.execution.supervisor.run_kinds import FunctionJob

        return FunctionJob(self._answer)

    def _answer(self, task: Task) -> tuple[Any, ...]:
        try:
            run = self.target(unpacked(task))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Status.CRASHED, 0.0, None, traceback_of(error), None
        return tuple(run[1:])

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task; any error counts as a crash of the target."""
        outcome = execute(pickle.dumps(task), Limits(task.cutoff))
        if outcome.limit:
            seconds = max(outcome.wall, task.cutoff)
            return Run(task, Status.TIMEOUT, seconds, None, "stopped at the cutoff")
        if not outcome.answer:
            what = f"the worker process died (exit code {outcome.code})"
            return Run(task, Status.CRASHED, outcome.wall, None, what)
        status, runtime, *more = pickle.loads(outcome.answer)  # noqa: S301 -- our worker's
        late = status is Status.OK and runtime > task.cutoff
        return Run(task, Status.TIMEOUT if late else status, runtime, *more)
