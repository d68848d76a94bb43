"""Validation of rows in a store: only what could have been written is accepted."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from paramhs.core.runs import Instance, Point, Run, Status, Task
from paramhs.core.space import Config
from paramhs.search.history import Race

RESULT = "status, runtime, quality, detail, answer, others"
"""Columns of a run's result, in the tables `runs` and `known`."""

_STATUS = {status.value: status for status in Status}
_MAX_SECONDS = 1e10  # three centuries; no clock has measured more
_MAX_RUNS = 2**53  # runs
_MAX_TEXT = 10_000  # characters of a list of numbers
_MAX_DEPTH = 100  # nesting of tables and lists


def run_of(
    config: Config, instance: Instance, seed: Any, cutoff: Any, result: Sequence[Any]
) -> Run:
    """Build the run of a row, or raise `ValueError`; `result` has the columns of `RESULT`."""
    status, runtime, quality, detail, answer, others = result
    if (
        type(seed) is int
        and type(cutoff) is float
        and cutoff > 0
        and type(runtime) is float
        and 0 <= runtime <= _MAX_SECONDS
        and (quality is None or type(quality) is float)
        and type(detail) is str
        and (answer is None or type(answer) in (str, float))
        and status in _STATUS
    ):
        task = Task(config, instance, seed, cutoff)
        return Run(task, _STATUS[status], runtime, quality, detail, answer, _numbers(others))
    raise ValueError(f"no run has {_shown((seed, cutoff, *result))}")


def result_of(run: Run) -> tuple[object, ...]:
    """Values of a run for the columns of `RESULT`."""
    answer = storable(run.answer) if isinstance(run.answer, str) else run.answer
    others = json.dumps(run.others) if run.others else None
    return (run.status.value, run.runtime, run.quality, storable(run.detail), answer, others)


def _numbers(stored: Any) -> tuple[float, ...]:
    """Read the list of further numbers of a row; empty where there is none."""
    if stored is None:
        return ()
    numbers = json.loads(stored) if type(stored) is str and len(stored) <= _MAX_TEXT else None
    if not isinstance(numbers, list) or not all(type(number) is float for number in numbers):
        raise ValueError(f"{_shown(stored)} is no list of numbers")
    return tuple(numbers)


def instance_of(name: Any) -> Instance:
    """Validate the instance of a row."""
    if type(name) is not str:
        raise ValueError(f"no instance has the name {_shown(name)}")
    return Instance(name)


def key_of(key: Any) -> str:
    """Validate the configuration key of a row."""
    if type(key) is not str:
        raise ValueError(f"no configuration has the key {_shown(key)}")
    return key


def point_of(config: Config, row: Sequence[Any]) -> Point:
    """Build a step of the trajectory from a row: runs, target_time, cost, evidence."""
    check_point(row)
    return Point(config, *row)


def check_point(row: Sequence[Any]) -> None:
    """Reject a row that is not a step of a trajectory."""
    runs, target_time, cost, evidence = row
    usual = is_count(runs) and is_count(evidence) and is_duration(target_time)
    if not usual or not (cost is None or type(cost) is float):
        raise ValueError(f"no incumbent has {_shown(row)}")


def race_of(configs: Mapping[int, Config], row: Sequence[Any]) -> Race:
    """Build a decided race from a row: challenger, incumbent, won, asked."""
    challenger, incumbent, won, asked = row
    known = challenger in configs and incumbent in configs
    if known and type(won) is int and won in (0, 1) and is_count(asked):
        return Race(configs[challenger], configs[incumbent], bool(won), asked)
    raise ValueError(f"no race has {_shown(row)}")


def is_count(number: object) -> bool:
    """Whether a value can be a number of runs."""
    return type(number) is int and 0 <= number < _MAX_RUNS


def is_duration(seconds: object) -> bool:
    """Whether a value can be a time in seconds."""
    return type(seconds) is float and 0 <= seconds <= _MAX_SECONDS


def is_total(seconds: object) -> bool:
    """Whether a value can be a sum of durations."""
    return type(seconds) is float and 0 <= seconds < math.inf


def fact_of(text: Any) -> Any:
    """Parse JSON text; raise `ValueError` if it is invalid."""
    if type(text) is not str:
        raise ValueError(f"{_shown(text)} is no JSON")
    fact = json.loads(text, parse_constant=_refuse)
    _check_depth(fact)
    return fact


def table_of(text: Any) -> dict[str, Any]:
    """Parse a JSON object; raise `ValueError` if it is invalid."""
    fact = fact_of(text)
    if not isinstance(fact, dict):
        raise ValueError(f"{_shown(fact)} is no object of JSON")
    return fact


def _refuse(constant: str) -> object:
    """Reject infinity and NaN, which Python reads although JSON has none."""
    raise ValueError(f"{constant} is no JSON")


def _check_depth(fact: object) -> None:
    """Reject nesting so deep that other code could not traverse it."""
    layer = [fact] if isinstance(fact, dict | list) else []
    for _ in range(_MAX_DEPTH):
        inner = [thing.values() if isinstance(thing, dict) else thing for thing in layer]
        layer = [x for things in inner for x in things if isinstance(x, dict | list)]
        if not layer:
            return
    raise ValueError(f"it is nested more than {_MAX_DEPTH} times")


def storable(text: str) -> str:
    """Make text valid UTF-8; file names may contain other bytes."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def _shown(value: object, most: int = 100) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]} ..."
