"""Exceptions with one readable message each; no stack trace is needed to understand them."""

from paramhs.core.text.numbers import printable


class ParamhsError(Exception):
    """Base of all errors that paramhs reports with its own message.

    The message may quote text from outside, so unprintable characters are escaped.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class ParamhsWarning(UserWarning):
    """Notice for users of the Python interface."""


class BadInput(ParamhsError):
    """Invalid input: the message says what is wrong, where, and what was expected."""


class StoreError(ParamhsError):
    """The storage file cannot be used; its content is untouched."""


class ChangedMeanwhile(StoreError):
    """The program or an instance changed while runs were made."""


class TargetError(ParamhsError):
    """The target fails even with its default configuration."""


class CannotRun(TargetError):
    """Runs can no longer be made, whatever the target: an executor or a process is gone."""
