"""A configuration: one index for each active parameter."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from paramhs.space.parameters import Value, value_text

if TYPE_CHECKING:
    from paramhs.space.space import Space

INACTIVE = -1


class Config(Mapping[str, Value]):
    """An immutable mapping from the names of the active parameters to their values.

    Made by a `Space`, which says what is active and what is allowed. Two configurations are equal
    if they agree on their active parameters.
    """

    __slots__ = ("_hash", "_key", "_movable", "indices", "space")

    def __init__(self, space: "Space", indices: tuple[int, ...]) -> None:
        self.space = space
        self.indices = indices
        self._hash = hash(indices)
        self._key: str | None = None
        self._movable: tuple[int, ...] | None = None

    def __getitem__(self, name: str) -> Value:
        place = self.space.place[name]
        index = self.indices[place]
        if index == INACTIVE:
            raise KeyError(f"{name} is not active")
        return self.space.listed[place].value(index)

    def __iter__(self) -> Iterator[str]:
        return (n for n, i in zip(self.space.place, self.indices, strict=True) if i != INACTIVE)

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
        """The canonical text: equal texts, equal configurations (of one space)."""
        if self._key is None:
            self._key = " ".join(
                [
                    name + value_text(parameter.value(index))
                    for name, parameter, index in zip(
                        self.space.name_texts, self.space.listed, self.indices, strict=True
                    )
                    if index != INACTIVE
                ]
            )
        return self._key

    def as_dict(self) -> dict[str, Value]:
        """Names and values of the active parameters, in the order of the space."""
        return {
            name: parameter.value(index)
            for (name, parameter), index in zip(
                self.space.parameters.items(), self.indices, strict=True
            )
            if index != INACTIVE
        }

    @property
    def movable(self) -> tuple[int, ...]:
        """Places of the parameters that can move: active, with at least two values."""
        if self._movable is None:
            self._movable = tuple(i for i in self.space.movable if self.indices[i] != INACTIVE)
        return self._movable

    def __str__(self) -> str:
        return self.key

    def __repr__(self) -> str:
        return f"Config({self.as_dict()!r})"
