"""Bounded quotations of foreign values in messages."""

from reprlib import Repr

_MAX_CHARACTERS = 200
MAX_MESSAGE = 600  # characters; a value may be a megabyte


class _Short(Repr):
    """A `repr` that abbreviates long, deep or heavily shared values."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlevel = 3

    def repr_int(self, number: int, level: int) -> str:
        """Write an integer; Python refuses to convert one of thousands of digits."""
        digits = number.bit_length() * 0.30103
        return repr(number) if digits < 60 else f"<an integer of about {digits:,.0f} digits>"


_SHORT = _Short()


def short(thing: object) -> str:
    """Return the `repr` of a value, shortened, without ever failing."""
    text = _SHORT.repr(thing)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]} ..."


def shortened(text: str, longest: int = MAX_MESSAGE) -> str:
    """Return the text, or both ends of a long one."""
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} ... {text[-longest // 2 :]}"
