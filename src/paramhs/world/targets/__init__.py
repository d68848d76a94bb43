"""Targets: what turns a task into a run."""

from paramhs.world.targets.function import FunctionTarget

__all__ = ["FunctionTarget"]
