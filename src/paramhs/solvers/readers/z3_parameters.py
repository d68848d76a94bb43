"""The parameters of z3: `z3 -pd` prints modules, and below each its parameters.

    [module] sat, description: propositional SAT solver
        restart.factor (double) restart increment factor for geometric strategy (default: 1.5)

There are no bounds. The values of a symbol, and numbers that stand for something ("0 - fixed,
1 - geometric"), are read from the description.
"""

import re
from collections.abc import Sequence

from paramhs.core.errors import BadInput
from paramhs.solvers.options import Option
from paramhs.solvers.readers.lines import boolean, unreadable

_MODULE = re.compile(r"\[module\] (\w+)")
_PARAMETER = re.compile(r" {4}(\S+) \((bool|unsigned int|double|symbol|string|int)\) *(.*)$")
_DEFAULT = re.compile(r"\(default: ?([^()]*)\)$")
_LISTED = re.compile(r"(?:: ?|either |heuristic )((?:\w+(?:, or |, | or |\b))+)")
_NUMBERED = re.compile(r"(?:^|[:, ])(\d+) - ")


def read_z3_parameters(text: str) -> Sequence[Option]:
    """Parameters with the name of their module; global ones have none."""
    options: list[Option] = []
    module = ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _MODULE.match(line):
            module = f"{match[1]}."
        elif match := _PARAMETER.match(line):
            options.append(_option(number, line, module, match))
    if not options:
        raise BadInput("no line has a parameter such as '    model (bool) ... (default: true)'")
    return options


def _option(number: int, line: str, module: str, match: "re.Match[str]") -> Option:
    name, kind, text = module + match[1], match[2], match[3]
    found = _DEFAULT.search(text)
    default = found[1].strip() if found else ""
    description = text[: found.start()].strip() if found else text
    if kind in ("symbol", "string"):
        return _symbol(name, description, default)
    if not default:
        return Option(name, "text", "", description=description)
    try:
        if kind == "bool":
            return Option(name, "boolean", boolean(default), description=description)
        if kind == "double":
            return Option(name, "real", float(default), 0.0, description=description)
        value = int(default)
        listed = [int(number) for number in _NUMBERED.findall(description)]
        high = max(listed) if len(listed) > 1 and min(listed) <= value <= max(listed) else None
        return Option(name, "integer", value, min(value, 0), high, description=description)
    except ValueError:
        raise unreadable(number, line, f"a default of the type {kind}") from None


def _symbol(name: str, description: str, default: str) -> Option:
    listed = _LISTED.search(description)
    values = re.findall(r"\w+", listed[1].replace(" or ", ", ")) if listed else []
    if default and default in values and len(values) > 1:
        return Option(name, "choice", default, choices=tuple(values), description=description)
    return Option(name, "text", default, description=description)
