"""Commands as targets: a command line with placeholders, and readers of its output."""

from paramhs.execution.targets.command.answers import (
    AnswerKey,
    AnswerPattern,
    Conventions,
    Recogniser,
    Solved,
    recogniser_from,
    solved_from,
)
from paramhs.execution.targets.command.expected import Expected
from paramhs.execution.targets.command.readers import (
    AclibLine,
    IraceLine,
    JsonLine,
    LastNumber,
    Nothing,
    Pattern,
    Reader,
    Sum,
    named_readers,
    reader_of_costs,
)
from paramhs.execution.targets.command.target import CommandTarget, Problem, file_of, problem_of
from paramhs.execution.targets.command.template import Native, Style, Template

__all__ = [
    "AclibLine",
    "AnswerKey",
    "AnswerPattern",
    "CommandTarget",
    "Conventions",
    "Expected",
    "IraceLine",
    "JsonLine",
    "LastNumber",
    "Native",
    "Nothing",
    "Pattern",
    "Problem",
    "Reader",
    "Recogniser",
    "Solved",
    "Style",
    "Sum",
    "Template",
    "file_of",
    "named_readers",
    "problem_of",
    "reader_of_costs",
    "recogniser_from",
    "solved_from",
]
