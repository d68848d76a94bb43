"""Options as JSON objects, one a line: what the runners in `solvers/runners` print."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from paramhs.solvers.options import Option
from paramhs.solvers.readers.lines import unreadable

_NAMES = {field.name for field in fields(Option)}
_KINDS = {"boolean", "integer", "real", "choice", "text"}


def read_json_records(text: str) -> Sequence[Option]:
    """One option a line, with the fields of `Option` as keys; what is left out is not known."""
    return [_option(number, line) for number, line in enumerate(text.splitlines(), 1) if line]


def _option(number: int, line: str) -> Option:
    try:
        found: Any = json.loads(line)
        if not set(found) <= _NAMES or found["kind"] not in _KINDS:
            raise ValueError(line)
        return Option(**{**found, "choices": tuple(found.get("choices", ()))})
    except (ValueError, TypeError, KeyError):
        expected = f"a JSON object with keys among {', '.join(sorted(_NAMES))}"
        raise unreadable(number, line, expected) from None
