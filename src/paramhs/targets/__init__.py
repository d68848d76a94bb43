"""Targets: what turns a task into a run."""

from paramhs.targets.function import FunctionTarget

__all__ = ["FunctionTarget"]
