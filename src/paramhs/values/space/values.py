"""Values of parameters: what may be one, and how it is written."""

import json
import math

from paramhs.values.errors import BadInput
from paramhs.values.quoting import short

Value = bool | int | float | str

_LONGEST = 400  # characters of a number; doubles end at 308 digits
DIGITS = 12  # grid values are rounded to this many significant digits: 1.6, not 1.6000000000000003


def value_text(value: Value) -> str:
    """The value as written in a canonical key: different values, different texts."""
    if isinstance(value, str):
        return value if _is_plain_word(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def value_of(text: str) -> Value:
    """The value that `value_text` wrote so."""
    if _is_plain_word(text):
        return text
    try:
        value: Value = json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or an integer beyond all sizes
        raise BadInput(f"{short(text)} is not a value") from None
    identity(value)
    return value


def _is_plain_word(text: str) -> bool:
    return (
        text[:1].isalpha()
        and text.replace("_", "").replace("-", "").replace(".", "").isalnum()
        and text not in ("true", "false", "null", "NaN", "Infinity")
    )


def identity(value: object) -> object:
    """A dictionary key that tells True from 1, and does not tell 1 from 1.0."""
    if isinstance(value, bool):
        return ("bool", value)
    if not isinstance(value, int | float | str):
        raise BadInput(f"a value must be a boolean, a number or a text, not {short(value)}")
    if isinstance(value, str):
        check_text(value)
    elif not is_finite(value):
        raise BadInput(f"a value must be finite, not {short(value)}")
    return value


def check_text(text: str) -> None:
    """Refuse what no file, terminal or program could be given: half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{short(text)} has half a character in it (a lone surrogate)") from None


def number_of(text: str) -> int | float:
    """The finite number that a text of digits, a point and an exponent stands for."""
    if len(text) > _LONGEST:
        raise BadInput(f"{text[:20]}... is too long for a number: {len(text):,} characters")
    value = float(text) if set(text) & set(".eE") else int(text)
    if not is_finite(value):
        raise BadInput(f"{text[:40]}{'...' * (len(text) > 40)} is too large")
    return value


def is_integer(value: object) -> bool:
    """Whether it is an integer, which True is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether it is a number, which True is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def rounded(number: float) -> float:
    """The number with the digits that grids show."""
    return float(f"{number:.{DIGITS}g}")


def is_finite(value: object) -> bool:
    """Whether it is a number that a double can hold."""
    try:
        return is_number(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond all floats
        return False
