"""The space of configurations: which parameters are active and which combinations are allowed."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from itertools import chain, product, starmap
from math import prod
from pathlib import Path
from random import Random
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below
from paramhs.core.space.boxes import Clauses, DrawnBoxes
from paramhs.core.space.conditions.expressions import (
    Expression,
    Test,
    check_depth,
    compiled,
    cut,
    names,
)
from paramhs.core.space.conditions.parser import parse
from paramhs.core.space.config import INACTIVE, Config
from paramhs.core.space.literals import Value, check_text, identity, value_of, value_text
from paramhs.core.space.parameters import Parameter, parameter
from paramhs.core.text.html import html_table, joined, paragraph
from paramhs.core.text.quoting import short

MAX_DRAWS = 10_000  # forbidden draws in a row before sampling gives up
MAX_LISTED_CONFIGS = 10_000  # largest number of allowed assignments that are listed
_PATIENCE = 200  # forbidden draws in a row before the allowed part of the space is sought


class ClauseError(BadInput):
    """An invalid condition or forbidden clause, identified so that a reader can name its line."""

    def __init__(
        self, message: str, *, conditions: Iterable[str] = (), clause: int | None = None
    ) -> None:
        super().__init__(message)
        self.conditions = tuple(conditions)
        """Parameters with an invalid condition."""
        self.clause = clause
        """Number of the invalid forbidden clause, counted from 0."""

    def __reduce__(self) -> tuple[object, ...]:
        return _raised_again, (str(self), self.conditions, self.clause)


def _raised_again(message: str, conditions: tuple[str, ...], clause: int | None) -> ClauseError:
    return ClauseError(message, conditions=conditions, clause=clause)


class Space:
    """Ordered parameters, the conditions that activate them, and the forbidden combinations.

    Args:
        parameters: Name to parameter or shorthand; see `parameter`.
        conditions: Parameter name to the expression under which it is active, as text or object.
        forbidden: Expressions that must not hold, as text or objects.

    Examples:
        >>> import paramhs
        >>> space = paramhs.Space(
        ...     {"mode": ["fast", "slow"], "rate": (0.0, 1.0)}, conditions={"rate": "mode == fast"}
        ... )
        >>> space.size()
        66
    """

    def __init__(
        self,
        parameters: Mapping[str, object],
        *,
        conditions: Mapping[str, str | Expression] | None = None,
        forbidden: Iterable[str | Expression] = (),
    ) -> None:
        if not isinstance(parameters, Mapping):
            raise BadInput(
                f"a space is made of a dictionary of parameters, not {short(parameters)}"
            )
        if isinstance(forbidden, str) or not isinstance(forbidden, Iterable):
            raise BadInput(f"forbidden must be a list of expressions, not {short(forbidden)}")
        if not isinstance(conditions or {}, Mapping):
            raise BadInput(f"conditions must be a dictionary, not {short(conditions)}")
        self.parameters = {name: _named(name, spec) for name, spec in parameters.items()}
        if not self.parameters:
            raise BadInput("a space needs at least one parameter")
        self.listed = tuple(self.parameters.values())
        self.position = {name: i for i, name in enumerate(self.parameters)}
        self.name_texts = tuple(f"{value_text(name)}=" for name in self.parameters)
        self.movable = tuple(i for i, p in enumerate(self.listed) if p.levels > 1)
        self.conditions = {
            name: self._expression(f"the condition of {short(name)}", text, conditions=(name,))
            for name, text in (conditions or {}).items()
        }
        self.forbidden = tuple(
            self._expression("a forbidden clause", text, clause=number)
            for number, text in enumerate(forbidden)
        )
        self._switches = self._ordered_switches()
        self._parents = frozenset(
            self.position[parent] for e in self.conditions.values() for parent in names(e)
        )
        self._clauses = [
            self._compiled(clause, clause=number) for number, clause in enumerate(self.forbidden)
        ]
        self.default = self.configured([p.default_index for p in self.listed])
        self._check_default()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Space":
        """Read a parameter file of ParamILS, SMAC, irace or ConfigSpace.

        Args:
            path: The file; its format is recognised by its name or content.

        Returns:
            The space that `tune` makes of this path.
        """
        readers = import_module("paramhs.formats.space_objects")  # a layer above this one
        space: Space = readers.space_from(Path(path))
        return space

    def _expression(self, what: str, text: str | Expression, **whose: Any) -> Expression:
        try:
            if isinstance(text, str):
                return parse(text, self.parameters)
            if not isinstance(text, Expression):
                raise BadInput(f"it must be a text or an expression, not {short(text)}")
            check_depth(text)
            return text
        except BadInput as error:
            raise ClauseError(f"{what}: {error}", **whose) from None

    def _compiled(self, expression: Expression, **whose: Any) -> Test:
        try:
            return compiled(expression, self.parameters, self.position)
        except BadInput as error:
            raise ClauseError(str(error), **whose) from None

    def _ordered_switches(self) -> list[tuple[int, Test]]:
        """Compiled conditions, parents before their children."""
        for name in self.conditions:
            if name not in self.parameters:
                raise ClauseError(
                    f"there is a condition for {short(name)}, which is not a parameter",
                    conditions=(name,),
                )
        graph = {name: set(names(e)) for name, e in self.conditions.items()}
        try:
            order = TopologicalSorter(graph).static_order()
            return [
                (self.position[name], self._compiled(self.conditions[name], conditions=(name,)))
                for name in order
                if name in self.conditions
            ]
        except CycleError as error:
            circle = error.args[1]
            raise ClauseError(
                f"conditions depend on each other in a cycle: {' -> '.join(_few(circle))}",
                conditions=circle,
            ) from None

    def _check_default(self) -> None:
        for number, test in enumerate(self._clauses):
            if test(self.default.indices):
                raise ClauseError(
                    f"the default configuration is forbidden by '{cut(self.forbidden[number])}'",
                    clause=number,
                )

    # Everything else asks these two methods what is active and what is allowed.

    def active(self, indices: Sequence[int]) -> list[int]:
        """Return the indices with -1 for every inactive parameter.

        Args:
            indices: One index for each parameter.

        Returns:
            The indices, as a new list.
        """
        result = list(indices)
        for position, holds in self._switches:
            if not holds(result):
                result[position] = INACTIVE
        return result

    def allowed(self, config: Config) -> bool:
        """Whether no forbidden clause holds.

        Args:
            config: A configuration of this space.

        Returns:
            False if a forbidden clause holds.
        """
        indices = config.indices
        return not any(holds(indices) for holds in self._clauses)

    # Creating configurations

    def configured(self, indices: Sequence[int]) -> Config:
        """Build the configuration with these indices, one per parameter, allowed or not.

        Args:
            indices: One index for each parameter.

        Returns:
            The configuration, with inactive parameters left out.
        """
        return Config(self, tuple(self.active(indices) if self._switches else indices))

    def config(self, values: Mapping[str, object] | None = None, **more: object) -> Config:
        """Build the allowed configuration with these values, and defaults elsewhere.

        Args:
            values: Values by parameter name.
            more: Further values, as keyword arguments.

        Returns:
            The configuration.
        """
        indices = [p.default_index for p in self.listed]
        if not isinstance(values, Mapping | None):
            raise BadInput(f"expected a dictionary of values, not {short(values)}")
        given = {**(values or {}), **more}
        for name, value in given.items():
            if name not in self.position:
                raise BadInput(
                    f"no parameter is called {short(name)}; there are {_some(self.parameters)}"
                )
            try:
                indices[self.position[name]] = self.parameters[name].index(value)
            except BadInput as error:
                raise BadInput(f"{name}: {error}") from None
        config = self.configured(indices)
        for clause, test in zip(self.forbidden, self._clauses, strict=True):
            if test(config.indices):
                raise BadInput(f"{config} is forbidden by '{cut(clause)}'")
        return config

    def from_key(self, key: str) -> Config:
        """Parse the canonical key of a configuration.

        Args:
            key: What `Config.key` gave.

        Returns:
            The configuration.
        """
        return self.config(self.values_in(key))

    def values_in(self, key: str) -> dict[str, Value]:
        """Parse the values that a key names.

        Args:
            key: What `Config.key` gave.

        Returns:
            Values by parameter name.
        """
        return {str(value_of(name)): self._meant(name, text) for name, text in _pairs(key)}

    def _meant(self, name: str, text: str) -> Value:
        """Parse a value; the text itself is the value if only that is in the parameter's list.

        A list may contain the texts "1" and "2", which are not numbers.
        """
        value = value_of(text)
        parameter = self.parameters.get(str(value_of(name)))
        values = parameter.choices if parameter else ()
        listed = any(identity(value) == identity(one) for one in values)
        return text if text in values and not listed else value

    def moved(self, config: Config, changes: Sequence[tuple[int, int]]) -> Config | None:
        """Set positions to indices; return None if the result is forbidden.

        A parameter activated by the change starts at its default.

        Args:
            config: Configuration to start from.
            changes: Pairs of a position and its new index.

        Returns:
            The configuration, or None.
        """
        indices = list(config.indices)
        for position, index in changes:
            indices[position] = index
        # Only a change of a parent can activate or deactivate anything; without one, the indices of
        # inactive parameters stay -1 and no condition needs to be tested.
        if self._parents and any(position in self._parents for position, _ in changes):
            filled = zip(indices, self.listed, strict=True)
            indices = self.active([i if i >= 0 else p.default_index for i, p in filled])
        result = Config(self, tuple(indices))
        return result if not self._clauses or self.allowed(result) else None

    def sample(self, rng: Random) -> Config:
        """Draw a configuration with every parameter uniform, repeatedly while it is forbidden.

        Args:
            rng: Source of randomness.

        Returns:
            An allowed configuration.
        """
        config = next(self.draws(rng), None)
        if config is not None:
            return config
        raise BadInput(
            f"{MAX_DRAWS:,} random configurations in a row were forbidden: the forbidden clauses"
            " leave too little of the space; state them as conditions or narrower ranges"
        )

    def draws(self, rng: Random, count: int = MAX_DRAWS) -> Iterator[Config]:
        """Yield the allowed ones of `count` uniform draws.

        Where the first draws are all forbidden, the others are made from the allowed part of the
        space, if it can be found. The law of what is yielded is the same.

        Args:
            rng: Source of randomness.
            count: Number of draws.

        Returns:
            Up to `count` configurations.
        """
        allowed = 0
        for number in range(count):
            config = self.configured([below(p.levels, rng) for p in self.listed])
            if self.allowed(config):
                allowed += 1
                yield config
            elif number + 1 == _PATIENCE and not allowed and self._boxes:
                for _ in range(count - _PATIENCE):
                    yield self.configured(self._boxes.draw(rng))
                return

    def neighbours(self, config: Config) -> Iterator[Config]:
        """Yield the allowed configurations that differ in one active parameter, lazily.

        Args:
            config: A configuration of this space.

        Returns:
            The neighbours, in the order of the parameters.
        """
        for position in config.movable:
            for index in range(self.listed[position].levels):
                if index != config.indices[position]:
                    neighbour = self.moved(config, ((position, index),))
                    if neighbour is not None:
                        yield neighbour

    # Counting

    @cached_property
    def combinations(self) -> int:
        """Number of assignments to all parameters, active or not, allowed or not."""
        return prod(p.levels for p in self.listed)

    @cached_property
    def _boxes(self) -> DrawnBoxes | None:
        """The allowed part of the space; None if it cannot be found."""
        found = self._restrictions.boxes()
        return None if found is None else DrawnBoxes(found)

    @cached_property
    def _restrictions(self) -> Clauses:
        names = list(self.parameters)
        ordered = {names[at]: self.conditions[names[at]] for at, _ in self._switches}
        return Clauses(self.parameters, ordered, self.forbidden, self._clauses)

    @cached_property
    def few(self) -> tuple[Config, ...] | None:
        """All allowed configurations, if they are few and can be found; else None.

        A space of millions of combinations is included if its forbidden clauses leave few of them.
        """
        if self.combinations > MAX_LISTED_CONFIGS and not self._clauses:
            return None
        boxes = self._restrictions.boxes(MAX_LISTED_CONFIGS)
        if boxes is None:
            return None
        indices = sorted(chain(*starmap(product, boxes)))
        return tuple(dict.fromkeys(map(self.configured, indices)))

    def configs(self) -> Iterator[Config]:
        """Yield all allowed configurations, each once, lazily; for small spaces."""
        if self.few is not None:
            yield from self.few
            return
        seen: set[Config] = set()
        for indices in product(*(range(p.levels) for p in self.listed)):
            config = self.configured(indices)
            if self._switches and config in seen:
                continue
            if self.allowed(config):
                if self._switches:
                    seen.add(config)
                yield config

    def numbered(self, number: int) -> Config:
        """Decode a number below `combinations` into a configuration, allowed or not.

        Args:
            number: An integer from 0 on.

        Returns:
            The configuration with this number.
        """
        indices = []
        for listed in self.listed:
            number, index = divmod(number, listed.levels)
            indices.append(index)
        return self.configured(indices)

    def size(self, limit: int = 10_000) -> int | None:
        """Number of allowed configurations; None if counting would list more than `limit`.

        Args:
            limit: Largest number of combinations to list.

        Returns:
            The number, or None.
        """
        if not self._switches and not self._clauses:
            return self.combinations
        if self.few is not None:
            return len(self.few)
        return None if self.combinations > limit else self._counted

    @cached_property
    def _counted(self) -> int:
        return sum(1 for _ in self.configs())

    # Identity

    def describe(self) -> dict[str, object]:
        """Describe the space in JSON types."""
        return {
            "parameters": {name: p.describe() for name, p in self.parameters.items()},
            "conditions": {name: str(e) for name, e in self.conditions.items()},
            "forbidden": [str(e) for e in self.forbidden],
        }

    @cached_property
    def _identity(self) -> str:
        """Everything that defines the space, in order; as text, so that 1 is not True."""
        return json.dumps(self.describe())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Space) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.parameters, self.conditions, self.forbidden)

    def __repr__(self) -> str:
        extra = "".join(
            f", {len(clauses)} {word}"
            for clauses, word in ((self.conditions, "conditional"), (self.forbidden, "forbidden"))
            if clauses
        )
        return f"Space({_some(self.parameters)}{extra})"

    def _repr_html_(self) -> str:
        rows = [
            (name, *_in_words(parameter), self.conditions.get(name, ""))
            for name, parameter in self.parameters.items()
        ]
        clauses = [paragraph(f"forbidden: {clause}") for clause in self.forbidden]
        headings = ("parameter", "type", "values", "default", "active if")
        return joined(html_table(rows, headings), *clauses)


_PAIR = re.compile(r'\s*+("(?:[^"\\]|\\.)*+"|[^\s="]++)=("(?:[^"\\]|\\.)*+"|\S++)\s*+')


def _pairs(key: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(key):
        match = _PAIR.match(key, position)
        if not match:
            found = key[position : position + 40]
            raise BadInput(f"expected name=value in a configuration, found {found!r}")
        yield match[1], match[2]
        position = match.end()


def _rebuilt(
    parameters: Mapping[str, Parameter],
    conditions: Mapping[str, Expression],
    forbidden: Iterable[Expression],
) -> Space:
    return Space(parameters, conditions=conditions, forbidden=forbidden)


def _named(name: object, spec: object) -> Parameter:
    if not isinstance(name, str) or not name:
        raise BadInput(f"a parameter's name must be a text, not {short(name)}")
    try:
        check_text(name)
        return parameter(spec)
    except BadInput as error:
        raise BadInput(f"parameter {short(name)}: {error}") from None


def _in_words(parameter: Parameter) -> tuple[str, str, str]:
    """Type, values and default of a parameter, as text."""
    kind = type(parameter).__name__.lower()
    return kind, parameter.text, value_text(parameter.default)


def _few(names: Sequence[str], most: int = 12) -> list[str]:
    return [*names[: most - 1], "...", names[-1]] if len(names) > most else list(names)


def _some(items: Iterable[str], most: int = 8) -> str:
    listed = list(items)
    return ", ".join(listed[:most]) + (f", ... ({len(listed)})" if len(listed) > most else "")
