"""The range of an option that is worth tuning, from what the solver lists and the entry adds.

Solvers accept more than makes sense: most integers of kissat end at 2^31 - 1, which means that it
does not care. A range is cut to a factor around the default, and is log-spaced where it spans
decades. Values that are no quantity, such as -1 for "automatic" or 0 for "off" below a cut, are
special values beside the range.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Parameter, Real, Value
from paramhs.core.space.parameters import DEFAULT_LEVELS
from paramhs.solvers.entry import Range
from paramhs.solvers.options import UNSET, Kind, Option

_SMALL_STEPS = 20  # steps up to which a range of integers is taken as it is
_WIDE_RATIO = 50.0  # ratio of the ends from which a range is log-spaced
_MIN_SIZE = 10  # what counts as the size of an integer default below it, where a range is cut
_LINEAR_SHARE = 0.05  # share of a range above which a default asks for even steps
_MAX_SHARE = 1_000  # upper end of integers that may be a percentage, or one per mille
_NO_LIMIT = 2**31 - 1  # as a default: a special value beside a range
_LEVELS = 41  # of a real range in even steps


class NoRange(Exception):
    """The option cannot be tuned; the text says why."""


class _Ends(NamedTuple):
    low: float
    high: float
    special: tuple[float, ...]


def parameter_of(option: Option, given: Range, far: float) -> Parameter:
    """The parameter of an option; `NoRange` if there is none.

    Args:
        option: what the solver lists.
        given: what the entry says instead.
        far: how many times the default, or what part of it, a range goes at most.
    """
    try:
        values = _own_values(option) if given.unset and given.values is None else given.values
        if values is not None:
            return _listed(UNSET if given.unset else option.default, values)
        return _MAKERS[_kind(option, given)](option, given, far)
    except BadInput as error:
        raise NoRange(f"no range fits it: {error}") from None


def _kind(option: Option, given: Range) -> Kind:
    """Its kind: where an entry gives real ends, a default such as 1 was a real number."""
    whole = option.kind == "integer"
    return "real" if whole and isinstance(given.high, float) else option.kind


def _own_values(option: Option) -> Sequence[Value]:
    """All values of a boolean or a choice."""
    if option.kind not in ("boolean", "choice"):
        raise NoRange("the entry gives it no values")
    return option.choices or (False, True)


def _listed(default: Value, values: Sequence[Value]) -> Parameter:
    """The values of the entry, and the default."""
    together = [*([] if default in values else [default]), *values]
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in together):
        return Ordinal(sorted(together), default=default)
    return Categorical(together, default=default)


def _boolean(option: Option, given: Range, far: float) -> Parameter:
    return Boolean(default=bool(option.default))


def _choice(option: Option, given: Range, far: float) -> Parameter:
    if len(option.choices) < 2:
        raise NoRange("it has one value only")
    if all(isinstance(value, int | float) for value in option.choices):
        return Ordinal(sorted(option.choices), default=option.default)
    return Categorical(option.choices, default=option.default)


def _text(option: Option, given: Range, far: float) -> Parameter:
    raise NoRange("its value is a text of any kind")


def _integer(option: Option, given: Range, far: float) -> Parameter:
    default = int(option.default)
    ends = _ends(option, given)
    if default >= _NO_LIMIT and given.high is None:
        ends = _Ends(max(ends.low, 0), _MIN_SIZE * far, (*ends.special, default))
    share = ends.high <= _MAX_SHARE and default - ends.low >= _LINEAR_SHARE * (ends.high - ends.low)
    even = ends.high - ends.low <= _SMALL_STEPS or (share and default not in ends.special)
    if not even:
        ends = _cut(ends, default, max(abs(default), _MIN_SIZE), far, given)
    low, high = math.floor(ends.low), math.floor(ends.high)
    wide = low >= 0 and not even and high >= _WIDE_RATIO * max(low, 1)
    log = wide if given.log is None else given.log
    special = [int(value) for value in ends.special]
    levels = given.levels if log else None
    return Integer(low, high, log=log, levels=levels, default=default, special=special)


def _real(option: Option, given: Range, far: float) -> Parameter:
    default, ends = float(option.default), _ends(option, given)
    if math.isinf(default):
        raise NoRange("it has no limit by default")
    if _is_even(ends, default, given):
        levels = given.levels or _LEVELS
        return Real(ends.low, ends.high, levels, default=default, special=ends.special)
    if math.isinf(ends.high) and (default <= 0 or default in ends.special):
        raise NoRange(f"it has no upper bound, and {default:g} as its default tells no size")
    low, high, special = _cut(ends, default, abs(default), far, given)
    if low <= 0:
        raise NoRange(f"its range {ends.low:g} to {ends.high:g} has no scale: the entry gives none")
    log = high >= _WIDE_RATIO * low if given.log is None else given.log
    levels = given.levels or (DEFAULT_LEVELS if log else _LEVELS)
    return Real(low, high, levels, log=log, default=default, special=special)


def _is_even(ends: _Ends, default: float, given: Range) -> bool:
    """Whether even steps fit a real range: a share, or one that goes below 0."""
    if given.log is not None or math.isinf(ends.high):
        return given.log is False
    share = default - ends.low >= _LINEAR_SHARE * (ends.high - ends.low)
    return ends.low <= 0 and (default <= 0 or (default not in ends.special and share))


_MAKERS: Mapping[Kind, Callable[[Option, Range, float], Parameter]] = {
    "boolean": _boolean,
    "choice": _choice,
    "text": _text,
    "integer": _integer,
    "real": _real,
}


def _ends(option: Option, given: Range) -> _Ends:
    """Low, high and special values, of the entry where it says so, else of the solver.

    A lower end of -1 below a long range is a special value: automatic, or no limit. So is a
    default outside the range.
    """
    default = float(option.default)
    low = given.low if given.low is not None else option.low
    high = given.high if given.high is not None else option.high
    low = min(default, 0.0) if low is None else low
    high = math.inf if high is None else high
    special = list(given.special or ())
    if given.special is None and low == -1 and high > _SMALL_STEPS:
        low, special = 0, [-1]
    special = [value for value in special if not low <= value <= high]
    if not low <= default <= high and default not in special:
        special.append(default)
    return _Ends(low, high, tuple(special))


def _cut(ends: _Ends, default: float, size: float, far: float, given: Range) -> _Ends:
    """Ends that are at most `far` times from the size of the default.

    Integers have a size of at least `_MIN_SIZE`. Where 0 is allowed and cut off, it becomes a
    special value.
    """
    low, high, special = ends
    whole = isinstance(default, int)
    if default in special:
        size = max(low, _MIN_SIZE if whole else size)
    if given.high is None and size:
        high = min(high, size * far)
    if given.low is not None:
        return _Ends(low, high, special)
    near = math.floor(size / far) if whole else size / far
    if low < 0:
        low = max(low, -size * far)
    elif low < near and (low > 0 or default not in (0, *special)):
        special = special if low else (*special, 0)
        low = near
    return _Ends(low, high, special)
