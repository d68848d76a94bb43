"""Targets, which turn a task into a run."""

from paramhs.execution.targets.function import Answered, FunctionTarget

__all__ = ["Answered", "FunctionTarget"]
