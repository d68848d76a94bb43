"""Readers of a run's output.

A reader turns the output of a command into a `Reading`. Runtime is measured by paramhs; a reader
returns another one only if it was told to trust the target.

Outputs are long and arbitrary, so each reader takes linear time (repetitions in patterns are
possessive, `++`: they never give back what they matched), and a message quotes only the beginning
of what it found. A user's own pattern may still take for ever, which is why the keeper reads, under
a limit.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from paramhs.core.answers import Answer
from paramhs.core.errors import BadInput
from paramhs.core.text.quoting import short
from paramhs.execution.supervisor import Outcome

NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|[-+]?(?:inf(?:inity)?|nan)\b"
_NUMBER = re.compile(rf"(?<![\w.])(?:{NUMBER})(?!\w|\.\d)", re.IGNORECASE)
_QUOTE_LENGTH = 60  # characters of a quotation
_REASON_LENGTH = 1_000  # characters of the reason of an abort


class Unreadable(Exception):
    """The output contains no usable number; the message says what was searched for."""


class Aborted(Exception):
    """The target demands that the whole search stops."""


class Reading(NamedTuple):
    """Result of reading an output."""

    quality: float | None = None
    time: float | None = None
    """Runtime in seconds reported by a trusted target."""
    status: str = ""
    """Status reported by the target: "ok", "timeout", "crashed"; empty if none."""
    answer: Answer | None = None
    """Answer of the target about the instance."""
    solved: bool = True
    """Whether the output contains what a solved run must print."""
    problem: str = ""
    """Reason why no number could be read, if one is needed."""
    stream: str = ""
    """Stream that contains the number, if not standard output."""
    others: tuple[float, ...] = ()
    """Further numbers, where there are several costs."""


class Reader(Protocol):
    """Reader of a run's output."""

    @property
    def believed(self) -> bool:
        """Whether it reads a runtime that replaces the measured one."""

    def read(self, output: str) -> Reading:
        """Read an output; raise `Unreadable` if the number is missing.

        Args:
            output: Text that the run printed.

        Returns:
            The number, and what else was found.
        """


@dataclass(frozen=True)
class Nothing:
    """Reader for commands of which only the runtime counts."""

    believed = False

    def read(self, output: str) -> Reading:
        """Return an empty reading."""
        return Reading()


@dataclass(frozen=True)
class LastNumber:
    """Reader of the last number in the output."""

    believed = False

    def read(self, output: str) -> Reading:
        """Find the last number."""
        for line in _lines_backwards(output):
            found = _NUMBER.findall(line)
            if found:
                return Reading(_number(found[-1]))
        raise Unreadable("no number was printed")


