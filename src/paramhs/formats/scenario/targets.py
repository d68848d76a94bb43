"""The target of a scenario."""

import importlib
import math
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.execution.targets import FunctionTarget
from paramhs.execution.targets.command import (
    CommandTarget,
    Conventions,
    Native,
    Reader,
    Solved,
    Style,
    Template,
    named_readers,
    reader_of_costs,
)
from paramhs.execution.targets.command.template import split_words
from paramhs.formats.scenario.schema import File
from paramhs.formats.scenario.source_map import Source
from paramhs.formats.space_files import SpaceFile

_CALLS = {
    "aclib": "{instance} {info} {cutoff} 2147483647 {seed} {params}",
    "aclib2": "--instance {instance} --cutoff {cutoff} --seed {seed} --config {params}",
    "irace": "{config_id} {instance_id} {seed} {instance} {params}",
    "irace with a bound": "{config_id} {instance_id} {seed} {instance} {cutoff} {params}",
}


def function_target(file: File, folder: Path) -> FunctionTarget:
    """Load the Python function of a scenario."""
    return FunctionTarget(
        load_function(file.function or "", folder),
        needs_number=file.metric.needs_quality,
        clock=file.clock or "wall",
        memory=file.memory or math.inf,
        names=file.metric.reports,
    )


def load_function(reference: str, folder: Path) -> Callable[..., Any]:
    """Import the function at `module:function`; modules beside the scenario take precedence."""
    module_name, _, function_name = reference.partition(":")
    home = str(folder.absolute())
    if home not in sys.path:
        sys.path.insert(0, home)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise BadInput(f"{error}; modules are searched in {folder} and on Python's path") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may raise anything
        kind = type(error).__name__
        raise BadInput(f"importing {module_name} failed: {kind}: {error}") from error
    file = getattr(found, "__file__", None) or "built in"
    for part in function_name.split("."):
        if not hasattr(found, part):
            raise BadInput(
                f"module {module_name} has no function {function_name} (the module is {file})"
            )
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def command_target(
    file: File,
    parameters: SpaceFile | None,
    folder: Path,
    source: Source,
    wrong: frozenset[str],
) -> CommandTarget | None:
    """Build the command of a scenario; None if a problem was recorded.

    `wrong` names settings that were rejected before; their absence is not reported again.
    """
    runs_in = source.attempt(("folder",), lambda: _existing_folder(folder / file.folder))
    reads = ("cost",) if file.read is None else ("read",)
    reader = None if wrong & {"read", "cost"} else source.attempt(reads, lambda: _reader(file))
    if parameters is None or wrong & {"booleans", "style", "switches"}:
        return None
    _check_switches(file, parameters, source)
    style = source.attempt(("style",), lambda: _style(file, parameters))
    if style is None:
        return None
    make = partial(Template, space=parameters.space, style=style)
    template = source.attempt(("command",), lambda: make(_whole_command(file)))
    words = file.checker
    checker = words and source.attempt(("checker",), lambda: make(words or "", whole=False))
    if template is not None:
        _check_placeholders(file, template, source, wrong)
    native = source.attempt(("native",), lambda: _native(file, parameters, style))
    if runs_in is None or reader is None or template is None:
        return None
    return source.attempt(
        ("command",),
        lambda: CommandTarget(
            template,
            runs_in,
            reader,
            file.solved or Solved(),
            file.clock or "cpu",
            file.memory or math.inf,
            file.wall_limit,
            file.grace,
            checker or None,
            needs_number=file.metric.needs_quality,
            cutoff_digits=_irace_digits(file),
            recogniser=file.answer or Conventions(),
            answer_tolerance=file.answer_tolerance,
            native=native,
            timed=file.metric.needs_runtime,
        ),
    )


def _native(file: File, parameters: SpaceFile, style: Style) -> Native | None:
    """How the program's own users write a configuration; tried on the default."""
    if file.native is None:
        return None
    native = Native(file.native.line, file.native.command)
    native.text(parameters.space.default, style)
    return native


def _irace_digits(file: File) -> int | None:
    """irace rounds its bounds up to whole seconds by default."""
    return 0 if "irace" in (file.interface, file.read) and file.metric.grows_with_time else None


def _existing_folder(path: Path) -> Path:
    folder = Path(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise BadInput(f"there is no folder {folder} to run it in")
    return folder


def _whole_command(file: File) -> str | list[str]:
    """Words of the command, followed by those of the interface."""
    command = file.command or ""
    if file.interface is None:
        return command
    bounded = file.interface == "irace" and file.metric.needs_runtime
    call = _CALLS[f"{file.interface} with a bound" if bounded else file.interface]
    return [*split_words(command), *call.split()]


def _style(file: File, parameters: SpaceFile) -> Style:
    """Style in which parameters are written."""
    booleans = file.booleans or (["1", "0"] if file.interface else None)
    switches = {**parameters.switches, **file.switches}
    both = (booleans[0], booleans[1]) if booleans else None
    return Style(
        file.style, both, switches, file.numbers == "decimal", tuple(sorted(file.selectors))
    )


def _reader(file: File) -> Reader:
    """Reader of the quality, or of several costs."""
    runtime = not file.metric.needs_quality
    read = file.read or file.interface or ("time" if runtime else None)
    if read is None:
        raise BadInput(
            f'cost = "{file.cost}" needs a reader for the output: read = "last number",'
            ' read = {regex = "cost: (.*)"}, read = {json = "cost"}, "aclib" or "irace"'
        )
    if isinstance(read, str):
        if read == "time" and not runtime:
            raise BadInput(f'read = "time" yields no quality, which cost = "{file.cost}" needs')
        read = named_readers(file.metric.needs_quality)[read]
    return reader_of_costs(read, file.metric.reports)


def _check_switches(file: File, parameters: SpaceFile, source: Source) -> None:
    """Reject switches of unknown parameters and of those named in the command itself."""
    for name in file.switches:
        if name not in parameters.space.parameters:
            source.complain(("switches", name), f"no parameter is called {name!r}")
        elif f"{{{name}}}" in str(file.command):
            source.complain(
                ("switches", name),
                f"the command already contains {{{name}}}, so a switch has no effect",
            )


def _check_placeholders(
    file: File, template: Template, source: Source, wrong: frozenset[str]
) -> None:
    """Reject placeholders that the scenario cannot fill, and instances without a placeholder."""
    no_cutoff = file.cutoff is None and file.read != "aclib" and "cutoff" not in wrong
    if "cutoff" in template.uses and no_cutoff:
        source.complain(("command",), "the command uses {cutoff}, but the scenario has no cutoff")
    if "instances" in wrong:
        return
    if "instance" in template.uses and file.instances is None:
        source.complain(
            ("command",), "the command uses {instance}, but the scenario has no instances"
        )
    if file.instances is not None and not template.uses & {"instance", "instance_id"}:
        source.complain(
            ("instances",), "the command has no {instance}, so all instances would be the same"
        )
