"""The space of a scenario: parameters, conditions and forbidden combinations."""

from collections.abc import Iterable, Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from paramhs.core.space import Expression, Parameter, Space, compiled, parse
from paramhs.core.space.conditions.expressions import names
from paramhs.formats.scenario.schema import Described, File
from paramhs.formats.scenario.source_map import Key, Source
from paramhs.formats.space_files import SpaceFile


class _Condition(NamedTuple):
    """The condition of a parameter, with its place in the file."""

    key: Key
    name: str
    text: str


def make_space(
    described: Mapping[str, Described], file: File, source: Source, wrong: frozenset[str]
) -> SpaceFile | None:
    """Build a space from the scenario's own parameters; None if a problem was recorded."""
    beside = [
        _Condition(("space", name, "condition"), name, one.condition)
        for name, one in described.items()
        if one.condition is not None
    ]
    joining = _Joining({name: one.parameter for name, one in described.items()}, source)
    joining.add(beside)
    space = joining.space(file, wrong)
    return None if space is None else SpaceFile(space, {})


def extend_space(
    read: SpaceFile, file: File, source: Source, wrong: frozenset[str]
) -> SpaceFile | None:
    """Extend the space of a file with conditions and clauses of the scenario."""
    if not file.conditions and not file.forbidden:
        return read
    joining = _Joining(read.space.parameters, source)
    joining.conditions.update(read.space.conditions)
    joining.forbidden.extend(read.space.forbidden)
    space = joining.space(file, wrong)
    return None if space is None else read._replace(space=space)


class _Joining:
    """Parameters together with the conditions and clauses collected so far."""

    def __init__(self, parameters: Mapping[str, Parameter], source: Source) -> None:
        self.parameters = parameters
        self.source = source
        self.before = len(source.problems)
        self.conditions: dict[str, Expression] = {}
        self.forbidden: list[Expression] = []
        self._keys: dict[str, Key] = {}
        self._index = {name: index for index, name in enumerate(parameters)}

    def space(self, file: File, wrong: frozenset[str]) -> Space | None:
        """Build the space with the conditions and forbidden clauses of the scenario."""
        self.add(_Condition(("conditions", n), n, text) for n, text in file.conditions.items())
        self._check_circles()
        for text in file.forbidden:
            expression = self._parse(("forbidden",), text)
            self.forbidden += [] if expression is None else [expression]
        if len(self.source.problems) > self.before or wrong & {"conditions", "forbidden"}:
            return None
        key = ("forbidden",) if file.forbidden and self.parameters else ("space",)
        make = partial(Space, self.parameters, conditions=self.conditions, forbidden=self.forbidden)
        return self.source.attempt(key, make)

    def add(self, conditions: Iterable[_Condition]) -> None:
        """Add conditions that are valid for these parameters."""
        for key, name, text in conditions:
            if name not in self.parameters:
                self.source.complain(key, f"no parameter is called {name!r}")
            elif name in self.conditions:
                self.source.complain(key, f"{name} already has a condition")
            expression = self._parse(key, text)
            if expression is not None:
                self.conditions[name], self._keys[name] = expression, key

    def _parse(self, key: Key, text: str) -> Expression | None:
        def parsed() -> Expression:
            expression = parse(text, self.parameters)
            compiled(expression, self.parameters, self._index)
            return expression

        return self.source.attempt(key, parsed)

    def _check_circles(self) -> None:
        """Reject cyclic conditions, at the line of one of them."""
        try:
            TopologicalSorter({n: set(names(e)) for n, e in self.conditions.items()}).prepare()
        except CycleError as error:
            circle = error.args[1]
            key = next((self._keys[name] for name in circle if name in self._keys), ("space",))
            what = f"conditions depend on each other in a cycle: {' -> '.join(circle)}"
            self.source.complain(key, what)
