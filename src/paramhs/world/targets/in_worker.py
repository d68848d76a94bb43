"""Any target in a worker process, which is stopped at the cutoff."""

import pickle
from typing import TYPE_CHECKING

from paramhs.values.runs import Run, Status, Target, Task
from paramhs.world.targets.function import traceback_of
from paramhs.world.targets.supervisor import Execute, Limits

if TYPE_CHECKING:
    from paramhs.world.targets.supervisor.jobs import FunctionJob
    from paramhs.world.targets.supervisor.supervised import Supervisable


def supervisable(target: Target) -> "Supervisable":
    """What keepers can run: the target itself, if it knows how, or a call of it."""
    knows_how = hasattr(target, "job") and hasattr(target, "run")
    return target if knows_how else InWorker(target)  # type: ignore[return-value]


class InWorker:
    """Calls a target that knows nothing of keepers."""

    def __init__(self, target: Target) -> None:
        self.target = target

    @property
    def name(self) -> str:
        """That of the target."""
        return self.target.name

    def shown(self, task: Task) -> str:
        """As the target shows it."""
        return self.target.shown(task)

    def job(self) -> "FunctionJob":
        """What a keeper runs: the target, in a worker process."""
        from paramhs.world.targets.supervisor.jobs import FunctionJob

        return FunctionJob(self._answer)

    def _answer(self, task: Task) -> tuple[Status, float, float | None, str]:
        try:
            run = self.target(task)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Status.CRASHED, 0.0, None, traceback_of(error)
        return run.status, run.runtime, run.quality, run.detail

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task; what goes wrong is a crash of the target."""
        outcome = execute(pickle.dumps(task), Limits(task.cutoff))
        if outcome.limit:
            seconds = max(outcome.wall, task.cutoff)
            return Run(task, Status.TIMEOUT, seconds, None, "stopped at the cutoff")
        if not outcome.answer:
            what = f"the worker process died (exit code {outcome.code})"
            return Run(task, Status.CRASHED, outcome.wall, None, what)
        status, runtime, quality, detail = pickle.loads(outcome.answer)  # noqa: S301 -- our worker's
        late = status is Status.OK and runtime > task.cutoff
        return Run(task, Status.TIMEOUT if late else status, runtime, quality, detail)
