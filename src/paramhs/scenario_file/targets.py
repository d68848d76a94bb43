"""The target that a scenario means."""

import importlib
import math
import shlex
import sys
from pathlib import Path
from typing import Any

from paramhs.choices import cost_named
from paramhs.costs import Runtime
from paramhs.errors import BadInput
from paramhs.scenario_file.models import File
from paramhs.space import Space
from paramhs.targets import FunctionTarget
from paramhs.targets.command import (
    AclibLine,
    CommandTarget,
    IraceLine,
    LastNumber,
    Nothing,
    Reader,
    Style,
    Template,
)

NO_TARGET = "give either a `function` or a `command`: that is the target"

_FOR_COMMANDS = {"interface", "style", "booleans", "switches", "folder", "read", "solved"}
_FOR_COMMANDS |= {"expected", "checker", "wall_limit", "grace"}

_CALLS = {
    "aclib": "{instance} {info} {cutoff} 2147483647 {seed} {params}",
    "irace": "{config_id} {instance_id} {seed} {instance} {params}",
    "irace with a bound": "{config_id} {instance_id} {seed} {instance} {cutoff} {params}",
}


def check_kind(file: File) -> None:
    """Exactly one kind of target, and no settings of the other."""
    if (file.function is None) == (file.command is None):
        raise BadInput(NO_TARGET)
    idle = sorted(_FOR_COMMANDS & file.model_fields_set)
    if file.function is not None and idle:
        raise BadInput(f"{', '.join(idle)}: only for commands, and the target is a function")
    if file.command is not None and file.executor is not None:
        raise BadInput("executor: only for functions; commands always run in processes")
    if file.clock == "wall" and file.wall_limit is not None:
        raise BadInput("wall_limit: the cutoff is one already, as clock is 'wall'")
    split = file.test_instances is None or (
        isinstance(file.test_instances, float) and file.test_instances > 0
    )
    if "split_seed" in file.model_fields_set and not split:
        raise BadInput("split_seed: without effect, as no share of the instances is held out")


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


def command_target(
    file: File, space: Space, switches: dict[str, str], folder: Path
) -> CommandTarget:
    """The command of a scenario."""
    reader = _reader(file)
    template = Template(_command(file), space, _style(file, space, switches))
    if "cutoff" in template.uses and file.cutoff is None and file.read != "aclib":
        raise BadInput("the command uses {cutoff}, and the scenario has none")
    runtime = isinstance(cost_named(file.cost), Runtime)
    place = (folder / file.folder).absolute()
    if not place.is_dir():
        raise BadInput(f"there is no folder {place} to run it in")
    if "instance" in template.uses and file.instances is None:
        raise BadInput("the command uses {instance}, and the scenario has no instances")
    return CommandTarget(
        template,
        place,
        reader,
        tuple(file.solved) if file.solved else (0,),
        file.clock or "cpu",
        file.memory or math.inf,
        file.wall_limit,
        file.grace,
        None if file.checker is None else Template(file.checker, space, Style(), whole=False),
        needs_number=not runtime,
    )


def _words(command: str | list[str]) -> list[str]:
    try:
        return shlex.split(command) if isinstance(command, str) else command
    except ValueError as error:
        raise BadInput(f"{command!r} cannot be split into words: {error}") from None


def _command(file: File) -> str | list[str]:
    assert file.command is not None  # noqa: S101 -- checked before
    if file.interface is None:
        return file.command
    bounded = file.interface == "irace" and file.cutoff is not None
    call = _CALLS[f"{file.interface} with a bound" if bounded else file.interface]
    return [*_words(file.command), *call.split()]


def _style(file: File, space: Space, switches: dict[str, str]) -> Style:
    all_switches = {**switches, **file.switches}
    for name in file.switches:
        if name not in space.parameters:
            raise BadInput(f"switches: no parameter is called {name!r}")
        if f"{{{name}}}" in str(file.command):
            raise BadInput(f"switches: {name} has its place in the command, which says it all")
    booleans = file.booleans or (["1", "0"] if file.interface else None)
    return Style(file.style, (booleans[0], booleans[1]) if booleans else None, all_switches)


def _reader(file: File) -> Reader:
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
