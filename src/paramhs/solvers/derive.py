"""From the options that a solver lists to the space that is tuned."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from paramhs.core.errors import BadInput
from paramhs.core.space import Boolean, Integer, Parameter, Space
from paramhs.solvers.entry import Entry, Range
from paramhs.solvers.options import Option
from paramhs.solvers.ranges import NoRange, parameter_of

Choice = Literal["short", "all"]
ANSWER_CHANGING = "answer-changing"

_MAX_LEVELS = 20  # levels up to which a range from 0 may be a degree of something, with 0 for none


@dataclass(frozen=True)
class Derived:
    """The space of a solver, and the options that are not in it.

    Args:
        space: Space of the options that are tuned.
    """

    space: Space
    found: int
    """Number of options that the solver lists."""
    descriptions: Mapping[str, str]
    """The solver's own words about the options that are tuned."""
    left_out: Mapping[str, str]
    """Reasons by option."""
    not_short: Sequence[str] = ()
    """Options that could be tuned and are not on the short list."""
    switches: Mapping[str, str] = field(default_factory=dict)
    """Texts before the values of options that are not written in the entry's style."""


def derive(
    entry: Entry, options: Sequence[Option], choice: Choice = "all", allow: Iterable[str] = ()
) -> Derived:
    """The space of the options that may be tuned.

    Args:
        entry: what is left out, ranges and conditions that the solver does not say.
        options: what the installed version lists.
        choice: "short" for the options worth tuning first, "all" for all that may be tuned.
        allow: "answer-changing" to tune options that may change the answer as well.
    """
    reasons = _reasons(entry, set(allow))
    parameters: dict[str, Parameter] = {}
    left_out: dict[str, str] = {}
    for option in options:
        try:
            parameters[option.name] = _parameter(option, entry, reasons)
        except NoRange as error:
            left_out[option.name] = str(error)
    if not parameters:
        raise BadInput(f"{entry.name}: none of its {len(options)} options can be tuned")
    chosen = _chosen(entry, parameters, choice)
    descriptions = {o.name: o.description for o in options if o.name in chosen and o.description}
    return Derived(
        _space(entry, chosen),
        len(options),
        descriptions,
        left_out,
        [name for name in parameters if name not in chosen],
        {o.name: o.switch for o in options if o.name in chosen and o.switch is not None},
    )


def _chosen(
    entry: Entry, parameters: Mapping[str, Parameter], choice: Choice
) -> dict[str, Parameter]:
    if choice == "all":
        return dict(parameters)
    if entry.short is None:
        raise BadInput(f"{entry.name} has no short list; use --options all")
    chosen = {name: parameters[name] for name in entry.short.names if name in parameters}
    if not chosen:
        raise BadInput(f"{entry.name}: this version has no option of the short list")
    return chosen


# What is left out.


def _reasons(entry: Entry, allow: set[str]) -> Callable[[str], str | None]:
    unknown = allow - {ANSWER_CHANGING}
    if unknown:
        raise BadInput(f"--allow {sorted(unknown)[0]}: there is only {ANSWER_CHANGING}")
    tables = [entry.left_out]
    if ANSWER_CHANGING not in allow:
        changing = {p: f"may change the answer: {r}" for p, r in entry.answer_changing.items()}
        tables.append(changing)

    named = _named(entry)

    def reason(name: str) -> str | None:
        for table in tables:
            for pattern, why in table.items():
                if fnmatchcase(name, pattern) and (name == pattern or name not in named):
                    return why
        return None

    return reason


def _parameter(option: Option, entry: Entry, reason: Callable[[str], str | None]) -> Parameter:
    why = reason(option.name)
    if why is None and option.deprecated:
        why = "deprecated"
    if why is None and option.expert and option.name not in _named(entry):
        why = "for experts, as it says itself"
    if why is not None:
        raise NoRange(why)
    if entry.bounded_only and option.name not in entry.ranges and _is_open(option):
        raise NoRange("the solver says no bounds, and the entry has none")
    return parameter_of(option, entry.ranges.get(option.name, Range()), entry.far)


def _named(entry: Entry) -> set[str]:
    """Options that the entry knows: those it gives a range, and its short list."""
    return {*entry.ranges, *(entry.short.names if entry.short else ())}


def _is_open(option: Option) -> bool:
    return option.kind in ("integer", "real") and option.low is None and option.high is None


# Conditions.


def _space(entry: Entry, parameters: Mapping[str, Parameter]) -> Space:
    conditions = _by_prefix(parameters) if entry.conditions_by_prefix else {}
    conditions |= {name: text for name, text in entry.conditions.items() if name in parameters}
    kept = {
        name: text
        for name, text in conditions.items()
        if text and _fits(parameters, conditions={name: text})
    }
    forbidden = [clause for clause in entry.forbidden if _fits(parameters, forbidden=[clause])]
    return Space(parameters, conditions=kept, forbidden=forbidden)


def _fits(parameters: Mapping[str, Parameter], **more: Any) -> bool:
    """Whether all options that an expression speaks of are there, with the values it names."""
    try:
        Space(parameters, **more)
    except BadInput:
        return False
    return True


def _by_prefix(parameters: Mapping[str, Parameter]) -> dict[str, str]:
    """Conditions of options whose names begin with the name of one that can be switched off."""
    off = {name: text for name, p in parameters.items() if (text := _switched_on(name, p))}
    conditions = {}
    for name in parameters:
        parents = [parent for parent in off if name.startswith(parent) and name != parent]
        if parents:
            conditions[name] = off[max(parents, key=len)]
    return conditions


def _switched_on(name: str, parameter: Parameter) -> str:
    if isinstance(parameter, Boolean):
        return f"{name} == true"
    if (
        isinstance(parameter, Integer)
        and parameter.value(0) == 0
        and parameter.levels <= _MAX_LEVELS
    ):
        return f"{name} > 0"
    return ""
