"""Numbers in lists of options, and errors that show the line."""

from paramhs.core.errors import BadInput
from paramhs.core.text.quoting import short

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def unreadable(number: int, line: str, expected: str) -> BadInput:
    """The error for a line that is not in the format of the reader."""
    return BadInput(f"line {number}: {short(line.strip())} is not an option; expected {expected}")


def integer(text: str) -> int:
    """An integer that may be written as 1e5; `ValueError` for anything else."""
    if set(text) & set(".eE"):
        number = float(text)
        if not number.is_integer():
            raise ValueError(f"{text} is not an integer")
        return int(number)
    return int(text)


def boolean(text: str) -> bool:
    """A truth value in words; `ValueError` for anything else."""
    if text.lower() not in _WORDS:
        raise ValueError(f"{text} is not a truth value")
    return _WORDS[text.lower()]
