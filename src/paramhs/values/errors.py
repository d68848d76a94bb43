"""What can go wrong, for a person to read: one message, no stack trace needed."""

from paramhs.values.wording import printable


class ParamhsError(Exception):
    """Any problem that paramhs reports by a message of its own.

    The message may quote what came from outside, so it is made printable.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class BadInput(ParamhsError):
    """Something a person wrote is wrong: the message says what, where, and what was expected."""


class StoreError(ParamhsError):
    """The file of runs cannot be used; what it holds is untouched."""


class TargetError(ParamhsError):
    """The target does not work even with its default configuration."""
