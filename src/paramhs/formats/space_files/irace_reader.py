"""Reader of irace's parameters.txt: one line per parameter, then `[forbidden]` and `[global]`.

Source: the irace user guide and irace 4's `readParameters`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from random import Random
from typing import NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below, stream
from paramhs.core.space.conditions.expressions import Expression, compiled
from paramhs.core.space.conditions.terms import Term, mentioned, number_in
from paramhs.core.space.config import Config
from paramhs.core.space.parameters import Categorical, Integer, Ordinal, Parameter, Real
from paramhs.core.space.space import MAX_DRAWS, ClauseError, Space
from paramhs.formats.space_files.irace_domains import cut_to_integer, hull, outside
from paramhs.formats.space_files.normal_forms import Active, Resolver, both
from paramhs.formats.space_files.r_expressions import RParser
from paramhs.formats.space_files.source_lines import Span, lines, located

_LINE = re.compile(
    r'(?P<name>[\w.]+)\s+"(?P<switch>[^"]*)"\s+(?P<type>[A-Za-z]+(?:,\w+)?)\s*'
    r"\((?P<values>[^|]*)\)\s*(?:\|(?P<condition>.*))?"
)
_VALUE = re.compile(r'\s*+(?:"(?P<quoted>[^"]*+)"|(?P<bare>[^",]++))\s*+(?:,|$)')
# Placeholders for ranges that are not yet known.
_SOME_RANGE = {"i": Integer(0, 1), "r": Real(0, 1)}


class _Bounds(NamedTuple):
    """Bounds of a range as written in the file, with its type."""

    spans: Sequence[Span]
    kind: str


def read_irace(path: Path, text: str) -> tuple[Space, dict[str, str], tuple[str, ...]]:
    """Read a file's space, the switch of each parameter, and notes for the user."""
    reader = _Reader(path, text)
    return reader.space(), reader.switches, tuple(reader.notes)


