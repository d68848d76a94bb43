"""Reads irace's parameters.txt: a line for each parameter, then `[forbidden]` and `[global]`.

Source: the irace user guide and irace 4's `readParameters`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from random import Random

from paramhs.values.errors import BadInput
from paramhs.values.seeds import below, stream
from paramhs.values.space.config import Config
from paramhs.values.space.expressions import Expression, compiled
from paramhs.values.space.formats.logic import Resolver
from paramhs.values.space.formats.r_expressions import parse_r
from paramhs.values.space.formats.texts import Span, lines
from paramhs.values.space.parameters import Categorical, Integer, Ordinal, Parameter, Real
from paramhs.values.space.space import DRAWS, Space

_LINE = re.compile(
    r'(?P<name>[\w.]+)\s+"(?P<switch>[^"]*)"\s+(?P<type>[A-Za-z]+(?:,\w+)?)\s*'
    r"\((?P<values>[^|]*)\)\s*(?:\|(?P<condition>.*))?"
)
_VALUE = re.compile(r'\s*(?:"(?P<quoted>[^"]*)"|(?P<bare>[^",]+?))\s*(?:,|$)')


def read_irace(path: Path, text: str) -> tuple[Space, dict[str, str]]:
    """The space that a file describes, and the switch of each parameter."""
    reader = _Reader(path, text)
    return reader.space(), reader.switches


class _Reader:
    """What was read so far; expressions wait until all parameters are known."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.parameters: dict[str, Parameter] = {}
        self.switches: dict[str, str] = {}
        self.conditions: dict[str, Span] = {}
        self.forbidden: list[Span] = []
        section = "parameters"
        for line in lines(path, text):
            if re.fullmatch(r"\[\s*\w+\s*\]", line.text):
                section = line.text.strip("[] ")
                if section not in ("forbidden", "global"):
                    raise line.error(f"expected [forbidden] or [global], found {line.text!r}")
            elif section == "forbidden":
                self.forbidden.append(line)
            elif section == "global":
                if not re.fullmatch(r"digits\s*=\s*\d+", line.text):
                    raise line.error(f"expected 'digits = 4' or the like, found {line.text!r}")
            else:
                self._add(line)

    def _add(self, line: Span) -> None:
        match = _LINE.fullmatch(line.text)
        if not match:
            raise line.error(
                'expected a name, a "switch", a type, (values) and perhaps | a condition, such as'
                f""" 'a "--a " c (x, y)', found {line.text[:60]!r}"""
            )
        name = match["name"]
        if name in self.parameters:
            raise line.error(f"there is another parameter called {name!r}")
        self.parameters[name] = _parameter(line, match)
        self.switches[name] = match["switch"]
        if match["condition"] is not None:
            self.conditions[name] = line.group(match, "condition")

    def space(self) -> Space:
        if not self.parameters:
            raise BadInput(f"{self.path}: there is no parameter in it")
        said = {name: parse_r(span, self.parameters) for name, span in self.conditions.items()}
        resolver = Resolver(said)
        conditions = resolver.conditions()
        forbidden = [resolver.meant(parse_r(span, self.parameters)) for span in self.forbidden]
        parameters = with_allowed_default(self.parameters, conditions, forbidden)
        return Space(parameters, conditions=conditions, forbidden=forbidden)


def _parameter(line: Span, match: re.Match[str]) -> Parameter:
    kind, inside = line.group(match, "type"), line.group(match, "values")
    values = _values(inside)
    if kind.text in ("c", "o"):
        for number, span in enumerate(values):
            if any(span.text == earlier.text for earlier in values[:number]):
                raise span.error(f"the value {span.text!r} comes twice")
        return (Ordinal if kind.text == "o" else Categorical)([span.text for span in values])
    if kind.text not in ("i", "r", "i,log", "r,log"):
        raise kind.error(f"the type must be c, o, i, r, 'i,log' or 'r,log', not {kind.text!r}")
    if len(values) != 2:
        raise inside.error(f"expected (lower, upper), found ({inside.text})")
    for span in values:
        if re.search(r"[A-Za-z_]", re.sub(r"(?<=[\d.])[eE](?=[-+\d])", "", span.text)):
            raise span.error(f"bounds that depend on other parameters are not read: {span.text!r}")
    return _ranged(values, kind.text)


def _ranged(values: Sequence[Span], kind: str) -> Parameter:
    log = kind.endswith("log")
    low, high = (span.integer() if kind.startswith("i") else span.number() for span in values)
    if low == high:
        raise values[0].error("lower and upper bound are the same")
    try:
        if kind.startswith("i"):
            return Integer(int(low), int(high), log=log)
        return Real(low, high, log=log)
    except BadInput as error:
        raise values[0].error(str(error)) from None


def _values(inside: Span) -> list[Span]:
    """The values between parentheses, quoted or not."""
    values, position = [], 0
    while position < len(inside.text):
        match = _VALUE.match(inside.text, position)
        if not match:
            raise inside.part(position).error(
                f"expected a value, found {inside.text[position:][:40]!r}"
            )
        group = "bare" if match["quoted"] is None else "quoted"
        start = inside.column + match.start(group)
        values.append(Span(inside.path, inside.line, start, match[group]))
        position = match.end()
    if not values or inside.text.endswith(","):
        raise inside.error(f"expected values separated by commas, found ({inside.text})")
    return values


def with_allowed_default(
    parameters: Mapping[str, Parameter],
    conditions: Mapping[str, Expression],
    forbidden: Sequence[Expression],
) -> dict[str, Parameter]:
    """The parameters, with other defaults where the usual ones are forbidden.

    The first allowed neighbour of the usual default, else the first of many random configurations.
    """
    space = Space(parameters, conditions=conditions)
    tests = [compiled(clause, space.parameters, space.place) for clause in forbidden]
    rng = stream(0, "default")
    candidates = chain(
        [space.default], space.neighbours(space.default), (_drawn(space, rng) for _ in range(DRAWS))
    )
    for config in candidates:
        if not any(holds(config.indices) for holds in tests):
            return {
                name: p if index < 0 else _starting_at(p, index)
                for (name, p), index in zip(parameters.items(), config.indices, strict=True)
            }
    raise BadInput("no configuration was found that the forbidden clauses allow")


def _drawn(space: Space, rng: Random) -> Config:
    return space.configured([below(p.levels, rng) for p in space.listed])


def _starting_at(parameter: Parameter, index: int) -> Parameter:
    if index == parameter.default_index:
        return parameter
    value = parameter.value(index)
    if isinstance(parameter, Integer):
        return Integer(parameter.low, parameter.high, log=parameter.log, default=int(value))
    if isinstance(parameter, Real):
        return Real(parameter.low, parameter.high, log=parameter.log, default=float(value))
    assert isinstance(parameter, Categorical | Ordinal)  # noqa: S101 -- for the type checker
    return type(parameter)(parameter.values, default=value)
