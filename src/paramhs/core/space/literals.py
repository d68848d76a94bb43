"""Parameter values: which are valid, and how they are written."""

import json
import math

from paramhs.core.errors import BadInput
from paramhs.core.text.quoting import short

Value = bool | int | float | str

_MAX_DIGITS = 400  # characters of a number; doubles end at 308 digits
DIGITS = 12  # grid values are rounded to this many significant digits: 1.6, not 1.6000000000000003


def value_text(value: Value) -> str:
    """Write a value as in a canonical key: different values have different texts."""
    if isinstance(value, str):
        return value if _is_plain_word(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def value_of(text: str) -> Value:
    """Parse a value written by `value_text`."""
    if _is_plain_word(text):
        return text
    try:
        value: Value = json.loads(text)
    except (ValueError, RecursionError):  # not JSON, or an integer beyond all limits
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
    """Dictionary key that separates True from 1 but not 1 from 1.0."""
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
    """Reject text with lone surrogates, which no file, terminal or program could receive."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{short(text)} has half a character in it (a lone surrogate)") from None


def number_of(text: str) -> int | float:
    """Parse digits, a point and an exponent into a finite number."""
    if len(text) > _MAX_DIGITS:
        raise BadInput(f"{text[:20]}... is too long for a number: {len(text):,} characters")
    value = float(text) if set(text) & set(".eE") else int(text)
    if not is_finite(value):
        raise BadInput(f"{text[:40]}{'...' * (len(text) > 40)} is too large")
    return value


def is_integer(value: object) -> bool:
    """Whether a value is an integer; True is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a value is a number; True is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def rounded(number: float) -> float:
    """Round a number to the digits that grids show."""
    return float(f"{number:.{DIGITS}g}")


def is_finite(value: object) -> bool:
    """Whether a value is a number that a double can hold."""
    try:
        return is_number(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond the largest float
        return False
