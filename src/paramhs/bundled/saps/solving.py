"""Runs of SAPS on a formula, many at a time."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from paramhs.bundled.instances.dimacs import Formula
from paramhs.bundled.saps import kernel
from paramhs.bundled.saps.arrays import (
    Bytes,
    Clauses,
    Report,
    Setting,
    encoded,
    new_report,
    new_state,
)
from paramhs.core.errors import BadInput

Smoothing = Literal["ubcsat", "textbook"]
"""Variant of smoothing in a null flip.

UBCSAT smooths first and adds (1 - rho) * mean to every weight; the textbook scales first and takes
rho * weight + (1 - rho) * mean.
"""

SMOOTHINGS: tuple[Smoothing, ...] = ("ubcsat", "textbook")

_RANGES = {"alpha": (1.0, 1000.0), "rho": (0.0, 1.0), "ps": (0.0, 1.0), "wp": (0.0, 1.0)}
_MAX_RUNS = 10_000_000
_PARTS = 4
_MAX_DIRECT_STEPS = 10_000_000  # a few seconds; longer searches can be interrupted


@dataclass(frozen=True)
class Settings:
    """Parameters of SAPS, with UBCSAT's defaults.

    In a local minimum, with probability `wp` a random variable is flipped; otherwise the weights of
    false clauses are multiplied by `alpha`, and with probability `ps` all are smoothed, the more
    the smaller `rho` is.
    """

    alpha: float = 1.3
    rho: float = 0.8
    ps: float = 0.05
    wp: float = 0.01

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not (isinstance(value, Real) and low <= float(value) <= high):
                raise BadInput(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")


@dataclass(frozen=True)
class Outcomes:
    """Results of runs, one number each; in weighted formulas, false clauses count their weights."""

    best_false: NDArray[Any]
    """Fewest false clauses over all steps, including the start."""
    final_false: NDArray[Any]
    """Number of false clauses after the last step."""
    best_step: NDArray[np.int64]
    """First step with the fewest false clauses; the start is step 1."""
    null_flips: NDArray[np.int64]
    """Number of steps that changed weights instead of a variable."""
    steps: NDArray[np.int64]
    """Number of steps; fewer than the cutoff if all clauses became true."""


def solve(
    formula: Formula | Clauses,
    settings: Settings,
    cutoff: int,
    seed: int,
    runs: int = 1,
    smoothing: Smoothing = "ubcsat",
    threads: int = 1,
    first_run: int = 0,
) -> Outcomes:
    """Make runs `first_run`, `first_run` + 1, ... of a seed, each with at most `cutoff` steps.

    A run is a function of formula, settings, smoothing, seed and its number: neither the number of
    threads nor the other runs affect it, and a smaller cutoff gives an initial part of it.

    Weights start at 1, or at the formula's weights scaled to mean 1 (our choice, because SAPS is
    not defined for weighted formulas).
    """
    _check(cutoff, seed, runs, smoothing, threads, first_run)
    clauses = formula if isinstance(formula, Clauses) else encoded(formula)
    setting = _setting(settings, cutoff, smoothing)
    report, stop = new_report(runs), np.zeros(1, np.uint8)

    def search(part: slice) -> None:
        some = Report._make(numbers[part] for numbers in report)
        state = new_state(clauses, stop)
        _search(clauses, setting, state, seed, first_run + part.start, some, _NO)

    if threads == 1 and runs * cutoff <= _MAX_DIRECT_STEPS:
        search(slice(0, runs))
    else:
        _each(search, _parts(runs, threads), threads, stop)
    if len(clauses.costs):
        return Outcomes(report.best / clauses.scale, report.final / clauses.scale, *report[2:])
    return Outcomes(report.best.astype(np.int64), report.final.astype(np.int64), *report[2:])


def flips(
    formula: Formula | Clauses,
    settings: Settings,
    cutoff: int,
    seed: int,
    run: int = 0,
    smoothing: Smoothing = "ubcsat",
) -> list[int]:
    """Variables flipped by the steps of one run, counted from 1; 0 for a null flip."""
    _check(cutoff, seed, 1, smoothing, 1, run)
    clauses = formula if isinstance(formula, Clauses) else encoded(formula)
    setting = _setting(settings, cutoff, smoothing)
    report, trace = new_report(1), np.empty(cutoff, np.int64)
    state = new_state(clauses, np.zeros(1, np.uint8))
    _search(clauses, setting, state, seed, run, report, trace)
    return [int(flipped) + 1 for flipped in trace[1 : report.steps[0]]]


_NO = np.empty(0, np.int64)


def _setting(settings: Settings, cutoff: int, smoothing: Smoothing) -> Setting:
    """Settings as UBCSAT reads them: alpha and rho have 32 bits.

    This is more than imitation. Products of such alphas are mostly exact, so scores that are
    algebraically equal are equal as numbers, and ties are broken fairly.
    """
    alpha, rho = float(np.float32(settings.alpha)), float(np.float32(settings.rho))
    ps, wp = float(settings.ps), float(settings.wp)
    return Setting(alpha, rho, ps, wp, smoothing == "textbook", cutoff)


def _check(cutoff: int, seed: int, runs: int, smoothing: str, threads: int, first_run: int) -> None:
    if isinstance(runs, int) and runs > _MAX_RUNS:
        raise BadInput(f"runs must be at most {_MAX_RUNS:,} in one call, not {runs:,}")
    least = {"cutoff": (cutoff, 1), "seed": (seed, 0), "runs": (runs, 1), "threads": (threads, 1)}
    for name, (value, low) in {**least, "first_run": (first_run, 0)}.items():
        if not isinstance(value, int) or value < low:
            raise BadInput(f"{name} must be an integer of at least {low}, not {value!r}")
        if value >= 2**62:
            raise BadInput(f"{name} must be below 2^62, not {value}")
    if smoothing not in SMOOTHINGS:
        raise BadInput(f"smoothing must be one of {', '.join(SMOOTHINGS)}, not {smoothing!r}")


def _parts(runs: int, threads: int) -> Iterator[slice]:
    """Split the runs into several parts per thread, because some take longer than others."""
    size = -(-runs // (_PARTS * threads))
    return (slice(start, min(start + size, runs)) for start in range(0, runs, size))


def _each(
    search: Callable[[slice], None], parts: Iterator[slice], threads: int, stop: Bytes
) -> None:
    """Run machine code, which cannot be interrupted, in threads that can be told to stop."""
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(search, part) for part in parts]
        try:
            for future in futures:
                future.result()
        finally:
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)


class _Announcer(event.Listener):
    """Announces on standard error, once, that numba is compiling instead of loading its cache."""

    told = False

    def on_start(self, _: object) -> None:
        if not self.told:
            self.told = True
            what = "paramhs: compiling the SAPS solver; this takes some seconds, once"
            print(what, file=sys.stderr, flush=True)

    def on_end(self, _: object) -> None:
        pass


def _search(*arguments: Any) -> None:
    if kernel.search.signatures:  # type: ignore[attr-defined]
        kernel.search(*arguments)
        return
    with event.install_listener("numba:compile", _Announcer()):
        kernel.search(*arguments)
