"""Terms on either side of a comparison: parameters, numbers, and arithmetic with them.

Numbers are doubles and behave as in R: division by zero gives infinity, an undefined result is NaN,
and a comparison with NaN is false.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from paramhs.core.errors import BadInput
from paramhs.core.space.literals import is_finite, value_text
from paramhs.core.space.parameters import Ordinal, Parameter
from paramhs.core.text.quoting import short

# Possessive quantifiers: a long run of digits that is no number is scanned only once.
DIGITS = r"(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+"
NUMBER = rf"{DIGITS}(?![\w.:@/-])"
WORD = r"[\w@][\w.:@/-]*+"
KEYWORDS = ("and", "or", "in")
_MAX_TERMS = 1000  # terms of one sum, product, min or max


@dataclass(frozen=True)
class Ref:
    """Reference to a parameter, on the right of a comparison or in arithmetic."""

    name: str

    def __str__(self) -> str:
        return written_name(self.name)


@dataclass(frozen=True)
class Calculation:
    """Arithmetic operation: a sign of `+ - * / % ^` between terms, or a function such as `min`.

    + and * may have more than two terms: `a + b + c` is one sum.
    """

    sign: str
    parts: tuple["Term", ...]

    def __post_init__(self) -> None:
        if len(self.parts) not in _arity(self.sign):
            raise BadInput(
                f"{self.sign!r} with {len(self.parts)} numbers is not an arithmetic operation"
            )
        check_terms(self.parts)

    def __str__(self) -> str:
        if self.sign in FUNCTIONS:
            return f"{self.sign}({', '.join(map(_text, self.parts))})"
        return f" {self.sign} ".join(map(_part, self.parts))


Term = int | float | Ref | Calculation


def check_terms(terms: Iterable[object]) -> None:
    """Reject anything but parameters, arithmetic and finite numbers."""
    for term in terms:
        if not isinstance(term, Ref | Calculation) and not is_finite(term):
            raise BadInput(f"{short(term)} is not a finite number")


def _text(term: Term) -> str:
    return str(term) if isinstance(term, Ref | Calculation) else value_text(term)


def _part(term: Term) -> str:
    inner = term.sign not in FUNCTIONS if isinstance(term, Calculation) else False
    negative = isinstance(term, int | float) and term < 0
    return f"({_text(term)})" if inner or negative else _text(term)


def written_name(name: str) -> str:
    """Parameter name as written in expressions: in backquotes unless it is a plain word."""
    bare = re.fullmatch(WORD, name) and not re.fullmatch(DIGITS, name)
    return name if bare and name not in (*KEYWORDS, *FUNCTIONS) else f"`{name}`"


def mentioned(term: object) -> Iterator[str]:
    """Yield the names of the parameters in a term."""
    if isinstance(term, Ref):
        yield term.name
    elif isinstance(term, Calculation):
        for part in term.parts:
            yield from mentioned(part)


# The operations on doubles


def _divided(a: float, b: float) -> float:
    if b:
        return a / b
    return math.copysign(math.inf, a) if a else math.nan


def _remainder(a: float, b: float) -> float:
    return a % b if b else math.nan


def _nan_first(choose: Callable[[Sequence[float]], float]) -> Callable[..., float]:
    return lambda *numbers: math.nan if any(map(math.isnan, numbers)) else choose(numbers)


_SIGNS: dict[str, Callable[..., float]] = {
    "+": lambda *numbers: reduce(operator.add, numbers),
    "-": operator.sub,
    "*": lambda *numbers: reduce(operator.mul, numbers),
    "/": _divided,
    "%": _remainder,
    "^": math.pow,
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": _nan_first(min),
    "max": _nan_first(max),
    "abs": abs,
    "round": round,
    "floor": math.floor,
    "ceiling": math.ceil,
    "trunc": math.trunc,
}


def _arity(sign: str) -> range:
    if sign in ("+", "*"):
        return range(2, _MAX_TERMS)
    if sign in ("min", "max"):
        return range(1, _MAX_TERMS)
    return range(1, 2) if sign in FUNCTIONS else range(2, 3) if sign in _SIGNS else range(0)


def operation(sign: str) -> Callable[..., float]:
    """The operation on doubles that a sign or the name of a function stands for."""
    made = _SIGNS.get(sign) or FUNCTIONS[sign]

    def operate(*numbers: float) -> float:
        try:
            return float(made(*numbers))
        except OverflowError:  # from pow, or from rounding an infinity
            return math.inf if sign == "^" else numbers[0]
        except ValueError:  # from rounding NaN, or from a root of a negative number
            return math.nan

    return operate


def calculated(sign: str, *parts: Term) -> Term:
    """Build an arithmetic term, or compute its value if it contains no parameter."""
    first = parts[0] if parts else None
    if sign in ("+", "*") and isinstance(first, Calculation) and first.sign == sign:
        parts = (*first.parts, *parts[1:])
    made = Calculation(sign, parts)
    numbers = [part for part in parts if isinstance(part, int | float)]
    if len(numbers) < len(parts):
        return made
    value = operation(sign)(*map(float, numbers))
    if not is_finite(value):
        raise BadInput(f"'{made}' is not a finite number")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def may_be_nan(term: object) -> bool:
    """Whether a term may be NaN: only division and powers by something that varies can be."""
    if not isinstance(term, Calculation):
        return False
    if term.sign in ("/", "%", "^"):
        first, second = term.parts
        fixed = isinstance(second, int | float) and second != 0
        whole = fixed and float(second).is_integer()  # type: ignore[arg-type]
        positive = isinstance(first, int | float) and first > 0
        if not (positive or whole if term.sign == "^" else fixed):
            return True
    return any(map(may_be_nan, term.parts))


Number = Callable[[Sequence[int]], float]
"""Value of a term, given one index for each parameter, all of them active."""


def number_in(
    term: Term, parameters: Mapping[str, Parameter], position: Mapping[str, int]
) -> Number:
    """Compile a term into a function that computes its value.

    Raises:
        BadInput: A parameter in the term has no numeric values.
    """
    if isinstance(term, Ref):
        parameter, at = parameters[term.name], position[term.name]
        if not has_numbers(parameter):
            raise BadInput(
                f"{term.name} has values that are not numbers, so it cannot be used in arithmetic"
            )
        return lambda indices: float(parameter.value(indices[at]))
    if isinstance(term, Calculation):
        operate = operation(term.sign)
        parts = [number_in(part, parameters, position) for part in term.parts]
        return lambda indices: operate(*[part(indices) for part in parts])
    number = float(term)
    return lambda indices: number


def has_numbers(parameter: Parameter) -> bool:
    """Whether all values are numbers, in their order."""
    if isinstance(parameter, Ordinal):
        return all(isinstance(value, int | float) for value in parameter.values)
    return parameter.numeric
