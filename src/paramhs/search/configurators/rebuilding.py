"""A configurator again from what it says of itself: the inverse of `description`, for our own."""

from collections.abc import Mapping
from typing import Any

from paramhs.search.comparison import FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators.asynchronous import Asynchronous
from paramhs.search.configurators.configurator import Configurator
from paramhs.search.configurators.param_hs import ParamHS
from paramhs.search.configurators.param_ils import Afresh, ParamILS, Undiscovered
from paramhs.search.configurators.param_rls import ParamRLS
from paramhs.search.configurators.racing import Race
from paramhs.search.operators import (
    Anywhere,
    BothSides,
    Harmonic,
    Learned,
    LStep,
    Narrowing,
    One,
    Several,
    Uniform,
)
from paramhs.values.errors import BadInput

_PARTS = {
    part.__name__: part
    for part in (
        *(ParamHS, Asynchronous, ParamRLS, ParamILS, Race, Afresh, Undiscovered),
        *(Growing, Focused, FixedRuns, FreshRuns),
        *(One, Several, BothSides, Anywhere, Learned, Narrowing, Harmonic, Uniform, LStep),
    )
}


def configurator_of(described: object) -> Configurator:
    """The configurator that describes itself so; `BadInput` where it is none of ours."""
    made = _part(described)
    if not hasattr(made, "search"):
        raise BadInput("the configurator is not one of paramhs's own")
    return made  # type: ignore[no-any-return]


def _part(described: object) -> Any:
    if not isinstance(described, Mapping):
        return described
    facts = {name: _part(value) for name, value in described.items() if name != "kind"}
    part = _PARTS.get(str(described.get("kind")))
    if part is None:
        raise BadInput(f"{described.get('kind')} is not one of paramhs's own parts")
    try:
        return part(**facts)
    except TypeError as error:
        raise BadInput(f"{part.__name__} has changed: {error}") from None