class _Reader:
    """Parser state; expressions are parsed once all parameters are known."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.parameters: dict[str, Parameter] = {}
        self.bounds: dict[str, _Bounds] = {}
        self.terms: dict[str, tuple[Term, Term]] = {}
        self.switches: dict[str, str] = {}
        self.conditions: dict[str, Span] = {}
        self.forbidden: list[Span] = []
        self.notes: list[str] = []
        section = "parameters"
        for line in lines(path, text):
            if re.fullmatch(r"\[\s*\w+\s*\]", line.text):
                section = line.text.strip("[] ")
                if section not in ("forbidden", "global"):
                    raise line.error(f"expected [forbidden] or [global], found {line.found}")
            elif section == "forbidden":
                self.forbidden.append(line)
            elif section == "global":
                if not re.fullmatch(r"digits\s*=\s*\d+", line.text):
                    raise line.error(f"expected a line such as 'digits = 4', found {line.found}")
            else:
                self._add(line)

    def _add(self, line: Span) -> None:
        match = _LINE.fullmatch(line.text)
        if not match:
            raise line.error(
                'expected a name, a "switch", a type, (values) and optionally | a condition, such'
                f""" as 'a "--a " c (x, y)', found {line.found}"""
            )
        name = line.group(match, "name")
        if name.text in self.parameters:
            raise name.error(f"there is already a parameter called {name.found}")
        self._add_domain(name.text, line.group(match, "type"), line.group(match, "values"))
        self.switches[name.text] = match["switch"]
        if match["condition"] is not None:
            self.conditions[name.text] = line.group(match, "condition")

    def _add_domain(self, name: str, kind: Span, inside: Span) -> None:
        values = _values(inside)
        if kind.text in ("c", "o"):
            self.parameters[name] = _listed(values, ordered=kind.text == "o")
            return
        if kind.text not in ("i", "r", "i,log", "r,log"):
            raise kind.error(f"the type must be c, o, i, r, 'i,log' or 'r,log', not {kind.found}")
        if len(values) != 2:
            raise inside.error(f"expected (lower, upper), found ({inside.text[:60]})")
        # Bounds may name parameters of later lines, so they are parsed at the end. Until then a
        # placeholder says that the parameter is a number.
        self.bounds[name] = _Bounds(values, kind.text)
        self.parameters[name] = _SOME_RANGE[kind.text[0]]

    def space(self) -> Space:
        if not self.parameters:
            raise BadInput(f"{self.path}: it contains no parameters")
        self.terms = {name: self._terms(bounds) for name, bounds in self.bounds.items()}
        for name in self._ordered():
            self.parameters[name] = self._ranged(name)
        where = {name: bounds.spans[0] for name, bounds in self.bounds.items()} | self.conditions
        given, clauses = self._given(), self._clauses()
        spans = [span for _, span in clauses]
        return located(lambda: self._made(given, [clause for clause, _ in clauses]), where, spans)

    def _given(self) -> dict[str, Expression]:
        """Conditions of all parameters.

        A parameter whose domain depends on conditional parameters is active only if those are.
        """
        given = {name: self._parsed(span) for name, span in self.conditions.items()}
        for name in self._ordered():
            others = (other for end in self.terms[name] for other in mentioned(end))
            parts = [*([given[name]] if name in given else [])]
            parts += [Active(other, ()) for other in others if other in given]
            given |= {name: both(parts)} if parts else {}
        return given

    def _clauses(self) -> list[tuple[Expression, Span]]:
        """Forbidden clauses with their places: written ones, and those from dependent domains."""
        clauses = [(self._parsed(span), span) for span in self.forbidden]
        for name in self.terms:
            spans = self.bounds[name].spans
            clauses += [(clause, spans[number]) for number, clause in self._outside(name)]
        return clauses

    def _outside(self, name: str) -> list[tuple[int, Expression]]:
        return outside(name, *self.terms[name], self.parameters)

    def _parsed(self, span: Span) -> Expression:
        return RParser(span, self.parameters, self.notes).expression()

    def _made(self, given: Mapping[str, Expression], clauses: Sequence[Expression]) -> Space:
        resolver = Resolver(given, self.parameters)
        conditions = resolver.conditions()
        forbidden = [resolver.meant(clause) for clause in clauses]
        parameters = with_allowed_default(self._centred(), conditions, forbidden)
        return Space(parameters, conditions=conditions, forbidden=forbidden)

    # Ranges, whose bounds may depend on other parameters

    def _terms(self, bounds: _Bounds) -> tuple[Term, Term]:
        low, high = (RParser(span, self.parameters).term() for span in bounds.spans)
        if bounds.kind.startswith("r"):
            return low, high
        return self._whole(low, bounds.spans[0]), self._whole(high, bounds.spans[1])

    def _whole(self, term: Term, span: Span) -> Term:
        if isinstance(term, float) and not term.is_integer():
            raise span.error(f"expected an integer, found {span.found}")
        return cut_to_integer(term, self.parameters)

    def _ordered(self) -> list[str]:
        """Ranges in topological order, each after those it depends on."""
        graph = {
            name: {other for end in ends for other in mentioned(end)}
            for name, ends in self.terms.items()
        }
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            circle = error.args[1]
            span = self.bounds[circle[0]].spans[0]
            raise span.error(
                f"domains depend on each other in a cycle: {' -> '.join(circle[:12])}"
            ) from None

    def _ranged(self, name: str) -> Parameter:
        spans, kind = self.bounds[name]
        log, whole = kind.endswith("log"), kind.startswith("i")
        try:
            least, most = self._ends(name, *self.terms[name])
            if least == most:
                raise BadInput("lower and upper bound are the same")
            if whole:
                return Integer(int(least), int(most), log=log)
            return Real(least, most, log=log)
        except BadInput as error:
            raise spans[0].error(str(error)) from None

    def _centred(self) -> dict[str, Parameter]:
        """Parameters whose dependent domains start in the middle of their current range."""
        centred = dict(self.parameters)
        position = {name: number for number, name in enumerate(centred)}
        indices = [p.default_index for p in centred.values()]
        for name in self._ordered():
            if not any(any(mentioned(end)) for end in self.terms[name]):
                continue
            low, high = (number_in(end, centred, position)(indices) for end in self.terms[name])
            index = indices[position[name]] = _between(centred[name], low, high)
            centred[name] = _starting_at(centred[name], index)
        return centred

    def _ends(self, name: str, low: Term, high: Term) -> tuple[float, float]:
        """Smallest and largest value that the parameter could ever have."""
        if isinstance(low, int | float) and isinstance(high, int | float):
            return low, high
        least, most = hull(low, self.parameters)[0], hull(high, self.parameters)[1]
        spans = self.bounds[name].spans
        self.notes.append(
            f"{spans[0].where}: the domain of {name} depends on other parameters; it becomes"
            f" {least:g} .. {most:g}, and values outside ({spans[0].text}, {spans[1].text}) are"
            " forbidden"
        )
        return least, most


def _listed(values: Sequence[Span], ordered: bool) -> Parameter:
    seen: set[str] = set()
    for span in values:
        if span.text in seen:
            raise span.error(f"the value {span.found} is listed twice")
        seen.add(span.text)
    try:
        return (Ordinal if ordered else Categorical)([span.text for span in values])
    except BadInput as error:
        raise values[0].error(str(error)) from None


def _between(parameter: Parameter, low: float, high: float) -> int:
    """Middle level of those in a range; the default level if there are none."""
    first = bisect_left(range(parameter.levels), low, key=lambda i: float(parameter.value(i)))
    last = bisect_right(range(parameter.levels), high, key=lambda i: float(parameter.value(i))) - 1
    return (first + last) // 2 if first <= last else parameter.default_index


def _values(inside: Span) -> list[Span]:
    """Values between parentheses, quoted or not."""
    values, position = [], 0
    while position < len(inside.text):
        match = _VALUE.match(inside.text, position)
        if not match:
            span = inside.part(position)
            raise span.error(f"expected a value, found {span.found}")
        if match["quoted"] is None:
            values.append(inside.group(match, "bare"))
        else:
            start = inside.column + match.start("quoted")
            values.append(Span(inside.path, inside.line, start, match["quoted"]))
        position = match.end()
    if not values or inside.text.endswith(","):
        raise inside.error(f"expected values separated by commas, found ({inside.text[:60]})")
    return values


def with_allowed_default(
    parameters: Mapping[str, Parameter],
    conditions: Mapping[str, Expression],
    forbidden: Sequence[Expression],
) -> dict[str, Parameter]:
    """Replace defaults if the default configuration is forbidden.

    The new default is the first allowed neighbour, else the first allowed of many random
    configurations.
    """
    space = Space(parameters, conditions=conditions)
    tests = [compiled(clause, space.parameters, space.position) for clause in forbidden]
    rng = stream(0, "default")
    candidates = chain(
        [space.default],
        space.neighbours(space.default),
        (_draw(space, rng) for _ in range(MAX_DRAWS)),
    )
    for config in candidates:
        if not any(holds(config.indices) for holds in tests):
            return {
                name: p if index < 0 else _starting_at(p, index)
                for (name, p), index in zip(parameters.items(), config.indices, strict=True)
            }
    raise ClauseError("found no configuration that the forbidden clauses allow", clause=0)


def _draw(space: Space, rng: Random) -> Config:
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
