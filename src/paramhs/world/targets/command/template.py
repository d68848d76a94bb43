"""Command templates: split into words once; values only ever become (parts of) words.

A word with a placeholder of an inactive parameter is left out; if it is nothing but that
placeholder, an option such as `-x` before it is left out with it.
"""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paramhs.values.errors import BadInput
from paramhs.values.space import Config, Space, Value, value_text
from paramhs.values.space.expressions import names

PARAMS = "params"
OWN = ("instance", "seed", "cutoff", "info", "config_id", "instance_id")
"""Placeholders that are no parameters."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Style:
    """How `{params}` writes parameters, shown by an example with the words name and value.

    A switch, as irace has, stands before the value of one parameter: "--alpha=", or "-a " with a
    blank at its end for a word of its own. Booleans are flags: what is written for true and for
    false, with the word name in them; texts without it are values ("1", "0").
    """

    example: str = "-name value"
    booleans: tuple[str, str] | None = None
    switches: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not {"name", "value"} <= set(re.findall(r"name|value", self.example)):
            raise BadInput(
                f"{self.example!r} is not a style; expected an example with the words name and"
                " value in it, such as '-name value', '--name=value' or '-name=value'"
            )

    @property
    def _flags(self) -> tuple[str, str] | None:
        """What is written for true and false, if those are not values."""
        if self.booleans is None:
            return self.example.partition("name")[0] + "name", ""
        return self.booleans if any("name" in text for text in self.booleans) else None

    def value(self, value: Value) -> str:
        """A value as a word."""
        if isinstance(value, bool):
            true, false = ("true", "false")
            if self.booleans is not None and self._flags is None:
                true, false = self.booleans
            return true if value else false
        return repr(value) if isinstance(value, float) else str(value)

    def words(self, name: str, value: Value) -> list[str]:
        """The words for one parameter."""
        flags = self._flags
        switch = (self.switches or {}).get(name)
        if isinstance(value, bool) and flags:
            if switch is not None:
                return [switch.strip()] if value and switch.strip() else []
            return [word.replace("name", name) for word in flags[not value].split()]
        text = self.value(value)
        if switch is not None:
            return [switch.strip(), text] if switch[-1:].isspace() else [switch + text]
        filled = {"name": name, "value": text}
        return [re.sub("name|value", lambda m: filled[m[0]], w) for w in self.example.split()]

    def flag(self, name: str, value: Value) -> list[str] | None:
        """What is written for a boolean that stands in the command by itself; None if a value."""
        if not isinstance(value, bool) or self.booleans is None or self._flags is None:
            return None
        return [word.replace("name", name) for word in self._flags[not value].split()]

    def check(self, space: Space, listed: Sequence[str]) -> None:
        """Refuse to write nothing for false where a program would take that for something else."""
        for name in listed:
            parameter = space.parameters[name]
            values = getattr(parameter, "values", ())
            if not any(value is False for value in values) or parameter.default is False:
                continue
            if not self.words(name, False):
                raise BadInput(
                    f"{name} is {value_text(parameter.default)} by default, so writing nothing for"
                    " false would not switch it off; say how booleans are written:"
                    ' booleans = ["--name", "--no-name"], or values such as ["1", "0"]'
                    + (", and no switch" if name in (self.switches or {}) else "")
                )


class Template:
    """A command with placeholders; a `whole` one has some for every parameter."""

    def __init__(
        self, command: str | Sequence[str], space: Space, style: Style, *, whole: bool = True
    ) -> None:
        self.text = command if isinstance(command, str) else shlex.join(command)
        self.style = style
        self.words = split_words(command)
        if not self.words:
            raise BadInput("the command is empty")
        self._parts = [_parts(word, space) for word in self.words]
        named = {name for parts in self._parts for name, fixed in parts if not fixed}
        self.uses = frozenset(named & set(OWN))
        self.listed = [name for name in space.parameters if name not in named]
        self._check_flags(space)
        parents = {name for condition in space.conditions.values() for name in names(condition)}
        unsaid = [name for name in self.listed if name not in parents]
        if whole and unsaid and PARAMS not in named:
            some = ", ".join(unsaid[:5]) + (", ..." if len(unsaid) > 5 else "")
            raise BadInput(
                f"the command says nothing of {some}: write {{{unsaid[0]}}} where its value"
                " belongs, or {params} for all that are not named"
            )
        if PARAMS in named:
            style.check(space, self.listed)

    def _check_flags(self, space: Space) -> None:
        """Refuse a flag within a word: `--x={x}` has a value there."""
        for word, parts in zip(self.words, self._parts, strict=True):
            for name, fixed in parts if len(parts) > 1 else ():
                if fixed or name not in space.parameters:
                    continue
                if self.style.flag(name, space.parameters[name].default) is not None:
                    raise BadInput(
                        f"{word!r}: booleans are flags here, so {{{name}}} must be a word of its"
                        ' own; give values instead, such as booleans = ["1", "0"]'
                    )

    def filled(self, config: Config, own: Mapping[str, str]) -> tuple[str, ...]:
        """The argument vector of a configuration."""
        result: list[str] = []
        option = False  # whether the last word is an option as it was written in the template
        for parts in self._parts:
            if parts == [(PARAMS, False)]:
                result.extend(self._all(config))
                option = False
                continue
            flag = self._flag(parts, config)
            if flag is not None:
                result.extend(flag)
                option = False
                continue
            text = self._text(parts, config, own)
            if text is not None:
                result.append(text)
            elif len(parts) == 1 and option:
                result.pop()
            option = text is not None and all(fixed for _, fixed in parts) and _is_option(text)
        return tuple(result)

    def line(self, config: Config) -> str:
        """The command line of a configuration, with INSTANCE, SEED and such where those go."""
        return shlex.join(self.filled(config, {name: name.upper() for name in self.uses}))

    def _flag(self, parts: Sequence[tuple[str, bool]], config: Config) -> list[str] | None:
        name, fixed = parts[0] if len(parts) == 1 else ("", True)
        return None if fixed or name not in config else self.style.flag(name, config[name])

    def _all(self, config: Config) -> Iterator[str]:
        for name in self.listed:
            if name in config:
                yield from self.style.words(name, config[name])

    def _text(
        self, parts: Sequence[tuple[str, bool]], config: Config, own: Mapping[str, str]
    ) -> str | None:
        """One word; None if a parameter in it is inactive."""
        text = ""
        for part, fixed in parts:
            if fixed:
                text += part
            elif part in own:
                text += own[part]
            elif part in config:
                text += self.style.value(config[part])
            else:
                return None
        return text


def command_line_of(described: Mapping[str, object], config: Config) -> str:
    """The command line of a configuration, from what a target says of itself, with INSTANCE, SEED
    and such where those go; empty where that is no command."""
    text, style = described.get("command"), described.get("style")
    if not isinstance(text, str) or not isinstance(style, str):
        return ""
    template = Template(text, config.space, style_of(style), whole=False)
    return template.line(config)


def style_of(written: str) -> Style:
    """The style that `repr` writes so."""
    call = ast.parse(written, mode="eval").body
    if not isinstance(call, ast.Call):
        raise BadInput(f"{written!r} is not a style")
    return Style(**{str(word.arg): ast.literal_eval(word.value) for word in call.keywords})


def split_words(command: str | Sequence[str]) -> list[str]:
    """As a shell would, without one."""
    if not isinstance(command, str):
        return list(command)
    try:
        return shlex.split(command)
    except ValueError as error:
        raise BadInput(f"the command {command!r} cannot be split into words: {error}") from None


def _parts(word: str, space: Space) -> list[tuple[str, bool]]:
    """A word as (text, True) and (placeholder, False)."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for match in _PLACEHOLDER.finditer(word):
        parts.append((word[at : match.start()], True))
        at = match.end()
        if match[0] in ("{{", "}}"):
            parts.append((match[0][0], True))
        elif match[1] is None:
            raise BadInput(f"{word!r}: a single {match[0]!r}; write it twice to mean itself")
        else:
            parts.append((_known(match[1], word, space), False))
    parts.append((word[at:], True))
    return [part for part in parts if part[0] or not part[1]]


def _known(name: str, word: str, space: Space) -> str:
    if name == PARAMS and word != "{params}":
        raise BadInput(f"{word!r}: {{params}} must be a word of its own, as it becomes several")
    if name in space.parameters and name in (PARAMS, *OWN):
        raise BadInput(
            f"{word!r}: {{{name}}} is no parameter here, and one is called so; give all parameters"
            " by {params}"
            if name != PARAMS
            else f"{word!r}: a parameter is called {name}"
        )
    if name != PARAMS and name not in OWN and name not in space.parameters:
        raise BadInput(
            f"{word!r}: there is no {{{name}}}; there are {{instance}}, {{seed}}, {{cutoff}},"
            " {params} and the parameters"
        )
    return name


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and not _is_number(word)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
