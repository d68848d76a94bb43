"""SAPS as a target: a configuration, a formula file and a seed give a number."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from paramhs.bundled.instances.dimacs import read_formula
from paramhs.bundled.plain_saps import SPACE
from paramhs.bundled.saps.arrays import Clauses, encoded
from paramhs.bundled.saps.solving import SMOOTHINGS, Settings, Smoothing, solve
from paramhs.core.errors import BadInput

__all__ = ["SPACE", "Saps", "saps"]

_MAX_FORMULAS = 64  # kept in memory


@dataclass(frozen=True)
class Saps:
    """Number (or weight) of false clauses after a number of steps: the fewest, or the last.

    Reads `alpha`, `rho`, `ps` and `wp` from the configuration; a missing one has its default.
    """

    steps: int = 10_000
    quality: Literal["best", "final"] = "best"
    smoothing: Smoothing = "ubcsat"

    def __post_init__(self) -> None:
        if not isinstance(self.steps, int) or self.steps < 1:
            raise BadInput(f"steps must be an integer of at least 1, not {self.steps!r}")
        if self.quality not in ("best", "final"):
            raise BadInput(f"quality must be best or final, not {self.quality!r}")
        if self.smoothing not in SMOOTHINGS:
            raise BadInput(f"smoothing must be one of {', '.join(SMOOTHINGS)}")
        # The qualified name identifies the target: runs of different lengths must not be mixed.
        object.__setattr__(self, "__qualname__", repr(self))

    def __call__(self, config: Mapping[str, Any], instance: str | Path, seed: int) -> float:
        """Return the quality of one run."""
        settings = _settings(config)
        outcomes = solve(_formula(instance), settings, self.steps, seed, 1, self.smoothing)
        best = self.quality == "best"
        return float((outcomes.best_false if best else outcomes.final_false)[0])


saps = Saps()
"""The setting of the paper: 10,000 steps."""


def _settings(config: Mapping[str, Any]) -> Settings:
    known = [field.name for field in fields(Settings)]
    for name in config:
        if name not in known:
            raise BadInput(f"SAPS has no parameter {name!r}; it has {', '.join(known)}")
    return Settings(**config)


def _formula(path: str | Path) -> Clauses:
    try:
        changed = os.stat(path).st_mtime_ns
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    return _read(os.fspath(path), changed)


@lru_cache(_MAX_FORMULAS)
def _read(path: str, changed: int) -> Clauses:
    """Read a formula, cached until the file changes."""
    return encoded(read_formula(Path(path)))
