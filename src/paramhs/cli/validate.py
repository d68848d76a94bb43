"""`paramhs validate`: a verdict on any configurations and instances."""

import os
import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from paramhs.api.terminal.live_view import view
from paramhs.cli.console import AcceptChanged, Json, Terminal, again, print_json, say
from paramhs.cli.render_verdict import command_of, print_accepted, print_verdict
from paramhs.cli.tuning import INTERRUPTED_CODE, tuning
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance
from paramhs.core.space import Config
from paramhs.core.space.literals import value_of
from paramhs.core.test_set import TestSet
from paramhs.execution.storage.accepted_changes import check_search
from paramhs.execution.storage.stats import summary
from paramhs.execution.subject import subject_of
from paramhs.execution.targets.command import file_of
from paramhs.formats.scenario import ScenarioFile, read_scenario
from paramhs.formats.scenario.instances import instances_of
from paramhs.procedures.recommendation import accepted_in
from paramhs.procedures.validate import validate as validated

_WORD = r"""(?:"(?:[^"\\]|\\.)*"|[^\s="]+)"""
_KEY = re.compile(rf"{_WORD}={_WORD}(?:\s+{_WORD}={_WORD})*")


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Path of the scenario file.")],
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            "-c",
            help="Configuration: 'default', 'best' (of the store), or values such as"
            " 'alpha=1.2 mode=fast' with defaults elsewhere. May be repeated; all are compared with"
            " the first, corrected for their number. Default: default and best.",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            help="Instances: 'test', 'train', or a folder, pattern or list. Default: test.",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Number of runs of each configuration.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Store of the search. Default: FILE.sqlite.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel runs.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of the runs.")] = None,
    until_clear: Annotated[
        bool,
        typer.Option(
            "--until-clear",
            help="End as soon as the answer is clear, or any difference is below 2 %."
            " Looks on 12, 24, 48, ... instances; intervals are corrected for them.",
        ),
    ] = False,
    accept_changed: AcceptChanged = False,
    as_json: Json = False,
) -> None:
    """Compare configurations on held-out instances and new seeds."""
    scenario_file = read_scenario(file)
    store_path = store or scenario_file.store
    meant = {
        _find_config(name, scenario_file, store_path): name
        for name in config or ["default", "best"]
    }
    configs, names = list(meant), list(meant.values())
    if len(configs) < 2 and config is None:
        if as_json:
            print_json({"verdicts": [], "accepted": []})
        else:
            say("Keep the default: the search found nothing better.")
        return
    scenario, target = scenario_file.scenario, scenario_file.target
    subject = subject_of(target, scenario.instances, scenario.cost)
    check_search(store_path, subject, accept_changed)
    test_set = _test_set(scenario_file, on)
    test_set = test_set if runs is None else replace(test_set, runs=runs)
    with tuning():
        verdicts = validated(
            scenario_file.scenario,
            scenario_file.target,
            configs,
            test_set,
            seed=scenario_file.seed if seed is None else seed,
            store=store_path,
            running=scenario_file.running(view(as_json), jobs),
            names=names,
            accept_changed=accept_changed,
            until_clear=until_clear,
        )
    if verdicts is None:
        say(f"Interrupted. Resume with: {again()}", err=True)
        raise typer.Exit(INTERRUPTED_CODE)
    accepted = accepted_in(store_path)
    if as_json:
        printed = [{**v.to_json(), **command_of(scenario_file, v.second.config)} for v in verdicts]
        print_json({"verdicts": printed, "accepted": list(accepted)})
        return
    console = Terminal()
    print_accepted(console, accepted)
    for chosen, of_config in groupby(verdicts, key=lambda one: one.second.config):
        for verdict in of_config:
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
            raise BadInput(
                f"{store} has no best configuration yet: the search has not found an incumbent"
            )
        return space.from_key(trajectory[-1]["config"])
    if not _KEY.fullmatch(name):
        raise BadInput(
            f"{name!r} is not a configuration; expected default, best, or name=value ..."
        )
    try:
        config = space.from_key(name)
        given = [str(value_of(word)) for word in re.findall(rf"({_WORD})=", name)]
    except ValueError:
        raise BadInput(f"{name!r}: expected name=value ..., texts in double quotes") from None
    idle = [word for word in given if word not in config]
    if idle:
        raise BadInput(f"{name!r}: {idle[0]} is not active with the other values")
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
    """Find instances from the current folder or else from the scenario's folder.

    The same file has the same name, whichever folder it was found from.
    """
    plain = not scenario_file.target.runs_on_files
    folders = [folder.absolute() for folder in scenario_file.folders]
    try:
        return instances_of(os.path.abspath(on), folders, scenario_file.expected, plain)
    except BadInput:
        return instances_of(on, folders, scenario_file.expected, plain)


def _identity(instance: Instance) -> str:
    """Resolved file of an instance, however it was named."""
    return os.path.realpath(file_of(instance))
