"""Optuna integration: tune its objectives, or use our proposals in its studies."""

from paramhs.optuna.objectives import Distribution, recorded_space, tune
from paramhs.optuna.sampler import Sampler

__all__ = ["Distribution", "Sampler", "recorded_space", "tune"]
