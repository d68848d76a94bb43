"""Parameter files with comments, as SCIP and HiGHS write them.

    # should branching on binary variables be preferred?
    # [type: bool, advanced: FALSE, range: {TRUE,FALSE}, default: FALSE]
    branching/preferbinary = FALSE

HiGHS names the values of a text in the description, in double quotes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from paramhs.core.space import Value
from paramhs.solvers.options import Option
from paramhs.solvers.readers.lines import boolean, unreadable

_FACTS = re.compile(
    r"# \[type: (\w+)(?:, advanced: (\w+))?(?:, range: [\[{](.*?)[\]}])?, default: (.*)\]$"
)
_SETTING = re.compile(r"([\w/.-]+) *=")
_MAX_REAL = 1e19  # SCIP's infinity is 1e20, and -1e20 below
_MAX_INT = 2**31 - 1


def read_parameter_comments(text: str) -> Sequence[Option]:
    """One option for each `name = value` below a line `# [type: ...]`."""
    options: list[Option] = []
    description, facts = "", None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# [type:"):
            facts = _FACTS.match(line)
            if facts is None:
                raise unreadable(number, line, "# [type: ..., range: ..., default: ...]")
        elif line.startswith("#"):
            description = line[1:].strip()
        elif match := _SETTING.match(line):
            if facts is None:
                raise unreadable(number, line, "a line with its type above it")
            options.append(_option(number, line, match[1], description, facts))
            description, facts = "", None
    return options


def _option(number: int, line: str, name: str, description: str, facts: "re.Match[str]") -> Option:
    kind, advanced, bounds, default = facts.groups()
    found = _typed(number, line, name, description, (kind, bounds, default))
    return replace(found, expert=advanced in ("TRUE", "true"))


def _typed(
    number: int, line: str, name: str, description: str, facts: tuple[str, str, str]
) -> Option:
    kind, bounds, default = facts
    try:
        if kind in ("bool", "boolean"):
            return Option(name, "boolean", boolean(default), description=description)
        if kind == "char":
            return _chosen(name, tuple(bounds or ""), default, description)
        if kind == "string":
            words = tuple(dict.fromkeys(re.findall(r'"([^"]+)"', description)))
            return _chosen(name, words, default.strip('"'), description)
        low, high = (_end(text, kind) for text in re.split(r", *", bounds))
        value: Value = _real(default) if kind in ("real", "double") else int(default)
        what = "real" if isinstance(value, float) else "integer"
        return Option(name, what, value, low, high, description=description)  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError):
        raise unreadable(number, line, "a type, a range and a default that fit together") from None


def _chosen(name: str, values: tuple[str, ...], default: str, description: str) -> Option:
    if default in values:
        return Option(name, "choice", default, choices=values, description=description)
    return Option(name, "text", default, description=description)


def _real(text: str) -> float:
    number = float(text)
    return number if abs(number) < _MAX_REAL else math.copysign(math.inf, number)


def _end(text: str, kind: str) -> float | None:
    """A bound; None for none."""
    number = float(text)
    if math.isinf(number) or abs(number) >= (_MAX_REAL if kind in ("real", "double") else _MAX_INT):
        return None
    return number if kind in ("real", "double") else int(number)
