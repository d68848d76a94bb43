"""Generate the reference pages that follow from the code: `python -m tools.reference`.

A test fails if a page is not what this program writes.
"""

import json
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from inspect import unwrap
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.core import TyperGroup
from typer.main import get_command

from paramhs.cli import app
from paramhs.core.runs import Status
from paramhs.formats.scenario.schema import File, settings
from tools import results
from tools.settings import INTRODUCTIONS, MEANINGS, TABLES

DOCS = Path(__file__).parents[1] / "docs"
NOTE = "<!-- Written by `python -m tools.reference`; change the code or tools/, not this page. -->"


def wrapped(text: str) -> str:
    """Text in lines of at most 100 columns."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def cell(text: str) -> str:
    """Text that may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(*rows: tuple[str, ...]) -> str:
    """A table of Markdown; the first row is its head."""
    head, *body = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


# The command line.

EXAMPLES = {
    "demo": ["paramhs demo --out demo"],
    "tune": [
        "paramhs tune scenario.toml",
        "paramhs tune scenario.toml --runs 2000 --jobs 4",
        "paramhs tune scenario.toml --wall-time '10 min' --seed 1 --store seed1.sqlite",
    ],
    "check": ["paramhs check scenario.toml", "paramhs check scenario.toml --values"],
    "validate": ["paramhs validate scenario.toml -c default -c 'alpha=1.2 mode=fast'"],
    "portfolio": ["paramhs portfolio scenario.sqlite -k 3 --runs 200 --search --out portfolio"],
    "simplify": ["paramhs simplify scenario.toml --budget 500 --out few.json"],
    "init": ["paramhs init first"],
    "show": ["paramhs show scenario.sqlite", "paramhs show scenario.sqlite --json"],
    "export": ["paramhs export scenario.sqlite --what runs --out runs.csv"],
    "report": ["paramhs report scenario.sqlite --out page.html"],
    "landscape": ["paramhs landscape table.csv"],
    "saps": ["paramhs saps formula.cnf"],
    "instances random-ksat": ["paramhs instances random-ksat --count 40 --out instances"],
    "space": ["paramhs space solver.pcs --to irace"],
}
CODES = {
    0: "The command did its work. A search that keeps the default ends with 0, too.",
    1: "The target does not work: the default failed in its first runs, or gave a wrong answer.",
    2: "Bad input: an option, a scenario, a file of parameters, an instance.",
    3: "The store cannot be used: damaged, locked by another process, or of another search.",
    130: "Interrupted by Ctrl-C or SIGTERM. Run the same command again to resume.",
}


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """All commands by their names, those of groups after the name of the group."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{name} ")
        else:
            yield before + name, command


def plain(text: str | None) -> str:
    """Help text as Markdown: brackets are no links, rich's escapes are dropped."""
    return " ".join((text or "").replace("\\[", "[").replace("[", "\\[").split())


KINDS = {"Path": "path", "int": "whole number", "float": "number", "str": "text"}


def value_of(annotation: Any, parameter: Any) -> str:
    """What is written after an option, from the annotation of the command's argument."""
    if getattr(parameter, "is_flag", False):
        return ""
    arguments = [one for one in get_args(annotation) if one is not type(None)]
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{one}`" for one in arguments)
    if arguments:
        return value_of(arguments[0], parameter)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{one.value}`" for one in annotation)
    return KINDS.get(getattr(annotation, "__name__", ""), "text")


