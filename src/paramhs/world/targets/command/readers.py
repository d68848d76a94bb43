"""What is read from the output of a run.

A reader turns the outcome of a command into a `Reading`. Time is measured by us; a reader says
another one only where it was asked to believe the target.

Outputs are long and may be anything, so each reader takes a time that is linear in the length
(repetitions in patterns are possessive, `++`: what they took they never give back), and a message
quotes only the beginning of what it found. A pattern of the user's own may still take for ever,
which is why the keeper reads, under a limit.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from paramhs.values.errors import BadInput
from paramhs.world.targets.supervisor import Outcome

NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|[-+]?(?:inf(?:inity)?|nan)\b"
_NUMBER = re.compile(rf"(?<![\w.])(?:{NUMBER})(?!\w|\.\d)", re.IGNORECASE)
_ANSWER = re.compile(r"^s (SATISFIABLE|UNSATISFIABLE)[^\S\n]*+$", re.MULTILINE)
_QUOTED = 60  # characters
_ABORTED = 1_000  # characters of the reason


class Unreadable(Exception):
    """There is no usable answer in the output; the text says what was looked for."""


class Aborted(Exception):
    """The target says that the whole search makes no sense."""


class Reading(NamedTuple):
    """What was read from the output of a run."""

    quality: float | None = None
    time: float | None = None
    """Seconds, where the target is to be believed."""
    status: str = ""
    """What the target says became of it: "ok", "timeout", "crashed"; empty if it does not say."""
    verdict: str = ""
    """SAT or UNSAT, if it says so."""


class Reader(Protocol):
    """Reads the output of a run."""

    @property
    def believed(self) -> bool:
        """Whether it reads a time that is believed."""

    def read(self, output: str) -> Reading:
        """What it says; `Unreadable` if that is not there."""


@dataclass(frozen=True)
class Nothing:
    """For commands whose runtime alone counts; whether they answered SAT or UNSAT is noted."""

    believed = False

    def read(self, output: str) -> Reading:
        """What it says of satisfiability."""
        return Reading(verdict=answer_line(output))


@dataclass(frozen=True)
class LastNumber:
    """The last number that is printed."""

    believed = False

    def read(self, output: str) -> Reading:
        """Its value."""
        for line in _lines_backwards(output):
            found = _NUMBER.findall(line)
            if found:
                return Reading(_number(found[-1]), verdict=answer_line(output))
        raise Unreadable("no number was printed")


@dataclass(frozen=True)
class Pattern:
    """The last match of a regular expression: its group, or all of it, is the quality.

    `time` is another one, for seconds that the target is believed to have taken.
    """

    quality: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        for pattern in (self.quality, self.time):
            try:
                groups = re.compile(pattern or "").groups
            except re.error as error:
                raise BadInput(f"{pattern!r} is not a regular expression: {error}") from None
            if groups > 1:
                raise BadInput(f"{pattern!r} has {groups} groups; which of them is the number?")

    @property
    def believed(self) -> bool:
        """Whether a time is read."""
        return self.time is not None

    def read(self, output: str) -> Reading:
        """What the groups hold."""
        quality, time = (_matched(p, output) for p in (self.quality, self.time))
        return Reading(quality, _time(time), verdict=answer_line(output))


@dataclass(frozen=True)
class JsonLine:
    """The last line that is a JSON object: the number under a key (`a.b`: in an inner one)."""

    quality: str | None = None
    time: str | None = None

    @property
    def believed(self) -> bool:
        """Whether a time is read."""
        return self.time is not None

    def read(self, output: str) -> Reading:
        """What stands under the keys."""
        for line in _lines_backwards(output):
            if line.lstrip().startswith("{") and line.rstrip().endswith("}"):
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                quality, time = (_keyed(found, key) for key in (self.quality, self.time))
                return Reading(quality, _time(time), verdict=answer_line(output))
        raise Unreadable("no line of the output is a JSON object")


@dataclass(frozen=True)
class AclibLine:
    """The answer line of ParamILS, SMAC and AClib wrappers, whose time is believed.

    `Result for ParamILS: status, runtime, runlength, quality, seed`, or `Result of this Algorithm
    Run: ...`, or `Result for SMAC: ...`; more columns may follow. AClib 2 has a JSON object there,
    with status, runtime and cost.

    Source: the quick start guides of ParamILS 2.3 and SMAC 2.08; GenericWrapper4AC.
    """

    believed = True

    def read(self, output: str) -> Reading:
        """What the last such line says."""
        found = _ACLIB.findall(output)
        if not found:
            raise Unreadable('no line "Result for ParamILS: ..." (or "... SMAC: ...") was printed')
        name, time, quality = _aclib_columns(found[-1].strip())
        if name.upper() == "ABORT":
            raise Aborted(f"the target says ABORT: {found[-1].strip()[:_ABORTED]}")
        if name.upper() not in _ACLIB_STATUS:
            raise Unreadable(f"{_quoted(name)} is not a status of an answer line")
        status, verdict = _ACLIB_STATUS[name.upper()]
        return Reading(_number(quality), _time(_number(time)), status, verdict)


def _aclib_columns(line: str) -> tuple[str, str | float, str | float]:
    """Status, time and quality; AClib 2 may leave out a cost where time counts."""
    if line.startswith("{"):
        try:
            found = json.loads(line)
            return str(found["status"]), found["runtime"], found.get("cost", found["runtime"])
        except (ValueError, KeyError, RecursionError) as error:
            raise Unreadable(
                f"the answer line has no JSON object as AClib 2 has: {str(error)[:_QUOTED]}"
            ) from None
    words = [word.strip() for word in line.split(",")]
    if len(words) < 4:
        raise Unreadable(f"the answer line has {len(words)} columns; expected at least 4")
    return words[0], words[1], words[3]


_ACLIB = re.compile(r"Result (?:for|of) (?:ParamILS|SMAC|HAL|this Algorithm Run):(.*)", re.I)
_ACLIB_STATUS = {
    "SAT": ("ok", "SAT"),
    "SATISFIABLE": ("ok", "SAT"),
    "UNSAT": ("ok", "UNSAT"),
    "UNSATISFIABLE": ("ok", "UNSAT"),
    "SUCCESS": ("ok", ""),
    "TIMEOUT": ("timeout", ""),
    "CRASHED": ("crashed", ""),
    "KILLED": ("crashed", ""),
    "WRONG ANSWER": ("wrong", ""),
    "WRONG": ("wrong", ""),
}


@dataclass(frozen=True)
class IraceLine:
    """irace's target-runner: the last line is the cost, or the cost and the time.

    `cost_is_time`: the cost is what the run took, which is what irace minimises then.

    Source: Lopez-Ibanez et al., The irace package: User Guide, section "Target runner".
    """

    cost_is_time: bool = False

    @property
    def believed(self) -> bool:
        """Whether what it prints is a time."""
        return self.cost_is_time

    def read(self, output: str) -> Reading:
        """One or two numbers."""
        last = next((line for line in _lines_backwards(output) if line.strip()), "")
        words = last.split(maxsplit=2)
        if not 1 <= len(words) <= 2:
            shown = _quoted(last) if last else "nothing"
            raise Unreadable(f"the last line should be a cost, or a cost and a time, not {shown}")
        numbers = [_number(word) for word in words]
        time = numbers[-1] if len(numbers) == 2 or self.cost_is_time else None
        return Reading(numbers[0], _time(time))


LINEAR = (Nothing, LastNumber, JsonLine, AclibLine, IraceLine)
"""Readers that take a time that is linear in the length of the output, whatever that is."""


def named_readers(needs_quality: bool) -> dict[str, Reader]:
    """The readers with a name. Where only the runtime counts, nothing need be read, and what irace
    calls a cost is a time."""
    irace = IraceLine(cost_is_time=not needs_quality)
    named: dict[str, Reader] = {"last number": LastNumber(), "aclib": AclibLine(), "irace": irace}
    return {**named, "aclib2": AclibLine(), **({} if needs_quality else {"time": Nothing()})}


def answer_line(output: str) -> str:
    """SAT or UNSAT, as solvers say it in competitions: `s SATISFIABLE`."""
    found = _ANSWER.findall(output)
    return {"SATISFIABLE": "SAT", "UNSATISFIABLE": "UNSAT"}[found[-1]] if found else ""


def _matched(pattern: str | None, output: str) -> float | None:
    if pattern is None:
        return None
    found = re.findall(pattern, output, re.MULTILINE)
    if not found:
        raise Unreadable(f"nothing in the output matches {pattern!r}")
    return _number(found[-1])


def _keyed(found: Any, key: str | None) -> float | None:
    if key is None:
        return None
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise Unreadable(f"the JSON object has no {key!r}")
        found = found[part]
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise Unreadable(f"{key!r} in the JSON object is {_quoted(found)}; expected a number")
    return _number(found)


def _number(word: str | float) -> float:
    try:
        number = float(word)
    except (TypeError, ValueError, OverflowError):
        raise Unreadable(f"{_quoted(word)} is not a number") from None
    if math.isnan(number):
        raise Unreadable("nan is not a number and cannot be compared")
    return number


def _quoted(found: object) -> str:
    """As Python writes it, but no longer than a line."""
    text = repr(found if not isinstance(found, str) else found[: _QUOTED + 1])
    return text if len(text) <= _QUOTED + 2 else f"{text[:_QUOTED]}..."


def _lines_backwards(output: str) -> Iterator[str]:
    """The last line first: answers stand at the end."""
    end = len(output)
    while end >= 0:
        begin = output.rfind("\n", 0, end) + 1
        yield from reversed(output[begin:end].splitlines())  # it may have other ends of lines
        end = begin - 1


def _time(seconds: float | None) -> float | None:
    """Seconds that can be believed."""
    if seconds is not None and not 0 <= seconds < math.inf:
        raise Unreadable(f"a run cannot have taken {seconds:g} seconds")
    return seconds


def text_of(outcome: Outcome) -> str:
    """The standard output as text."""
    return outcome.output.decode("utf-8", "replace")
