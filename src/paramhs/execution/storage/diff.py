"""Readable differences between two descriptions."""

import json
from collections.abc import Iterator


def differences(stored: object, now: object, where: str = "") -> list[str]:
    """List one line for each difference between two values in JSON types."""
    return list(_differences(stored, now, where))


def _differences(stored: object, now: object, where: str) -> Iterator[str]:
    if isinstance(stored, dict) and isinstance(now, dict):
        for key in [*stored, *(key for key in now if key not in stored)]:
            inner = f"{where}.{key}" if where else str(key)
            if key not in now:
                yield f"{inner}: stored {_brief(stored[key])}, now missing"
            elif key not in stored:
                yield f"{inner}: not stored, now {_brief(now[key])}"
            else:
                yield from _differences(stored[key], now[key], inner)
        if set(stored) == set(now) and list(stored) != list(now):
            yield f"{where}: the order changed from {_brief(list(stored))} to {_brief(list(now))}"
    elif isinstance(stored, list) and isinstance(now, list):
        yield from _of_lists(stored, now, where)
    elif stored != now or type(stored) is not type(now):
        yield f"{where}: stored {_brief(stored)}, now {_brief(now)}"


def _of_lists(stored: list[object], now: list[object], where: str) -> Iterator[str]:
    before, after = ({json.dumps(item, sort_keys=True) for item in x} for x in (stored, now))
    gone = [item for item in stored if json.dumps(item, sort_keys=True) not in after]
    new = [item for item in now if json.dumps(item, sort_keys=True) not in before]
    for item in gone[:5]:
        yield f"{where}: {_brief(item)} is gone"
    for item in new[:5]:
        yield f"{where}: {_brief(item)} is new"
    if len(gone) > 5 or len(new) > 5:
        yield f"{where}: in all {len(gone)} gone, {len(new)} new"
    if not gone and not new and stored != now:
        yield f"{where}: the order or the count changed"


def _brief(value: object, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else text[: most - 4] + " ..."
