"""`paramhs validate`: a verdict on any configurations and instances."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from paramhs.faces.cli.output import Json, Terminal, again, print_json, say
from paramhs.faces.cli.tune import INTERRUPTED_CODE, tuning
from paramhs.faces.cli.verdicts import command_of, print_verdict
from paramhs.faces.scenario_file import ScenarioFile, read_scenario
from paramhs.faces.scenario_file.instances import instances_of
from paramhs.faces.views import view
from paramhs.results.validating import TestSet, verdict_store
from paramhs.results.validating import validate as validated
from paramhs.values.errors import BadInput
from paramhs.values.runs import Instance
from paramhs.values.space import Config
from paramhs.values.space.values import value_of
from paramhs.world.store.summary import summary
from paramhs.world.targets.command import Problem

_WORD = r"""(?:"(?:[^"\\]|\\.)*"|[^\s="]+)"""
_KEY = re.compile(rf"{_WORD}={_WORD}(?:\s+{_WORD}={_WORD})*")


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The scenario.")],
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            "-c",
            help="A configuration: 'default', 'best' (of the store), or values such as"
            " 'alpha=1.2 mode=fast', defaults elsewhere. The others meet the first. Left out:"
            " default and best.",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            help="'test' (if left out), 'train', or other instances: a folder, a pattern, a list.",
        ),
    ] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="Of each configuration.")] = None,
    store: Annotated[
        Path | None, typer.Option(help="The store of the search [FILE.sqlite].")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at a time.")] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed, other runs.")] = None,
    as_json: Json = False,
) -> None:
    """Let configurations meet on instances, with seeds that the search has not used."""
    scenario_file = read_scenario(file)
    store_path = store or scenario_file.store
    meant = {
        _find_config(name, scenario_file, store_path): name
        for name in config or ["default", "best"]
    }
    configs, names = list(meant), list(meant.values())
    if len(configs) < 2 and config is None:
        if as_json:
            print_json({"verdicts": []})
        else:
            say("Keep the default: it is the best that the search found.")
        return
    test_set = _test_set(scenario_file, on)
    test_set = test_set if runs is None else replace(test_set, runs=runs)
    with tuning():
        verdicts = validated(
            scenario_file.scenario,
            scenario_file.target,
            configs,
            test_set,
            seed=scenario_file.seed if seed is None else seed,
            store=verdict_store(store_path),
            running=scenario_file.running(view(as_json), jobs),
        )
    if verdicts is None:
        say(f"Interrupted; to go on: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)
    verdicts = [
        replace(verdict, names=(names[0], name))
        for name, verdict in zip(names[1:], verdicts, strict=True)
    ]
    if as_json:
        printed = [{**v.to_json(), **command_of(scenario_file, v.second.config)} for v in verdicts]
        print_json({"verdicts": printed})
        return
    console = Terminal()
    for chosen, verdict in zip(configs[1:], verdicts, strict=True):
        print_verdict(console, verdict)
        for command in command_of(scenario_file, chosen).values():
            console.print(Text(f"{command}\n"), soft_wrap=True)


def _find_config(name: str, scenario_file: ScenarioFile, store: Path) -> Config:
    space = scenario_file.scenario.space
    if name == "default":
        return space.default
    if name == "best":
        trajectory = summary(store)["trajectory"]
        if not trajectory:
            raise BadInput(f"{store} knows no best configuration yet: no search has come so far")
        return space.from_key(trajectory[-1]["config"])
    if not _KEY.fullmatch(name):
        raise BadInput(f"{name!r} is no configuration; expected default, best, or name=value ...")
    try:
        config = space.from_key(name)
        given = [str(value_of(word)) for word in re.findall(rf"({_WORD})=", name)]
    except ValueError:
        raise BadInput(f"{name!r}: expected name=value ..., texts in double quotes") from None
    idle = [word for word in given if word not in config]
    if idle:
        raise BadInput(f"{name!r}: {idle[0]} is not active beside the other values")
    return config


def _test_set(scenario_file: ScenarioFile, on: str | None) -> TestSet:
    if on == "train":
        return TestSet(scenario_file.scenario.instances, held_out=False)
    if on is None or on == "test":
        if scenario_file.test_set is None:
            raise BadInput(
                "nothing is held out, and the target is deterministic; name instances with --on"
            )
        return scenario_file.test_set
    found = _instances(on, scenario_file)
    seen = {_identity(instance) for instance in scenario_file.scenario.instances}
    return TestSet(found, held_out=not seen & {_identity(instance) for instance in found})


def _instances(on: str, scenario_file: ScenarioFile) -> tuple[Instance, ...]:
    """Those meant from here, or else from the scenario; a file has one name wherever one is."""
    plain = not scenario_file.target.runs_on_files
    folders = [folder.absolute() for folder in scenario_file.folders]
    try:
        return instances_of(os.path.abspath(on), folders, scenario_file.expected, plain)
    except BadInput:
        return instances_of(on, folders, scenario_file.expected, plain)


def _identity(instance: Instance) -> str:
    """The file of an instance, however it was named."""
    value = instance.value
    return os.path.realpath(value.path if isinstance(value, Problem) else str(value))
