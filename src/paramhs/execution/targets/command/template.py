"""Command templates: split into words once, then filled with values.

A value only ever becomes (part of) a word. A word with a placeholder of an inactive parameter is
omitted; if the word consists of that placeholder alone, an option such as `-x` before it is omitted
as well.
"""

import ast
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Space, Value, value_text
from paramhs.core.space.conditions.expressions import names
from paramhs.core.text.quoting import short

PARAMS = "params"
CHANGED = "changed"
_ALL = (PARAMS, CHANGED)
OWN = ("instance", "seed", "cutoff", "info", "config_id", "instance_id")
"""Placeholders that are not parameters."""

_WHOLE = ([(PARAMS, False)], [(CHANGED, False)])
"""Words that expand to all parameters, or to the changed ones."""

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Style:
    """How `{params}` and `{changed}` write parameters, shown by an example.

    The example contains the words name and value. A switch, as in irace, precedes the value of one
    parameter: "--alpha=", or "-a " with a trailing blank for a separate word. Booleans are flags:
    the texts for true and false, containing the word name; texts without it are values ("1", "0").
    With `decimal`, numbers are written without an exponent: 0.00001, not 1e-05. `selectors` are
    parameters that only decide which others are active, and `{params}` does not write them.
    """

    example: str = "-name value"
    booleans: tuple[str, str] | None = None
    switches: Mapping[str, str] | None = None
    decimal: bool = False
    selectors: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Constructor call of this style, without default settings."""
        shown = {name: getattr(self, name) for name in ("example", "booleans", "switches")}
        shown |= {"decimal": True} if self.decimal else {}
        shown |= {"selectors": self.selectors} if self.selectors else {}
        return f"Style({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __post_init__(self) -> None:
        if not {"name", "value"} <= set(re.findall(r"name|value", self.example)):
            raise BadInput(
                f"{short(self.example)} is not a style; expected an example with the words name and"
                " value in it, such as '-name value', '--name=value' or '-name=value'"
            )

    @property
    def _flags(self) -> tuple[str, str] | None:
        """Flags for true and false, if booleans are not written as values."""
        if self.booleans is None:
            return self.example.partition("name")[0] + "name", ""
        return self.booleans if any("name" in text for text in self.booleans) else None

    def value(self, value: Value) -> str:
        """Write a value as a word."""
        if isinstance(value, bool):
            true, false = ("true", "false")
            if self.booleans is not None and self._flags is None:
                true, false = self.booleans
            return true if value else false
        if not isinstance(value, float):
            return str(value)
        return format(Decimal(repr(value)), "f") if self.decimal else repr(value)

    def words(self, name: str, value: Value) -> list[str]:
        """Words for one parameter."""
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
        """Flag of a boolean placeholder that is a separate word; None if it is a value."""
        if not isinstance(value, bool) or self.booleans is None or self._flags is None:
            return None
        return [word.replace("name", name) for word in self._flags[not value].split()]

    def check(self, space: Space, listed: Sequence[str]) -> None:
        """Reject an empty text for false where the program's default is true."""
        for name in listed:
            parameter = space.parameters[name]
            if not any(value is False for value in parameter.choices) or parameter.default is False:
                continue
            if not self.words(name, False):
                raise BadInput(
                    f"{name} is {value_text(parameter.default)} by default, so an empty text for"
                    " false would not turn it off; define how booleans are written:"
                    ' booleans = ["--name", "--no-name"], or values such as ["1", "0"]'
                    + (", and no switch" if name in (self.switches or {}) else "")
                )


@dataclass(frozen=True)
class Native:
    """How the program's own users write a configuration: its settings file, or its command line.

    `line` is an example of one setting, with the words name and value; `command` is a command with
    `{changed}` or `{params}`. Both write what differs from the defaults.
    """

    line: str = ""
    command: str = ""

    def __post_init__(self) -> None:
        if bool(self.line) == bool(self.command):
            raise BadInput('native is {line = "name = value"} or {command = "..."}, one of the two')
        if self.line and not {"name", "value"} <= set(re.findall(r"name|value", self.line)):
            raise BadInput(
                f"native.line: {short(self.line)} is no example of a setting; expected the words"
                " name and value in it, such as 'name = value'"
            )

    def text(self, config: Config, style: Style) -> str:
        """The settings file, one line for each value that is not the default; or the command."""
        if self.command:
            return Template(self.command, config.space, style, whole=False).line(config)
        parameters = config.space.parameters
        return "\n".join(
            self._setting(name, style.value(value))
            for name, value in config.items()
            if value != parameters[name].default and name not in style.selectors
        )

    def _setting(self, name: str, value: str) -> str:
        filled = {"name": name, "value": value}
        return re.sub("name|value", lambda found: filled[found[0]], self.line)


