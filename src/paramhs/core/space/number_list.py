"""A parameter of an imported search: the numbers that were tried, exactly as they were."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.space.literals import Value, is_number, value_text
from paramhs.core.space.parameters import Parameter
from paramhs.core.text.quoting import short


class NumberList(Parameter):
    """Increasing numbers, the only ones that another program tried.

    Other programs draw from continuous ranges. Rounded to a grid, their runs would belong to other
    configurations, and two of theirs might become one of ours.

    Args:
        values: The numbers, in any order.
        log: Whether they were drawn evenly in their logarithms.
        default: Default value. Left out: the middle one.
    """

    ordered = True
    numeric = True

    def __init__(
        self, values: Iterable[int | float], *, log: bool = False, default: Value | None = None
    ) -> None:
        self.values = tuple(sorted(set(values)))
        if not self.values or not all(map(is_number, self.values)):
            raise BadInput(f"expected numbers that were tried, not {short(self.values)}")
        self.log = bool(log)
        self.levels = len(self.values)
        self.default_index = (self.levels - 1) // 2 if default is None else self.index(default)

    @property
    def is_log(self) -> bool:
        """Whether the values are log-spaced."""
        return self.log and self.values[0] > 0

    def value(self, index: int) -> Value:
        """The value at an index."""
        return self.values[index]

    def index(self, value: object) -> int:
        """The index of a value."""
        if is_number(value):
            number: Any = value
            index = bisect_left(self.values, number)
            if index < self.levels and self.values[index] == number:
                return index
        raise BadInput(f"{short(value)} is not one of the {self.levels} numbers that were tried")

    def describe(self) -> dict[str, object]:
        """Describe the parameter in JSON types."""
        return {
            "type": "numbers",
            "values": list(self.values),
            "log": self.log,
            "default": self.default,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberList) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((type(self), self.values, self.default_index))

    def __repr__(self) -> str:
        ends = f"{value_text(self.values[0])} .. {value_text(self.values[-1])}"
        return f"NumberList({self.levels} numbers, {ends})"
