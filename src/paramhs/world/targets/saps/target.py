"""SAPS as a target: a configuration, a file with a formula and a seed give a number."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from paramhs.values.errors import BadInput
from paramhs.world.instances.dimacs import read_formula
from paramhs.world.targets.plain_saps import SPACE
from paramhs.world.targets.saps.arrays import Clauses, encoded
from paramhs.world.targets.saps.solving import SMOOTHINGS, Settings, Smoothing, solve

__all__ = ["SPACE", "Saps", "saps"]

_FORMULAS = 64  # that are kept in memory


@dataclass(frozen=True)
class Saps:
    """The false clauses (or their weights) after so many steps: the fewest seen, or the last.

    It reads `alpha`, `rho`, `ps` and `wp` from the configuration; any that is not there has its
    default.
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
        # A target is known by its qualified name: runs of other lengths are not to be mixed up.
        object.__setattr__(self, "__qualname__", repr(self))

    def __call__(self, config: Mapping[str, Any], instance: str | Path, seed: int) -> float:
        """The quality of one run."""
        settings = _settings(config)
        outcomes = solve(_formula(instance), settings, self.steps, seed, 1, self.smoothing)
        best = self.quality == "best"
        return float((outcomes.best_false if best else outcomes.final_false)[0])


saps = Saps()
"""The paper's: 10,000 steps."""


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


@lru_cache(_FORMULAS)
def _read(path: str, changed: int) -> Clauses:
    """The formula that the file has had since it was changed."""
    return encoded(read_formula(Path(path)))
