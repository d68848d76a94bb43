"""Any program as the target: a command line with placeholders, and what to read from its output."""

from paramhs.world.targets.command.readers import (
    AclibLine,
    IraceLine,
    JsonLine,
    LastNumber,
    Nothing,
    Pattern,
    Reader,
    named_readers,
)
from paramhs.world.targets.command.target import CommandTarget, Problem
from paramhs.world.targets.command.template import Style, Template

__all__ = [
    "AclibLine",
    "CommandTarget",
    "IraceLine",
    "JsonLine",
    "LastNumber",
    "Nothing",
    "Pattern",
    "Problem",
    "Reader",
    "Style",
    "Template",
    "named_readers",
]
