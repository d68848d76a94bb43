"""A configuration: one index for each active parameter."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paramhs.core.space.literals import Value, value_text
from paramhs.core.text.html import html_table

if TYPE_CHECKING:
    from paramhs.core.space.space import Space

INACTIVE = -1


class Config(Mapping[str, Value]):
    """Immutable mapping from the names of the active parameters to their values.

    Created by a `Space`, which decides what is active and allowed. Two configurations are equal if
    they agree on their active parameters.

    Args:
        space: The space that it belongs to.
        indices: The index of each value, -1 where a parameter is inactive. Use `Space.config` to
            create one from values.

    Examples:
        >>> import paramhs
        >>> config = paramhs.Space({"x": range(9), "mode": ["a", "b"]}).config(x=3)
        >>> config["x"], dict(config)
        (3, {'x': 3, 'mode': 'a'})
    """

    __slots__ = ("_hash", "_key", "_movable", "indices", "space")

    space: "Space"
    indices: tuple[int, ...]
    _hash: int
    _key: str
    _movable: tuple[int, ...]

    def __init__(self, space: "Space", indices: tuple[int, ...]) -> None:
        _set_space(self, space)
        _set_indices(self, indices)
        _set_hash(self, hash(indices))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a configuration cannot be changed; make another from its space")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __getitem__(self, name: str) -> Value:
        position = self.space.position[name]
        index = self.indices[position]
        if index == INACTIVE:
            raise KeyError(f"{name} is not active")
        return self.space.listed[position].value(index)

    def __iter__(self) -> Iterator[str]:
        return (n for n, i in zip(self.space.position, self.indices, strict=True) if i != INACTIVE)

    def __len__(self) -> int:
        return len(self.indices) - self.indices.count(INACTIVE)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Config):
            return self.indices == other.indices and self.space == other.space
        return self.as_dict() == other

    def __reduce__(self) -> tuple[object, ...]:
        return Config, (self.space, self.indices)

    @property
    def key(self) -> str:
        """Canonical text: configurations of one space are equal exactly if their keys are."""
        try:
            return self._key
        except AttributeError:
            _set_key(self, self._written())
            return self._key

    def _written(self) -> str:
        space = self.space
        written = zip(space.name_texts, space.listed, self.indices, strict=True)
        return " ".join([n + value_text(p.value(i)) for n, p, i in written if i != INACTIVE])

    def as_dict(self) -> dict[str, Value]:
        """Return the active parameters and their values, in the order of the space."""
        return {
            name: parameter.value(index)
            for (name, parameter), index in zip(
                self.space.parameters.items(), self.indices, strict=True
            )
            if index != INACTIVE
        }

    def arguments(self) -> dict[str, object]:
        """Names and what a Python target receives: objects where categories stand for them.

        >>> import paramhs
        >>> layers = paramhs.Categorical({"small": (64,), "large": (64, 32)})
        >>> space = paramhs.Space({"layers": layers, "lr": [0.1, 0.2]})
        >>> space.default.as_dict(), space.default.arguments()
        ({'layers': 'small', 'lr': 0.1}, {'layers': (64,), 'lr': 0.1})
        """
        return {
            name: parameter.argument(index)
            for (name, parameter), index in zip(
                self.space.parameters.items(), self.indices, strict=True
            )
            if index != INACTIVE
        }

    @property
    def movable(self) -> tuple[int, ...]:
        """Positions of the parameters that can move: active, with at least two values."""
        try:
            return self._movable
        except AttributeError:
            movable = tuple(i for i in self.space.movable if self.indices[i] != INACTIVE)
            _set_movable(self, movable)
            return movable

    def __str__(self) -> str:
        return self.key

    def __repr__(self) -> str:
        return f"Config({self.as_dict()!r})"

    def _repr_html_(self) -> str:
        default = self.space.default
        rows = [
            (name, value_text(value), "" if default.get(name) == value else "changed")
            for name, value in self.items()
        ]
        return html_table(rows, ("parameter", "value", "from the default"))


# Setting a slot through its descriptor is the fastest way around `__setattr__`.
_set_space, _set_indices, _set_hash, _set_key, _set_movable = (
    getattr(Config, name).__set__ for name in ("space", "indices", "_hash", "_key", "_movable")
)
