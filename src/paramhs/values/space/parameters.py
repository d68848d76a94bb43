"""Parameters: each is a list of values, named by their indices 0 .. levels - 1.

The list is never built where a formula gives its values, so a million levels cost nothing.
"""

import math
import sys
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short
from paramhs.values.space.grids import log_spaced
from paramhs.values.space.values import (
    DIGITS,
    Value,
    identity,
    is_finite,
    is_integer,
    is_number,
    rounded,
    value_text,
)

DEFAULT_LEVELS = 65  # 64 equal steps between both ends, so the middle of the range is a level
_MOST_LEVELS = 2**53  # beyond, a draw by a double would miss some
_MOST_VALUES = 1_000_000  # of a list


class Parameter(ABC):
    """A finite list of values with a default; `ordered` if their distances mean something."""

    levels: int
    default_index: int
    ordered: bool
    numeric: bool

    @abstractmethod
    def value(self, index: int) -> Value:
        """The value at an index."""

    @abstractmethod
    def index(self, value: object) -> int:
        """The index of a value; `BadInput` if it is not one of them."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types."""

    @property
    def default(self) -> Value:
        """The value used when nobody says otherwise."""
        return self.value(self.default_index)


@dataclass(frozen=True)
class Integer(Parameter):
    """The integers low, low + step, ..., up to at most high; or a log-spaced choice of them.

    With `log`, all integers if there are at most `levels`, else that many. A default that is none
    of them takes the place of the nearest inner one, as for `Real`.
    """

    low: int
    high: int
    step: int = 1
    default_value: int | None = field(default=None, kw_only=True)
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
    ) -> None:
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
        if log:
            self._choose(low, high, step, DEFAULT_LEVELS if levels is None else levels, default)
            return
        if levels is not None:
            raise BadInput("an integer parameter has levels only if it is log-spaced; give a step")
        if (high - low) // step >= _MOST_LEVELS:
            raise BadInput(f"{low} .. {high} has more than 2^53 values; give a larger step")
        _freeze(self, low=low, high=high, step=step, levels=(high - low) // step + 1, chosen=())
        index = (self.levels - 1) // 2 if default is None else self.index(default)
        _freeze(self, default_index=index, default_value=self.value(index))

    def _choose(self, low: int, high: int, step: int, levels: int, default: int | None) -> None:
        if step != 1:
            raise BadInput(f"a log-spaced integer parameter has no step, and {step} is given")
        chosen = log_spaced(low, high, levels, default)
        index = (len(chosen) - 1) // 2 if default is None else chosen.index(default)
        _freeze(self, low=low, high=high, step=1, levels=len(chosen), chosen=chosen)
        _freeze(self, default_index=index, default_value=chosen[index])

    @property
    def log(self) -> bool:
        """Whether its values are log-spaced."""
        return bool(self.chosen)

    def value(self, index: int) -> int:
        """The value at an index."""
        return self.chosen[index] if self.chosen else self.low + index * self.step

    def index(self, value: object) -> int:
        """The index of a value."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not is_integer(value):
            raise BadInput(f"{short(value)} is not an integer")
        assert isinstance(value, int)  # noqa: S101 -- for the type checker
        if self.chosen:
            return self._chosen_index(value)
        index, off_step = divmod(value - self.low, self.step)
        if off_step or not 0 <= index < self.levels:
            by = f" in steps of {self.step}" if self.step > 1 else ""
            raise BadInput(f"{short(value)} is not in {self.low} .. {self.high}{by}")
        return index

    def _chosen_index(self, value: int) -> int:
        index = bisect_left(self.chosen, value)
        if index < self.levels and self.chosen[index] == value:
            return index
        if not self.low <= value <= self.high:
            raise BadInput(f"{short(value)} is not in {self.low} .. {self.high}")
        near = self.chosen[index - 1 : index + 1]
        raise BadInput(
            f"{value} is not one of the {self.levels} values from {self.low} to {self.high};"
            f" next to it are {near[0]} and {near[1]}"
        )

    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types."""
        logged = {"log": True, "levels": max(self.levels, 3)} if self.log else {}
        return {
            "type": "integer",
            "low": self.low,
            "high": self.high,
            "step": self.step,
            **logged,
            "default": self.default,
        }


@lru_cache(maxsize=100_000)
def _level(low: float, high: float, levels: int, log: bool, index: int) -> float:
    """The value at an index of an even grid; remembered, for the same few come again and again."""
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
    the grid and the number of levels is the one asked for.
    """

    low: float
    high: float
    levels: int
    log: bool
    default_value: float = field(kw_only=True)

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
    ) -> None:
        for name, number in (("low", low), ("high", high)):
            if not is_finite(number):
                raise BadInput(
                    f"a real parameter's {name} must be a finite number, not {short(number)}"
                )
        if not is_integer(levels) or levels < 2:
            raise BadInput(f"a real parameter needs at least 2 levels, not {short(levels)}")
        if levels > _MOST_LEVELS:
            raise BadInput("a real parameter may have 2^53 levels, and this one has more")
        if high <= low:
            raise BadInput(f"a real parameter's range is empty: low {low} >= high {high}")
        if log and low <= 0:
            raise BadInput(f"a log-spaced parameter must have low > 0, not {low}")
        if log and low < sys.float_info.min:  # there, doubles lose their digits one by one
            raise BadInput(f"{low} is too small for logarithms: give at least 1e-307")
        _freeze(self, low=float(low), high=float(high), levels=levels, log=bool(log))
        self._check_grid()
        self._place_default(default)

    def _check_grid(self) -> None:
        if not math.isfinite(self.high - self.low):
            raise BadInput(f"the range {self.low} .. {self.high} is too wide for its middle")
        steps = self.levels - 1
        if self.log:
            step, size = self._log_width / steps, 1.0
        else:
            step, size = (self.high - self.low) / steps, max(abs(self.low), abs(self.high))
        if step < max(10 ** (1 - DIGITS) * size, sys.float_info.min):
            raise BadInput(
                f"{self.levels} levels between {self.low} and {self.high} are too close to tell"
                f" apart in {DIGITS} digits"
            )

    @property
    def _log_width(self) -> float:
        return math.log(self.high) - math.log(self.low)  # high / low may be beyond all doubles

    def _place_default(self, default: float | None) -> None:
        if default is None:
            index = (self.levels - 1) // 2
            _freeze(self, default_index=index, default_value=self._grid(index))
            return
        if not is_finite(default) or not self.low <= default <= self.high:
            raise BadInput(f"the default {short(default)} is not in {self.low} .. {self.high}")
        index = self._nearest(default)
        if not self._is_close(self._grid(index), default):
            if self.levels < 3:
                raise BadInput(f"2 levels leave no room for the default {default}: give 3 or more")
            index = min(max(index, 1), self.levels - 2)
        _freeze(self, default_index=index, default_value=float(default))

    def _grid(self, index: int) -> float:
        return _level(self.low, self.high, self.levels, self.log, index)

    def _nearest(self, value: float) -> int:
        if self.log:
            part = (math.log(value) - math.log(self.low)) / self._log_width
        else:
            part = (value - self.low) / (self.high - self.low)
        return min(max(round(part * (self.levels - 1)), 0), self.levels - 1)

    def _is_close(self, level: float, value: float) -> bool:
        """Whether they differ by rounding: little, and far less than the level from the next."""
        slack = 1e-9 * abs(value) + 1e-12 * (self.high - self.low)
        spacing = (self.high - self.low) / (self.levels - 1)
        if self.log:
            spacing = level * (self._log_width / (self.levels - 1))
        return abs(level - value) <= min(slack, spacing / 8)

    def value(self, index: int) -> float:
        """The value at an index."""
        return self.default_value if index == self.default_index else self._grid(index)

    def index(self, value: object) -> int:
        """The index of a value; a relative error of 1e-9 is forgiven."""
        if not is_finite(value):
            raise BadInput(f"{short(value)} is not a number")
        number = float(value)  # type: ignore[arg-type]
        inside = min(max(number, self.low), self.high)
        nearest = self._nearest(inside)
        candidates = sorted(
            {nearest, self.default_index}, key=lambda i: abs(self.value(i) - number)
        )
        if self._is_close(self.value(candidates[0]), number):
            return candidates[0]
        if number != inside:
            raise BadInput(f"{value} is not in {self.low} .. {self.high}")
        raise BadInput(
            f"{value} is not one of the {self.levels} values from {self.low} to {self.high};"
            f" the nearest is {self.value(nearest)}"
        )

    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types."""
        return {
            "type": "real",
            "low": self.low,
            "high": self.high,
            "levels": self.levels,
            "log": self.log,
            "default": self.default,
        }


class _Listed(Parameter):
    """Values given one by one."""

    values: tuple[Value, ...]
    numeric = False

    def __init__(self, values: Iterable[Value], *, default: Value | None = None) -> None:
        if isinstance(values, str | set | frozenset) or not isinstance(values, Iterable):
            raise BadInput(f"values must be a list, not {short(values)}")
        self.values = tuple(islice(values, _MOST_VALUES + 1))
        self.levels = len(self.values)
        self._indices = {identity(value): i for i, value in enumerate(self.values)}
        if not self.values:
            raise BadInput("a parameter needs at least one value")
        if self.levels > _MOST_VALUES:
            raise BadInput(f"a list may have {_MOST_VALUES:,} values, and this one has more")
        if len(self._indices) < self.levels or len(set(map(str, self.values))) < self.levels:
            raise BadInput(f"values must differ, also in writing: {short(list(self.values))}")
        self.default_index = self._usual_default() if default is None else self.index(default)

    def _usual_default(self) -> int:
        return 0

    def value(self, index: int) -> Value:
        """The value at an index."""
        return self.values[index]

    def index(self, value: object) -> int:
        """The index of a value."""
        try:
            return self._indices[identity(value)]
        except (KeyError, TypeError):
            listed = ", ".join(value_text(one)[:80] for one in self.values[:20])
            listed += ", ..." if self.levels > 20 else ""
            raise BadInput(f"{short(value)} is not one of {listed}") from None

    def describe(self) -> dict[str, object]:
        """What defines it, in JSON types."""
        kind = type(self).__name__.lower()
        return {"type": kind, "values": list(self.values), "default": self.default}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Listed)
            and type(other) is type(self)
            and list(map(identity, self.values)) == list(map(identity, other.values))
            and self.default_index == other.default_index
        )

    def __hash__(self) -> int:
        return hash((type(self), self.values, self.default_index))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.values)!r}, default={self.default!r})"


class Ordinal(_Listed):
    """Values in a meaningful order: their distance is the distance of their indices."""

    ordered = True

    def _usual_default(self) -> int:
        return (self.levels - 1) // 2


class Categorical(_Listed):
    """Values without order: every other value is equally far."""

    ordered = False


class Boolean(Categorical):
    """False or True."""

    def __init__(self, *, default: bool = False) -> None:
        super().__init__((False, True), default=default)

    def __repr__(self) -> str:
        return f"Boolean(default={self.default!r})"


def parameter(spec: object) -> Parameter:
    """The parameter meant by a shorthand.

    `(0.5, 25.0)` is a real range, `(1, 50)` and `range(1, 51)` integers, a list categories, `bool`
    a boolean; a parameter is itself.
    """
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
        return _from_pair(spec)
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
