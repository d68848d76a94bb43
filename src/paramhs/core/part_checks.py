"""Type checks for the parts of a search: operators, comparisons, configurators."""

from abc import ABC

from paramhs.core.errors import BadInput


def check_part(thing: object, what: str, *kinds: type[ABC]) -> None:
    """Reject an object that is an instance of none of these classes, naming a missing method."""
    if isinstance(thing, kinds):
        return
    if isinstance(thing, type):
        raise BadInput(f"{thing.__name__} is a class, not {what}: write {thing.__name__}()")
    lacking = [sorted(kind.__abstractmethods__ - set(dir(thing))) for kind in kinds]
    missing, kind = min(zip(lacking, kinds, strict=True), key=lambda found: len(found[0]))
    why = f"it has no method {missing[0]}; " if missing else ""
    raise BadInput(f"{thing!r} is not {what}: {why}its class must derive from {kind.__name__}")
