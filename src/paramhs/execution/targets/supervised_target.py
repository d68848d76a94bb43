"""Base of targets that support keepers."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from paramhs.core.runs import Run, Target, Task
from paramhs.execution.supervisor import Execute

if TYPE_CHECKING:
    from paramhs.execution.supervisor.keeper import Job


class KeptTarget(Target):
    """A target that defines the work of its keepers; others are called in a worker process."""

    @abstractmethod
    def job(self) -> "Job":
        """Work of the target's keepers."""

    @abstractmethod
    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task by means of a keeper."""