def option_row(parameter: Any, annotations: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Name, value, default and meaning of an option or argument."""
    flags = [*parameter.opts, *parameter.secondary_opts]
    is_argument = parameter.param_type_name == "argument"
    metavar = (parameter.metavar or "").strip("{}[]")
    names = f"`{metavar}`" if is_argument else ", ".join(f"`{flag}`" for flag in flags)
    value = value_of(annotations.get(parameter.name, str), parameter)
    if metavar and not is_argument:
        value = f"`{metavar}`"
    default = "required" if parameter.required else shown(parameter)
    return names, value, default, plain(getattr(parameter, "help", ""))


def shown(parameter: Any) -> str:
    """The default of an option, as a user would write it."""
    default = parameter.default
    if default is None or default == () or callable(default) or default is False:
        return ""
    if default is True:
        return f"`{parameter.opts[0]}`"
    return f"`{getattr(default, 'value', default)}`"


def command_line() -> str:
    """The page of the command line."""
    parts = [
        "# Command line",
        NOTE,
        wrapped(
            "Each command takes `--help`. Commands that print a result take `--json`; their keys "
            "are in [run results](results.md). Exit codes are [below](#exit-codes)."
        ),
    ]
    group = get_command(app)
    names = [(name, command) for name, command in commands(group)]
    summaries = [(f"[`{n}`](#paramhs-{n.replace(' ', '-')})", summary(c)) for n, c in names]
    parts.append(table(("command", "what it does"), *summaries))
    for name, command in names:
        parts += [f"## paramhs {name}", plain_paragraphs(command.help)]
        if name in EXAMPLES:
            parts.append("```\n" + "\n".join(EXAMPLES[name]) + "\n```")
        annotations = get_type_hints(unwrap(command.callback))
        rows = [option_row(p, annotations) for p in command.params if p.name != "help"]
        if rows:
            parts.append(table(("option", "value", "default", "meaning"), *rows))
    parts += ["## Exit codes", table(("code", "meaning"), *code_rows())]
    return "\n\n".join(parts) + "\n"


def summary(command: Any) -> str:
    """The first sentence of a command's help."""
    return plain((command.help or "").strip().split("\n\n")[0])


def plain_paragraphs(text: str) -> str:
    """Paragraphs of a help text, wrapped."""
    return "\n\n".join(wrapped(plain(part)) for part in (text or "").strip().split("\n\n"))


def code_rows() -> list[tuple[str, str]]:
    """Exit codes and their meanings."""
    return [(f"`{code}`", meaning) for code, meaning in CODES.items()]


# The settings of scenario files.


def kind_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """The type that a schema describes, in words."""
    if "$ref" in schema:
        return "table"
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [kind_of(way, definitions) for way in schema.get("anyOf", schema.get("oneOf"))]
        words = [word for kind in kinds for word in kind.split(" or ") if word != "nothing"]
        return " or ".join(dict.fromkeys(words))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "value")
    names = {"string": "text", "array": "list", "object": "table", "null": "nothing"}
    if isinstance(kind, list):
        return " or ".join(names.get(one, one) for one in kind)
    return names.get(kind, kind)