class Template:
    """A command with placeholders; with `whole`, every parameter needs one."""

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
        unknown = [name for name in style.selectors if name not in space.parameters]
        if unknown:
            raise BadInput(f"selectors: no parameter is called {short(unknown[0])}")
        self.listed = [n for n in space.parameters if n not in named and n not in style.selectors]
        self.defaults = {name: space.parameters[name].default for name in self.listed}
        if set(_ALL) <= named:
            raise BadInput("the command has {params} and {changed}; give one of them")
        self._check_flags(space)
        parents = {name for condition in space.conditions.values() for name in names(condition)}
        unsaid = [name for name in self.listed if name not in parents]
        if whole and unsaid and not named & set(_ALL):
            some = ", ".join(unsaid[:5]) + (", ..." if len(unsaid) > 5 else "")
            raise BadInput(
                f"the command does not mention {some}: write {{{unsaid[0]}}} where its value"
                " belongs, {params} for all that are not named, or {changed} for those of them that"
                " differ from their defaults"
            )
        if named & set(_ALL):
            style.check(space, self.listed)

    def _check_flags(self, space: Space) -> None:
        """Reject a flag inside a word: `--x={x}` needs a value."""
        for word, parts in zip(self.words, self._parts, strict=True):
            for name, fixed in parts if len(parts) > 1 else ():
                if fixed or name not in space.parameters:
                    continue
                if self.style.flag(name, space.parameters[name].default) is not None:
                    raise BadInput(
                        f"{short(word)}: booleans are flags here, so {{{name}}} must be a separate"
                        ' word; or write values instead, such as booleans = ["1", "0"]'
                    )

    def filled(self, config: Config, own: Mapping[str, str]) -> tuple[str, ...]:
        """Argument vector of a configuration."""
        result: list[str] = []
        option = False  # whether the last word is an option written in the template
        for parts in self._parts:
            if parts in _WHOLE:
                result.extend(self._all(config, parts == _WHOLE[1]))
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
        """Command line of a configuration, with INSTANCE, SEED etc. in place of the values."""
        return shlex.join(self.filled(config, {name: name.upper() for name in self.uses}))

    def _flag(self, parts: Sequence[tuple[str, bool]], config: Config) -> list[str] | None:
        name, fixed = parts[0] if len(parts) == 1 else ("", True)
        return None if fixed or name not in config else self.style.flag(name, config[name])

    def _all(self, config: Config, changed: bool) -> Iterator[str]:
        for name in self.listed:
            if name in config and not (changed and config[name] == self.defaults[name]):
                yield from self.style.words(name, config[name])

    def _text(
        self, parts: Sequence[tuple[str, bool]], config: Config, own: Mapping[str, str]
    ) -> str | None:
        """Fill one word; None if a parameter in it is inactive."""
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


def target_name(described: Mapping[str, object]) -> str:
    """Display name of a target, from its description."""
    for key in ("command", "function", "kind"):
        if isinstance(described.get(key), str):
            return str(described[key])
    return ""


def command_line_of(described: Mapping[str, object], config: Config) -> str:
    """Command line of a configuration, from the description of a target.

    INSTANCE, SEED etc. appear in place of the values; empty if the target is not a command.
    """
    text, style = described.get("command"), described.get("style")
    if not isinstance(text, str) or not isinstance(style, str):
        return ""
    template = Template(text, config.space, style_of(style), whole=False)
    return template.line(config)


def native_text(described: Mapping[str, object], config: Config) -> str | None:
    """A configuration as the program's own users write it; None where that is not known."""
    native, style = described.get("native"), described.get("style")
    if not isinstance(native, Mapping) or not isinstance(style, str):
        return None
    return Native(**native).text(config, style_of(style))


def style_of(written: str) -> Style:
    """Parse the `repr` of a style."""
    call = ast.parse(written, mode="eval").body
    if not isinstance(call, ast.Call):
        raise BadInput(f"{short(written)} is not a style")
    return Style(**{str(word.arg): ast.literal_eval(word.value) for word in call.keywords})


def split_words(command: str | Sequence[str]) -> list[str]:
    """Split a command into words as a shell would."""
    if not isinstance(command, str):
        return list(command)
    try:
        return shlex.split(command)
    except ValueError as error:
        what = f"the command {short(command)} cannot be split into words: {error}"
        raise BadInput(what) from None


def _parts(word: str, space: Space) -> list[tuple[str, bool]]:
    """Split a word into (text, True) and (placeholder, False)."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for match in _PLACEHOLDER.finditer(word):
        parts.append((word[at : match.start()], True))
        at = match.end()
        if match[0] in ("{{", "}}"):
            parts.append((match[0][0], True))
        elif match[1] is None:
            raise BadInput(f"{short(word)}: a single {match[0]!r}; double it for a literal one")
        else:
            parts.append((_known(match[1], word, space), False))
    parts.append((word[at:], True))
    return [part for part in parts if part[0] or not part[1]]


def _known(name: str, word: str, space: Space) -> str:
    if name in _ALL and word != f"{{{name}}}":
        raise BadInput(
            f"{short(word)}: {{{name}}} must be a separate word, because it expands to several"
        )
    if name in space.parameters and name in (*_ALL, *OWN):
        raise BadInput(
            f"{short(word)}: {{{name}}} is reserved, but a parameter has this name; write all"
            " parameters with {params}"
            if name not in _ALL
            else f"{short(word)}: a parameter has the reserved name {name}"
        )
    if name not in (*_ALL, *OWN) and name not in space.parameters:
        raise BadInput(
            f"{short(word)}: unknown placeholder {{{name[:60]}}}; expected {{instance}}, {{seed}},"
            " {cutoff}, {params}, {changed} or a parameter"
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
