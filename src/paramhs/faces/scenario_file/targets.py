"""The target that a scenario means."""

import importlib
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paramhs.faces.choices import cost_named
from paramhs.faces.scenario_file.models import File
from paramhs.values.costs import Quality, Runtime
from paramhs.values.errors import BadInput
from paramhs.values.space import Space
from paramhs.world.targets import FunctionTarget
from paramhs.world.targets.command import (
    AclibLine,
    CommandTarget,
    IraceLine,
    LastNumber,
    Nothing,
    Reader,
    Style,
    Template,
)
from paramhs.world.targets.command.template import split_words

NO_TARGET = "give either a `function` or a `command`: that is the target"

_FOR_COMMANDS = {"interface", "style", "booleans", "switches", "folder", "read", "solved"}
_FOR_COMMANDS |= {"expected", "checker", "wall_limit", "grace"}

_CALLS = {
    "aclib": "{instance} {info} {cutoff} 2147483647 {seed} {params}",
    "irace": "{config_id} {instance_id} {seed} {instance} {params}",
    "irace with a bound": "{config_id} {instance_id} {seed} {instance} {cutoff} {params}",
}


Problem = tuple[tuple[str, ...], str]
"""Where something is wrong, and what."""


def kind_problems(file: File) -> Iterator[Problem]:
    """What does not go together: two kinds of target, or settings without effect."""
    if (file.function is None) == (file.command is None):
        yield (), NO_TARGET
    for name in sorted(_FOR_COMMANDS & file.model_fields_set):
        if file.function is not None:
            yield (name,), "only for commands, and the target is a function"
    if file.command is not None and file.executor is not None:
        yield ("executor",), "only for functions; commands always run in processes"
    if file.clock == "wall" and file.wall_limit is not None:
        yield ("wall_limit",), "the cutoff is one already, as clock is 'wall'"
    if "split_seed" in file.model_fields_set and not _is_split(file):
        yield ("split_seed",), "without effect, as no share of the instances is held out"
    if not isinstance(cost_named(file.cost), Quality) and file.cutoff is None:
        yield ("cost",), "tuning for runtime needs a cutoff: what would a run that hangs cost?"


def _is_split(file: File) -> bool:
    test = file.test_instances
    return test is None or (isinstance(test, float) and test > 0)


def function_target(file: File, folder: Path) -> FunctionTarget:
    """The Python function of a scenario."""
    assert file.function is not None  # noqa: S101 -- checked before
    return FunctionTarget(
        imported(file.function, folder),
        needs_number=not isinstance(cost_named(file.cost), Runtime),
        clock=file.clock or "wall",
        memory=file.memory or math.inf,
    )


def imported(reference: str, folder: Path) -> Any:
    """The function at `module:function`; modules beside the scenario come first."""
    module_name, _, function_name = reference.partition(":")
    place = str(folder.absolute())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        thing: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise BadInput(
            f"{error}; modules are looked for in {folder} and where Python does"
        ) from None
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise BadInput(f"importing {module_name} failed: {kind}: {error}") from error
    place = getattr(thing, "__file__", None) or "built in"
    for part in function_name.split("."):
        if not hasattr(thing, part):
            raise BadInput(
                f"module {module_name} has no function {function_name} (the module is {place})"
            )
        thing = getattr(thing, part)
    return thing


def switch_problems(file: File, space: Space) -> Iterator[Problem]:
    """Switches of what is no parameter, or has its place in the command."""
    for name in file.switches:
        if name not in space.parameters:
            yield ("switches", name), f"no parameter is called {name!r}"
        elif f"{{{name}}}" in str(file.command):
            yield ("switches", name), f"{name} has its place in the command, which says it all"


def template_problems(file: File, template: Template) -> Iterator[Problem]:
    """Placeholders for what the scenario does not have, and the other way round."""
    if "cutoff" in template.uses and file.cutoff is None and file.read != "aclib":
        yield ("command",), "the command uses {cutoff}, and the scenario has none"
    if "instance" in template.uses and file.instances is None:
        yield ("command",), "the command uses {instance}, and the scenario has no instances"
    if file.instances is not None and not template.uses & {"instance", "instance_id"}:
        yield ("instances",), "the command has no {instance}, so all of them would be the same"


def command_target(
    file: File, template: Template, reader: Reader, checker: Template | None, folder: Path
) -> CommandTarget:
    """The command of a scenario, from its parts."""
    return CommandTarget(
        template,
        folder,
        reader,
        tuple(file.solved) if file.solved else (0,),
        file.clock or "cpu",
        file.memory or math.inf,
        file.wall_limit,
        file.grace,
        checker,
        needs_number=not isinstance(cost_named(file.cost), Runtime),
    )


def folder_of(file: File, home: Path) -> Path:
    """Where the command runs."""
    place = (home / file.folder).absolute()
    if not place.is_dir():
        raise BadInput(f"there is no folder {place} to run it in")
    return place


def command_of(file: File) -> str | list[str]:
    """The words of the command, with those of the interface."""
    assert file.command is not None  # noqa: S101 -- checked before
    if file.interface is None:
        return file.command
    bounded = file.interface == "irace" and not isinstance(cost_named(file.cost), Quality)
    call = _CALLS[f"{file.interface} with a bound" if bounded else file.interface]
    return [*split_words(file.command), *call.split()]


def style_of(file: File, switches: Mapping[str, str]) -> Style:
    """How parameters are written."""
    booleans = file.booleans or (["1", "0"] if file.interface else None)
    return Style(file.style, (booleans[0], booleans[1]) if booleans else None, switches)


def reader_of(file: File) -> Reader:
    """What counts of the output."""
    runtime = isinstance(cost_named(file.cost), Runtime)
    read = file.read or file.interface or ("time" if runtime else None)
    if read is None:
        raise BadInput(
            f'cost = "{file.cost}" needs to know what to read: read = "last number",'
            ' read = {regex = "cost: (.*)"}, read = {json = "cost"}, "aclib" or "irace"'
        )
    if not isinstance(read, str):
        return read.reader()
    if read == "time" and not runtime:
        raise BadInput(f'read = "time" gives no quality, which cost = "{file.cost}" needs')
    named: dict[str, Reader] = {
        "time": Nothing(),
        "last number": LastNumber(),
        "aclib": AclibLine(),
        "irace": IraceLine(cost_is_time=runtime),
    }
    return named[read]