def parameter_tables(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas of the kinds of parameters."""
    _, _, tables = json.dumps(schema["properties"]["space"]).partition('"oneOf": ')
    value, _ = json.JSONDecoder().raw_decode(tables)
    return list(value)


def properties_of(table_name: str, schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The schema of each setting of a table."""
    definitions = schema["$defs"]
    if table_name == "space.NAME":
        merged: dict[str, Any] = {}
        for one in parameter_tables(schema):
            for name, value in one["properties"].items():
                merged.setdefault(name, []).append(value)
        return {
            name: {"anyOf": [{k: v for k, v in s.items() if k != "default"} for s in schemas]}
            for name, schemas in merged.items()
        }
    if table_name == "configurator":
        return dict(schema["properties"]["configurator"]["properties"])
    names = {"budget": "_Budget", "verdict": "Verdict", "cluster": "_Cluster"}
    if table_name:
        return dict(definitions[names.get(table_name, "_TLS")]["properties"])
    tables = {*TABLES} | {"$schema", "schema_"}
    return {n: s for n, s in schema["properties"].items() if n not in tables}


def default_of(schema: Mapping[str, Any]) -> str:
    """The default of a setting in TOML; empty if leaving it out means something else."""
    value = schema.get("default")
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{json.dumps(value)}`"


def missing_settings() -> list[str]:
    """Settings without an entry in `tools.settings`, and entries without a setting."""
    wrong = []
    for name, known in settings().items():
        expected = {key for key in known if key not in TABLES and key != "$schema"}
        found = MEANINGS[name].keys()
        wrong += [f"{name}.{key}" for key in sorted(expected ^ found)]
    return wrong


def scenario_settings() -> str:
    """The page of the settings."""
    schema = File.model_json_schema()
    parts = [
        "# Scenario settings",
        NOTE,
        wrapped(
            "All settings of a scenario file in TOML. [Scenario files](scenario.md) explains them "
            'in context. Times are seconds or a text such as `"90 s"`, `"10 min"`, `"1.5 h"`, '
            '`"2 d"`; sizes are bytes or a text such as `"500 MB"`, `"2 GiB"`. '
            "[scenario.schema.json](../scenario.schema.json) lets an editor complete and check a "
            "file."
        ),
    ]
    for name, title in TABLES.items():
        rows = []
        for key, one in properties_of(name, schema).items():
            meaning, example = MEANINGS[name][key]
            kind = kind_of(one, schema["$defs"])
            rows.append((f"`{key}`", kind, default_of(one), meaning, f"`{example}`"))
        head = ("setting", "type", "default", "meaning", "example")
        parts += [f"## {title}", wrapped(INTRODUCTIONS[name]), table(head, *rows)]
    return "\n\n".join(parts) + "\n"


# Run results.


def described_keys(name: str) -> list[tuple[str, str, str]]:
    """Key, type and meaning of all keys of a JSON schema, those inside others after a dot."""
    return list(_keys(json.loads((DOCS / "json" / f"{name}.schema.json").read_text("utf-8"))))


COMMON = json.loads((DOCS / "json" / "common.schema.json").read_text("utf-8"))


def _keys(schema: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str, str]]:
    for key, value in schema.get("properties", {}).items():
        yield f"`{before}{key}`", kind_of_json(value), results.meaning(key, value)
        inner = value.get("items", value)
        yield from _keys(inner, f"{before}{key}{'[]' if 'items' in value else ''}.")


def kind_of_json(schema: Mapping[str, Any]) -> str:
    """The type of a JSON value, in words; definitions are links to their table."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name})"
    for way in ("oneOf", "anyOf"):
        if way in schema:
            return " or ".join(dict.fromkeys(kind_of_json(one) for one in schema[way]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    kinds = schema.get("type", "value")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds == ["array"]:
        return f"list of {kind_of_json(schema.get('items', {}))}"
    return " or ".join(kinds)


def run_results() -> str:
    """The page of statuses, columns and JSON keys."""
    parts = ["# Run results", NOTE, wrapped(results.INTRODUCTION), "## Statuses"]
    rows = [(f"`{status.value}`", *results.STATUSES[status.value]) for status in Status]
    head = ("status", "meaning", "cost where quality counts", "cost where time counts")
    parts += [table(head, *rows), "## Columns of `paramhs export`", wrapped(results.COLUMNS_NOTE)]
    for what, columns in results.COLUMNS.items():
        head = ("column", "unit", "meaning", "empty when")
        rows = [(f"`{name}`", *facts) for name, facts in columns.items()]
        parts += [f"### `--what {what}`", table(head, *rows)]
    parts += ["## JSON", wrapped(results.JSON_NOTE)]
    for name in results.COMMANDS:
        parts += [
            f"### `paramhs {results.CALLS.get(name, name)} --json`",
            f"Schema: [{name}.schema.json](../json/{name}.schema.json)",
            table(("key", "type", "meaning"), *described_keys(name)),
        ]
    parts += ["### Shared objects", wrapped("Objects that several commands print.")]
    for name, schema in COMMON["$defs"].items():
        rows = list(_keys(schema))
        note = schema.get("description", "")
        parts.append(f"#### {name}")
        if note:
            parts.append(wrapped(note))
        if rows:
            parts.append(table(("key", "type", "meaning"), *rows))
    return "\n\n".join(part for part in parts if part) + "\n"


PAGES = {
    "reference/command-line.md": command_line,
    "reference/settings.md": scenario_settings,
    "reference/results.md": run_results,
}


def main() -> None:
    """Write all pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
