"""Things from outside, quoted in messages."""

from reprlib import Repr

_LONGEST = 200
_LONGEST_MESSAGE = 600  # a value may be a megabyte


class _Short(Repr):
    """As `repr` writes things, with little of what is long, deep or shared many times over."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 80
        self.maxlevel = 3

    def repr_int(self, number: int, level: int) -> str:
        """An integer; Python refuses to write those of thousands of digits."""
        digits = number.bit_length() * 0.30103
        return repr(number) if digits < 60 else f"<an integer of about {digits:,.0f} digits>"


_SHORT = _Short()


def short(thing: object) -> str:
    """A thing as `repr` writes it, but never long and never failing."""
    text = _SHORT.repr(thing)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def shortened(text: str, longest: int = _LONGEST_MESSAGE) -> str:
    """The text, or both ends of a long one."""
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} ... {text[-longest // 2 :]}"
