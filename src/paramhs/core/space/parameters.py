"""Parameters: each is a list of values, named by their indices 0 .. levels - 1.

The list is never built where a formula gives its values, so a million levels cost nothing.
"""

import math
import sys
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.integer_grids import log_spaced, usual_levels
from paramhs.core.space.literals import (
    DIGITS,
    Value,
    identity,
    is_finite,
    is_integer,
    is_number,
    rounded,
    value_text,
)
from paramhs.core.space.objects import (
    digests_of,
    named_objects,
    plain,
    position_of,
)
from paramhs.core.text.quoting import short

DEFAULT_LEVELS = 65  # 64 equal steps between both ends, so the middle of the range is a level
_MAX_LEVELS = 2**53  # beyond, a draw by a double would miss some
_MAX_VALUES = 1_000_000  # of a list


class Parameter(ABC):
    """A finite list of values with a default; `ordered` if their distances mean something."""

    levels: int
    default_index: int
    ordered: bool
    numeric: bool

    @abstractmethod
    def value(self, index: int) -> Value:
        """The value at an index.

        Args:
            index: An integer from 0 on.

        Returns:
            The value.
        """

    @abstractmethod
    def index(self, value: object) -> int:
        """The index of a value; `BadInput` if it is not one of them.

        Args:
            value: One of the values.

        Returns:
            Its index, counted from 0.
        """

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Describe the parameter in JSON types."""

    def argument(self, index: int) -> object:
        """The object that a Python target receives for the value at an index."""
        return self.value(index)

    @property
    def default(self) -> Value:
        """The value used unless another is given."""
        return self.value(self.default_index)

    @property
    def choices(self) -> tuple[Value, ...]:
        """The values, where they are given one by one; empty where a formula gives them."""
        return ()

    @property
    def is_log(self) -> bool:
        """Whether the values are log-spaced."""
        return False

    @property
    def text(self) -> str:
        """The values in a few words."""
        if not self.numeric:
            listed = [value_text(self.value(index)) for index in range(min(self.levels, 9))]
            return ", ".join([*listed[:8], f"... ({self.levels})"] if self.levels > 8 else listed)
        ends = " to ".join(value_text(self.value(index)) for index in (0, self.levels - 1))
        return f"{ends} ({self.levels:,} values{', log' if self.is_log else ''})"


@dataclass(frozen=True)
class Integer(Parameter):
    """The integers low, low + step, ..., up to at most high; or a log-spaced choice of them.

    With `log`, at most `levels` integers whose steps grow with their size; a range from 0 has 0 and
    a log-spaced choice from 1. A default that is none of them takes the place of the nearest inner
    one, as for `Real`. `special` are values outside the range, such as -1 for "automatic": those
    below it come before it in the order of the values, those above it after.

    Args:
        low: Smallest value.
        high: Largest value.
        step: Distance of two values.
        log: Whether values are spaced evenly in their logarithms.
        levels: Largest number of values with `log`.
        default: Default value. Left out: the middle.
        special: Values outside the range that mean something else.

    Examples:
        >>> import paramhs
        >>> paramhs.Space({"k": paramhs.Integer(0, 10, step=5)}).size()
        3
    """

    low: int
    high: int
    step: int = 1
    default_value: int | None = field(default=None, kw_only=True)
    special: tuple[int, ...] = field(default=(), kw_only=True)
    _before: int = field(default=0, kw_only=True, repr=False)
    chosen: tuple[int, ...] = field(default=(), kw_only=True, repr=False)

    ordered = True
    numeric = True

    def __init__(
        self,
        low: int,
        high: int,
        step: int = 1,
        *,
        log: bool = False,
        levels: int | None = None,
        default: int | None = None,
        special: Sequence[int] = (),
    ) -> None:
        low, high, step, levels, default = map(plain, (low, high, step, levels, default))  # type: ignore[assignment]
        for name, number in (("low", low), ("high", high), ("step", step)):
            if not is_integer(number):
                raise BadInput(
                    f"an integer parameter's {name} must be an integer, not {short(number)}"
                )
            if not is_finite(number):
                raise BadInput(f"an integer parameter's {name} must be below 10^308 in size")
        if step < 1:
            raise BadInput(f"an integer parameter's step must be at least 1, not {step}")
        if high < low:
            raise BadInput(f"an integer parameter's range is empty: low {low} > high {high}")
        beside = _special(special, low, high, is_integer)
        _freeze(self, low=low, high=high, step=step, special=beside, chosen=())
        _freeze(self, _before=sum(value < low for value in beside))
        if log:
            within = None if default in beside else default
            self._choose(levels, within)
        elif levels is not None:
            raise BadInput("an integer parameter has levels only if it is log-spaced; give a step")
        elif (high - low) // step >= _MAX_LEVELS:
            raise BadInput(f"{low} .. {high} has more than 2^53 values; give a larger step")
        size = len(self.chosen) or (high - low) // step + 1
        _freeze(self, levels=size + len(beside))
        index = self._before + (size - 1) // 2 if default is None else self.index(default)
        _freeze(self, default_index=index, default_value=self.value(index))

    def _choose(self, levels: int | None, default: int | None) -> None:
        if self.step != 1:
            raise BadInput(f"a log-spaced integer parameter has no step, and {self.step} is given")
        most = usual_levels(self.low, self.high) if levels is None else levels
        _freeze(self, chosen=log_spaced(self.low, self.high, most, default))

    @property
    def log(self) -> bool:
        """Whether the values are log-spaced."""
        return bool(self.chosen)

    is_log = log

    def value(self, index: int) -> int:
        """The value at an index."""
        if self.special:
            outside = _outside(self, index)
            if outside is not None:
                return int(outside)
            index -= self._before
        return self.chosen[index] if self.chosen else self.low + index * self.step

    def index(self, value: object) -> int:
        """The index of a value."""
        value = plain(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not is_integer(value):
            raise BadInput(f"{short(value)} is not an integer")
        assert isinstance(value, int)  # noqa: S101 -- for the type checker
        if value in self.special:
            return _special_index(self, value)
        if not self.low <= value <= self.high:
            raise BadInput(f"{short(value)} is not in {_range_text(self)}")
        if self.chosen:
            return self._before + self._chosen_index(value)
        index, off_step = divmod(value - self.low, self.step)
        if off_step:
            by = f" in steps of {self.step}" if self.step > 1 else ""
            raise BadInput(f"{short(value)} is not in {_range_text(self)}{by}")
        return self._before + index

    def _chosen_index(self, value: int) -> int:
        index = bisect_left(self.chosen, value)
        if self.chosen[index] == value:
            return index
        near = self.chosen[index - 1 : index + 1]
        raise BadInput(
            f"{value} is not one of the {len(self.chosen)} values from {self.low} to {self.high};"
            f" next to it are {near[0]} and {near[1]}"
        )

    def describe(self) -> dict[str, object]:
        """Describe the parameter in JSON types."""
        logged = {"log": True, "levels": max(len(self.chosen), 3)} if self.log else {}
        return {
            "type": "integer",
            "low": self.low,
            "high": self.high,
            "step": self.step,
            **logged,
            **({"special": list(self.special)} if self.special else {}),
            "default": self.default,
        }


@lru_cache(maxsize=100_000)
def _level(low: float, high: float, levels: int, log: bool, index: int) -> float:
    """The value at an index of an even grid; cached, because the same few are requested often."""
    if index == 0:
        return low
    if index == levels - 1:
        return high
    part = index / (levels - 1)
    if log:
        return rounded(math.exp((1 - part) * math.log(low) + part * math.log(high)))
    value = low + (high - low) * part
    return rounded(value) if abs(value) > 1e-12 * (high - low) else 0.0


@dataclass(frozen=True)
class Real(Parameter):
    """A grid of numbers from low to high, both included, evenly spaced (or in their logarithms).

    A default that is not a grid point takes the place of the nearest inner one, so it is always on
    the grid and the number of levels is the one asked for. `special` are values outside the range,
    such as 0 for "off" beside a log-spaced range: those below it come before it in the order of
    the values, those above it after.

    Args:
        low: Smallest value.
        high: Largest value.
        levels: Number of values of the grid.
        log: Whether values are evenly spaced in their logarithms.
        default: Default value. Left out: the middle.
        special: Values outside the range that mean something else.

    Examples:
        >>> import paramhs
        >>> rate = paramhs.Real(0.01, 1.0, levels=3, log=True)
        >>> rate.value(1)
        0.1
    """

    low: float
    high: float
    levels: int
    log: bool
    default_value: float = field(kw_only=True)
    special: tuple[float, ...] = field(default=(), kw_only=True)
    _before: int = field(default=0, kw_only=True, repr=False)

    ordered = True
    numeric = True

    def __init__(
        self,
        low: float,
        high: float,
        levels: int = DEFAULT_LEVELS,
        *,
        log: bool = False,
        default: float | None = None,
        special: Sequence[float] = (),
    ) -> None:
        low, high, levels, default = map(plain, (low, high, levels, default))  # type: ignore[assignment]
        for name, number in (("low", low), ("high", high)):
            if not is_finite(number):
                raise BadInput(
                    f"a real parameter's {name} must be a finite number, not {short(number)}"
                )
        if not is_integer(levels) or levels < 2:
            raise BadInput(f"a real parameter needs at least 2 levels, not {short(levels)}")
        if levels > _MAX_LEVELS:
            raise BadInput("a real parameter may have 2^53 levels, and this one has more")
        if high <= low:
            raise BadInput(f"a real parameter's range is empty: low {low} >= high {high}")
        if log and low <= 0:
            zero = "; give special = [0] for 0 itself" if low == 0 else ""
            raise BadInput(f"a log-spaced parameter must have low > 0, not {low}{zero}")
        if log and low < sys.float_info.min:  # there, doubles lose their digits one by one
            raise BadInput(f"{low} is too small for logarithms: give at least 1e-307")
        beside = tuple(map(float, _special(special, low, high, is_finite)))
        _freeze(self, low=float(low), high=float(high), log=bool(log), special=beside)
        _freeze(self, levels=levels + len(beside), _before=sum(value < low for value in beside))
        self._check_grid()
        self._place_default(default)

    @property
    def grid_levels(self) -> int:
        """Number of values in the range; the special ones are not counted."""
        return self.levels - len(self.special)

    def _check_grid(self) -> None:
        if not math.isfinite(self.high - self.low):
            raise BadInput(f"the range {self.low} .. {self.high} is too wide for its middle")
        steps = self.grid_levels - 1
        if self.log:
            step, size = self._log_width / steps, 1.0
        else:
            step, size = (self.high - self.low) / steps, max(abs(self.low), abs(self.high))
        if step < max(10 ** (1 - DIGITS) * size, sys.float_info.min):
            raise BadInput(
                f"{self.grid_levels} levels between {self.low} and {self.high} are too close to"
                f" tell apart in {DIGITS} digits"
            )

    @property
    def _log_width(self) -> float:
        return math.log(self.high) - math.log(self.low)  # high / low may be beyond all doubles

    def _place_default(self, default: float | None) -> None:
        if default is None:
            index = (self.grid_levels - 1) // 2
            _freeze(self, default_index=self._before + index, default_value=self._grid(index))
            return
        if is_finite(default) and default in self.special:
            index = _special_index(self, default)
            _freeze(self, default_index=index, default_value=float(default))
            return
        if not is_finite(default) or not self.low <= default <= self.high:
            raise BadInput(f"the default {short(default)} is not in {_range_text(self)}")
        index = self._nearest(default)
        if not self._is_close(self._grid(index), default):
            if self.grid_levels < 3:
                raise BadInput(f"2 levels leave no room for the default {default}: give 3 or more")
            index = min(max(index, 1), self.grid_levels - 2)
        _freeze(self, default_index=self._before + index, default_value=float(default))

    def _grid(self, index: int) -> float:
        return _level(self.low, self.high, self.grid_levels, self.log, index)

    def _nearest(self, value: float) -> int:
        if self.log:
            part = (math.log(value) - math.log(self.low)) / self._log_width
        else:
            part = (value - self.low) / (self.high - self.low)
        steps = self.grid_levels - 1
        return min(max(round(part * steps), 0), steps)

    def _is_close(self, level: float, value: float) -> bool:
        """Whether they differ by rounding: little, and far less than the level from the next."""
        slack = 1e-9 * abs(value) + 1e-12 * (self.high - self.low)
        spacing = (self.high - self.low) / (self.grid_levels - 1)
        if self.log:
            spacing = level * (self._log_width / (self.grid_levels - 1))
        return abs(level - value) <= min(slack, spacing / 8)

    @property
    def is_log(self) -> bool:
        """Whether the values are log-spaced."""
        return self.log

    def value(self, index: int) -> float:
        """The value at an index."""
        if index == self.default_index:
            return self.default_value
        if self.special:
            outside = _outside(self, index)
            if outside is not None:
                return outside
        return self._grid(index - self._before)

    def index(self, value: object) -> int:
        """The index of a value; a relative error of 1e-9 is accepted."""
        value = plain(value)
        if not is_finite(value):
            raise BadInput(f"{short(value)} is not a number")
        number = float(value)  # type: ignore[arg-type]
        if number in self.special:
            return _special_index(self, number)
        inside = min(max(number, self.low), self.high)
        nearest = self._before + self._nearest(inside)
        candidates = sorted(
            {nearest, self.default_index}, key=lambda i: abs(self.value(i) - number)
        )
        if self._is_close(self.value(candidates[0]), number):
            return candidates[0]
        if number != inside:
            raise BadInput(f"{value} is not in {_range_text(self)}")
        raise BadInput(
            f"{value} is not one of the {self.grid_levels} values from {self.low} to {self.high};"
            f" the nearest is {self.value(nearest)}"
        )

    def describe(self) -> dict[str, object]:
        """Describe the parameter in JSON types."""
        return {
            "type": "real",
            "low": self.low,
            "high": self.high,
            "levels": self.grid_levels,
            "log": self.log,
            **({"special": list(self.special)} if self.special else {}),
            "default": self.default,
        }


def _special(
    values: Sequence[float], low: float, high: float, is_right: Callable[[object], bool]
) -> tuple[Any, ...]:
    """Special values in order; `BadInput` for one in the range, of another type or twice."""
    values = plain(values)  # type: ignore[assignment]  # an array is a list
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise BadInput(f"special must be a list of numbers, not {short(values)}")
    values = list(map(plain, values))  # type: ignore[arg-type]
    for value in values:
        if not is_right(value):
            raise BadInput(f"the special value {short(value)} is not a number of the right kind")
        if low <= value <= high:
            raise BadInput(f"the special value {value} is in the range {low} .. {high} already")
    if len(set(values)) < len(values):
        raise BadInput(f"special values must differ: {short(list(values))}")
    return tuple(sorted(values))


def _outside(parameter: Integer | Real, index: int) -> float | None:
    """The special value at an index; None where the value is in the range."""
    if index < parameter._before:
        return parameter.special[index]
    place = index - parameter.levels + len(parameter.special)
    return parameter.special[place] if place >= parameter._before else None


def _special_index(parameter: Integer | Real, value: float) -> int:
    place = parameter.special.index(value)
    after = place >= parameter._before
    return parameter.levels - len(parameter.special) + place if after else place


def _range_text(parameter: Integer | Real) -> str:
    beside = f", nor one of {', '.join(map(str, parameter.special))}" if parameter.special else ""
    return f"{parameter.low} .. {parameter.high}{beside}"


class _Listed(Parameter):
    """Values given one by one, or objects under names.

    With a dictionary, its keys are the values: stores, tables and reports show them. A Python
    target receives the objects. Objects in a list get names that are made for them.
    """

    numeric = False

    def __init__(self, values: Iterable[Any], *, default: Any = None) -> None:
        values = plain(values)  # type: ignore[assignment]  # an array is a list
        if isinstance(values, str | set | frozenset) or not isinstance(values, Iterable):
            raise BadInput(f"values must be a list, not {short(values)}")
        names: list[Any] = [plain(value) for value in islice(values, _MAX_VALUES + 1)]
        objects = list(values.values()) if isinstance(values, Mapping) else []
        if not isinstance(values, Mapping):
            names, objects = named_objects(names)
        self.values: tuple[Value, ...] = tuple(names)
        self.objects = tuple(objects)
        self.object_digests: Mapping[str, str] = {}
        self.levels = len(self.values)
        self._indices = {identity(value): i for i, value in enumerate(self.values)}
        if not self.values:
            raise BadInput("a parameter needs at least one value")
        if self.levels > _MAX_VALUES:
            raise BadInput(f"a list may have {_MAX_VALUES:,} values, and this one has more")
        if len(self._indices) < self.levels or len(set(map(str, self.values))) < self.levels:
            raise BadInput(f"values must differ, also in writing: {short(list(self.values))}")
        if self.objects:
            self.object_digests = digests_of(zip(map(str, self.values), self.objects, strict=True))
        self.default_index = self._usual_default() if default is None else self.index(default)

    def _usual_default(self) -> int:
        return 0

    @property
    def choices(self) -> tuple[Value, ...]:
        """The listed values."""
        return self.values

    def value(self, index: int) -> Value:
        """The value at an index."""
        return self.values[index]

    def argument(self, index: int) -> object:
        """The object under the value's name, or the value itself."""
        return self.objects[index] if self.objects else self.values[index]

    def index(self, value: object) -> int:
        """The index of a value, or of the object that it names."""
        position = position_of(value, self.objects)
        if position is not None:
            return position
        try:
            return self._indices[identity(plain(value))]
        except (KeyError, TypeError):
            listed = ", ".join(value_text(one)[:80] for one in self.values[:20])
            listed += ", ..." if self.levels > 20 else ""
            raise BadInput(f"{short(value)} is not one of {listed}") from None

    def describe(self) -> dict[str, object]:
        """Describe the parameter in JSON types; an object is identified by its content."""
        kind = type(self).__name__.lower()
        objects = {"objects": dict(self.object_digests)} if self.object_digests else {}
        return {"type": kind, "values": list(self.values), "default": self.default, **objects}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Listed)
            and type(other) is type(self)
            and list(map(identity, self.values)) == list(map(identity, other.values))
            and self.object_digests == other.object_digests
            and self.default_index == other.default_index
        )

    def __hash__(self) -> int:
        return hash((type(self), self.values, self.default_index))

    def __repr__(self) -> str:
        if self.objects:
            known = zip(self.values, self.objects, strict=True)
            values = "{" + ", ".join(f"{name!r}: {short(thing)}" for name, thing in known) + "}"
        else:
            values = repr(list(self.values))
        return f"{type(self).__name__}({values}, default={self.default!r})"