@dataclass(frozen=True)
class Pattern:
    """Reader of the last match of a regular expression: its group, or the whole match.

    `time` is another one, for seconds that the target is believed to have taken.

    Args:
        quality: Regular expression of the number, with at most one group.
        time: Regular expression of the seconds that the target says it took.

    Examples:
        >>> import paramhs
        >>> paramhs.Pattern(r"cost: (\\S+)").read("cost: 9\\ncost: 4").quality
        4.0
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
                raise BadInput(
                    f"{pattern!r} has {groups} groups; expected one group, around the number"
                )

    @property
    def believed(self) -> bool:
        """Whether a runtime is read."""
        return self.time is not None

    def read(self, output: str) -> Reading:
        """Find the last match of each pattern.

        Args:
            output: Text that the run printed.

        Returns:
            The number, and the time if one is read.
        """
        quality, time = (_matched(p, output) for p in (self.quality, self.time))
        return Reading(quality, _time(time))


@dataclass(frozen=True)
class Sum:
    """Reader of the sum of all matches of a regular expression.

    For work counters that a solver prints in several lines, one for each of its techniques.
    """

    regex: str

    believed = False

    def __post_init__(self) -> None:
        Pattern(self.regex)

    def read(self, output: str) -> Reading:
        """Sum up all matches."""
        found = re.findall(self.regex, output, re.MULTILINE)
        if not found:
            raise Unreadable(f"nothing in the output matches {self.regex!r}")
        return Reading(math.fsum(map(_number, found)))


@dataclass(frozen=True)
class JsonLine:
    """The last line that is a JSON object: the number under a key (`a.b`: in an inner one).

    Args:
        quality: Key of the number; `a.b` is the key b of the object under a.
        time: Key of the seconds that the target says it took.

    Examples:
        >>> import paramhs
        >>> paramhs.JsonLine("result.cost").read('{"result": {"cost": 4}}').quality
        4.0
    """

    quality: str | None = None
    time: str | None = None

    @property
    def believed(self) -> bool:
        """Whether a runtime is read."""
        return self.time is not None

    def read(self, output: str) -> Reading:
        """Find the values of the keys.

        Args:
            output: Text that the run printed.

        Returns:
            The number, and the time if one is read.
        """
        for line in _lines_backwards(output):
            if line.lstrip().startswith("{") and line.rstrip().endswith("}"):
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                quality, time = (_keyed(found, key) for key in (self.quality, self.time))
                return Reading(quality, _time(time))
        raise Unreadable("no line of the output is a JSON object")


@dataclass(frozen=True)
class AclibLine:
    """Reader of the result line of ParamILS, SMAC and AClib wrappers, whose time is trusted.

    Accepts `Result for ParamILS: status, runtime, runlength, quality, seed`, `Result of this
    Algorithm Run: ...` and `Result for SMAC: ...`; more columns may follow. AClib 2 prints a JSON
    object with status, runtime and cost instead.

    Source: the quick start guides of ParamILS 2.3 and SMAC 2.08; GenericWrapper4AC.
    """

    believed = True

    def read(self, output: str) -> Reading:
        """Parse the last result line."""
        found = _ACLIB.findall(output)
        if not found:
            raise Unreadable('no line "Result for ParamILS: ..." (or "... SMAC: ...") was printed')
        name, time, quality = _aclib_columns(found[-1].strip())
        if name.upper() == "ABORT":
            raise Aborted(f"the target reported ABORT: {found[-1].strip()[:_REASON_LENGTH]}")
        if name.upper() not in _ACLIB_STATUS:
            raise Unreadable(f"{_quoted(name)} is not a status of a result line")
        status, said = _ACLIB_STATUS[name.upper()]
        return Reading(_number(quality), _time(_number(time)), status, said)


def _aclib_columns(line: str) -> tuple[str, str | float, str | float]:
    """Status, time and quality; AClib 2 may omit the cost where time counts."""
    if line.startswith("{"):
        try:
            found = json.loads(line)
            return str(found["status"]), found["runtime"], found.get("cost", found["runtime"])
        except (ValueError, KeyError, RecursionError) as error:
            raise Unreadable(
                f"the result line has no JSON object as in AClib 2: {str(error)[:_QUOTE_LENGTH]}"
            ) from None
    words = [word.strip() for word in line.split(",")]
    if len(words) < 4:
        raise Unreadable(f"the result line has {len(words)} columns; expected at least 4")
    return words[0], words[1], words[3]


_ACLIB = re.compile(r"Result (?:for|of) (?:ParamILS|SMAC|HAL|this Algorithm Run):(.*)", re.I)
_ACLIB_STATUS = {
    "SAT": ("ok", "sat"),
    "SATISFIABLE": ("ok", "sat"),
    "UNSAT": ("ok", "unsat"),
    "UNSATISFIABLE": ("ok", "unsat"),
    "SUCCESS": ("ok", None),
    "TIMEOUT": ("timeout", "timeout"),
    "CRASHED": ("crashed", None),
    "KILLED": ("crashed", None),
    "WRONG ANSWER": ("wrong", None),
    "WRONG": ("wrong", None),
}


@dataclass(frozen=True)
class IraceLine:
    """Reader of irace's target-runner output: the last line is the cost, or cost and time.

    With `cost_is_time`, the cost is the runtime, which irace then minimises.

    Source: Lopez-Ibanez et al., The irace package: User Guide, section "Target runner".
    """

    cost_is_time: bool = False

    @property
    def believed(self) -> bool:
        """Whether the printed number is a runtime."""
        return self.cost_is_time

    def read(self, output: str) -> Reading:
        """Parse one or two numbers."""
        last = next((line for line in _lines_backwards(output) if line.strip()), "")
        words = last.split(maxsplit=2)
        if not 1 <= len(words) <= 2:
            shown = _quoted(last) if last else "nothing"
            raise Unreadable(f"the last line should be a cost, or a cost and a time, not {shown}")
        numbers = [_number(word) for word in words]
        time = numbers[-1] if len(numbers) == 2 or self.cost_is_time else None
        return Reading(numbers[0], _time(time))


@dataclass(frozen=True)
class ByName:
    """A reader for each of several numbers, in the order of the costs.

    Each number is searched on its own, so that one may be on standard output and another on
    standard error.
    """

    readers: tuple[tuple[str, Reader], ...]

    @property
    def believed(self) -> bool:
        """Whether one of the readers finds a runtime."""
        return any(reader.believed for _, reader in self.readers)

    def read(self, output: str) -> Reading:
        """Read all numbers."""
        return _joined({name: read_streams(reader, output, "") for name, reader in self.readers})


def _joined(readings: Mapping[str, Reading]) -> Reading:
    """One reading with all numbers; the first problem, if there is one."""
    time = next((one.time for one in readings.values() if one.time is not None), None)
    for name, one in readings.items():
        if one.quality is None:
            return Reading(time=time, problem=f"{name}: {one.problem or 'no number was read'}")
    numbers = tuple(one.quality for one in readings.values() if one.quality is not None)
    stream = next((one.stream for one in readings.values() if one.stream), "")
    return Reading(numbers[0], time, stream=stream, others=numbers[1:])


def reader_of_costs(read: Reader | Mapping[str, Reader], names: Sequence[str]) -> Reader:
    """Return the reader of the costs with these names, which a run reports.

    Args:
        read: One reader, or one by the name of each cost.
        names: Names of the reported costs; empty if there is one cost without a name.

    Raises:
        BadInput: A cost has no reader, or a reader no cost.
    """
    if isinstance(read, Mapping):
        unknown = [name for name in read if name not in names]
        missing = [name for name in names if name not in read]
        if unknown:
            known = f"the costs that are read are {_listed(names)}" if names else "there is one"
            raise BadInput(f"read has an entry for {short(unknown[0])}, but {known}")
        if missing:
            raise BadInput(f"read has no entry for the cost {short(missing[0])}")
        return ByName(tuple((name, read[name]) for name in names))
    if len(names) > 1:
        entries = ", ".join(f"{name} = ..." for name in names)
        raise BadInput(
            f"the costs {_listed(names)} are read from the output: say where each is, as in"
            f" read = {{{entries}}}"
        )
    return read


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


_LINEAR_READERS = (Nothing, LastNumber, JsonLine, AclibLine, IraceLine)


def is_linear(reader: Reader) -> bool:
    """Whether a reader takes linear time on any output."""
    if isinstance(reader, ByName):
        return all(is_linear(one) for _, one in reader.readers)
    return isinstance(reader, _LINEAR_READERS)


def named_readers(needs_quality: bool) -> dict[str, Reader]:
    """Readers that have a name.

    Where only the runtime counts, nothing needs to be read, and irace's cost is a time.
    """
    irace = IraceLine(cost_is_time=not needs_quality)
    named: dict[str, Reader] = {"last number": LastNumber(), "aclib": AclibLine(), "irace": irace}
    return {**named, "aclib2": AclibLine(), **({} if needs_quality else {"time": Nothing()})}


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
    """Quote a value in at most one line."""
    text = repr(found if not isinstance(found, str) else found[: _QUOTE_LENGTH + 1])
    return text if len(text) <= _QUOTE_LENGTH + 2 else f"{text[:_QUOTE_LENGTH]}..."


def _lines_backwards(output: str) -> Iterator[str]:
    """Yield the lines in reverse order, because results are at the end."""
    end = len(output)
    while end >= 0:
        begin = output.rfind("\n", 0, end) + 1
        yield from reversed(output[begin:end].splitlines())  # it may contain other line separators
        end = begin - 1


def _time(seconds: float | None) -> float | None:
    """Check that a runtime is possible."""
    if seconds is not None and not 0 <= seconds < math.inf:
        raise Unreadable(f"a runtime of {seconds:g} seconds is impossible")
    return seconds


def texts_of(outcome: Outcome) -> tuple[str, str]:
    """Decode standard output and standard error."""
    return outcome.output.decode("utf-8", "replace"), outcome.errors.decode("utf-8", "replace")


def read_streams(reader: Reader, output: str, errors: str) -> Reading:
    """Read standard output, or else standard error.

    Interfaces of other tools require their line on standard output.
    """
    if isinstance(reader, ByName):
        return _joined({name: read_streams(one, output, errors) for name, one in reader.readers})
    try:
        return reader.read(output)
    except Unreadable as error:
        if isinstance(reader, AclibLine | IraceLine) or not errors.strip():
            return Reading(problem=str(error))
        try:
            return reader.read(errors)._replace(stream="standard error")
        except Unreadable:
            return Reading(problem=f"{error} (searched standard output, then standard error)")
