"""Right answers of instances: one for all, by name, or from a file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramhs.core.answers import Answer, normal
from paramhs.core.errors import BadInput

_NONE: Answer = ""


@dataclass(frozen=True)
class Expected:
    """Right answers in the common vocabulary; an empty text where none is known."""

    for_all: Answer = _NONE
    by_name: Mapping[str, Answer] = field(default_factory=dict)

    @staticmethod
    def of(said: "str | float | Mapping[str, str | float] | Path") -> "Expected":
        """Parse the user's setting: an answer, a table by instance, or the path of a file."""
        if isinstance(said, Path):
            return Expected(by_name=_read(said))
        if isinstance(said, Mapping):
            return Expected(by_name={name: normal(answer) for name, answer in said.items()})
        return Expected(for_all=normal(said) if said != "" else _NONE)

    def answer(self, name: str, otherwise: Answer = _NONE) -> Answer:
        """Right answer of an instance, looked up by its name or its file name."""
        if self.for_all != _NONE:
            return self.for_all
        known = self.by_name.get(os.path.basename(name), normal(otherwise) if otherwise else _NONE)
        return self.by_name.get(name, known)


def _read(path: Path) -> dict[str, Answer]:
    """Read lines `instance answer`; # starts a comment."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}, the file of expected answers, cannot be read: {error}") from None
    found: dict[str, Answer] = {}
    for number, line in enumerate(lines, 1):
        words = line.split(maxsplit=1)
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 2:
            raise BadInput(f"{path}, line {number}: expected an instance and its answer")
        found[words[0]] = normal(words[1])
    return found