class Ordinal(_Listed):
    """Values in a meaningful order: their distance is the distance of their indices.

    Args:
        values: The values in order; or a dictionary from names to objects.
        default: Default value. Left out: the middle one. None among the values is named "None".

    Examples:
        >>> import paramhs
        >>> paramhs.Ordinal(["low", "medium", "high"]).default
        'medium'
    """

    ordered = True

    def _usual_default(self) -> int:
        return (self.levels - 1) // 2


class Categorical(_Listed):
    """Values without order: every other value is equally far.

    Args:
        values: The values, in any order; or a dictionary from names to objects.
        default: Default value. Left out: the first one. None among the values is named "None".

    Examples:
        >>> import paramhs
        >>> paramhs.Categorical(["fast", "safe"]).default
        'fast'
    """

    ordered = False


class Boolean(Categorical):
    """False or True.

    Args:
        default: Default value.

    Examples:
        >>> import paramhs
        >>> paramhs.Boolean(default=True).default
        True
    """

    def __init__(self, *, default: bool = False) -> None:
        super().__init__((False, True), default=default)

    def __repr__(self) -> str:
        return f"Boolean(default={self.default!r})"


def parameter(spec: object) -> Parameter:
    """Convert a shorthand to a parameter.

    `(0.5, 25.0)` is a real range, `(1, 50)` and `range(1, 51)` integers, a list or an array
    categories, `bool` a boolean; a parameter is itself.
    """
    spec = plain(spec)
    if isinstance(spec, Parameter):
        return spec
    if spec is bool:
        return Boolean()
    if isinstance(spec, range):
        if not spec:
            raise BadInput(f"{short(spec)} is empty")
        ordered = spec if spec.step > 0 else spec[::-1]
        return Integer(ordered[0], ordered[-1], ordered.step)
    if isinstance(spec, tuple):
        return _from_pair(tuple(map(plain, spec)))
    if isinstance(spec, list):
        return Categorical(spec)
    raise BadInput(
        f"{short(spec)} is not a parameter; expected (low, high), range(...), a list of values,"
        " bool, or Integer, Real, Ordinal, Categorical, Boolean"
    )


def _from_pair(pair: Sequence[object]) -> Parameter:
    if len(pair) != 2 or not all(is_number(end) for end in pair):
        raise BadInput(f"{short(pair)} is not a range; expected (low, high), two numbers")
    low, high = pair
    if is_integer(low) and is_integer(high):
        return Integer(low, high)  # type: ignore[arg-type]
    return Real(low, high)  # type: ignore[arg-type]


def _freeze(frozen: object, **attributes: object) -> None:
    for name, attribute in attributes.items():
        object.__setattr__(frozen, name, attribute)
