"""From what a scenario file says to what a search needs."""

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from paramhs.faces.choices import cost_named
from paramhs.faces.scenario_file.instances import check_distinct, instances_of, split, usual_share
from paramhs.faces.scenario_file.models import REFERENCE, AnyParameter, File
from paramhs.faces.scenario_file.places import Places
from paramhs.faces.scenario_file.targets import (
    NO_TARGET,
    Problem,
    command_of,
    command_target,
    folder_of,
    function_target,
    imported,
    kind_problems,
    reader_of,
    style_of,
    switch_problems,
    template_problems,
)
from paramhs.results.validating import Meeting
from paramhs.search.configurators import Configurator
from paramhs.values.errors import BadInput
from paramhs.values.runs import NO_INSTANCE, Instance
from paramhs.values.scenario import Scenario
from paramhs.values.space import Expression, Parameter, Space, compiled, parse
from paramhs.values.space.formats import SpaceFile, read_space
from paramhs.world.driver import Budget
from paramhs.world.executing import AnyTarget
from paramhs.world.targets.command import Template


@dataclass(frozen=True)
class ScenarioFile:
    """What a scenario file says, ready to run."""

    path: Path
    scenario: Scenario
    target: AnyTarget
    configurator: Configurator
    budget: Budget
    seed: int
    jobs: int
    executor: str | None
    store: Path
    meeting: Meeting | None
    """Where the verdict is found; None where there is nothing that the search has not seen."""
    notes: tuple[str, ...] = ()
    """What the user should know."""
    expected: str | Mapping[str, str] = ""
    """The right answers, as the file says them."""
    folders: Sequence[Path] = ()
    """Where paths are looked for; the first is the scenario's own."""


@dataclass
class Builder:
    """Makes the parts one by one, so that all that is wrong is found."""

    places: Places
    folders: Sequence[Path]
    """Where paths are looked for; the first is the scenario's own."""
    problems: list[str] = field(default_factory=list)

    def built(self, file: File) -> ScenarioFile:
        """The whole; `BadInput` with all problems if there are any."""
        self.noted(kind_problems(file))
        configurator = self.tried(("configurator",), file.configurator.configurator)
        read = self._space(file)
        target = self._target(file, read)
        trained, held_out = self._instances(file)
        self._check_expected(file, (*(trained or ()), *(held_out or ())))
        scenario: Any = None
        if not self.problems:
            scenario = self.tried((), lambda: self._scenario(file, read.space, trained, target))
        if self.problems:
            raise BadInput("\n".join(self.problems))
        path = self.places.path
        return ScenarioFile(
            path,
            scenario,
            target,
            configurator,
            file.budget.budget(),
            file.seed,
            file.jobs,
            file.executor,
            path.parent / file.store if file.store else path.with_suffix(".sqlite"),
            _meeting(scenario, held_out, file.verdict.runs),
            self.places.notes,
            file.expected,
            self.folders,
        )

    def problems_of(self, parsed: Mapping[str, Any]) -> list[str]:
        """What else is wrong with the parts of a file that are well-formed by themselves."""
        tables = parsed.get("space")
        for name, table in tables.items() if isinstance(tables, dict) else ():
            with suppress(ValidationError):
                spec = TypeAdapter(AnyParameter).validate_python(table)
                self.tried(("space", name), spec.parameter)
        if not {"function", "command"} & parsed.keys():
            self.problems.append(f"{self.places.where(())}: {NO_TARGET}")
        function = parsed.get("function")
        if isinstance(function, str) and re.fullmatch(REFERENCE, function):
            self.tried(("function",), lambda: imported(function, self.folders[0]))
        return self.problems

    def _scenario(
        self, file: File, space: Space, instances: tuple[Instance, ...], target: AnyTarget
    ) -> Scenario:
        return Scenario(
            space,
            instances,
            cost_named(file.cost),
            file.cutoff or math.inf,
            not target.uses_seed if file.deterministic is None else file.deterministic,
        )

    def _target(self, file: File, read: SpaceFile | None) -> Any:
        if file.function is not None:
            return self.tried(("function",), lambda: function_target(file, self.folders[0]))
        return None if file.command is None else self._command_target(file, read)

    def _command_target(self, file: File, read: SpaceFile | None) -> Any:
        folder = self.tried(("folder",), lambda: folder_of(file, self.folders[0]))
        place = ("cost",) if file.read is None else ("read",)
        reader = self.tried(place, lambda: reader_of(file))
        if read is None:
            return None
        self.noted(switch_problems(file, read.space))
        switches = {**read.switches, **file.switches}
        style = self.tried(("style",), lambda: style_of(file, switches))
        if style is None:
            return None
        make = partial(Template, space=read.space, style=style)
        template = self.tried(("command",), lambda: make(command_of(file)))
        checker = None
        if file.checker is not None:
            words = file.checker
            checker = self.tried(("checker",), lambda: make(words, whole=False))
        if template is not None:
            self.noted(template_problems(file, template))
        if None in (folder, reader, template):
            return None
        return self.tried(
            ("command",), lambda: command_target(file, template, reader, checker, folder)
        )

    def _instances(self, file: File) -> tuple[Any, Any]:
        """Those of the search, and those held out."""
        made = partial(
            instances_of, folders=self.folders, expected=file.expected, plain=bool(file.function)
        )
        test = file.test_instances
        if file.instances is None:
            if test:
                self.tried(("test_instances",), _no_instances)
            return (NO_INSTANCE,), ()
        listing = file.instances
        instances = self.tried(("instances",), lambda: _distinct(made(listing)))
        if isinstance(test, str | list):
            named = self.tried(("test_instances",), lambda: _distinct(made(test)))
            return instances, named and self._unseen(named, instances or ())
        if not instances:
            return instances, ()
        share = usual_share(len(instances)) if test is None else test
        divided = self.tried(("test_instances",), lambda: split(instances, share, file.split_seed))
        return divided or (instances, ())

    def _unseen(
        self, named: tuple[Instance, ...], searched: tuple[Instance, ...]
    ) -> tuple[Instance, ...]:
        """The test instances that the search is not given, too."""
        seen = {_place(instance) for instance in searched}
        new = tuple(instance for instance in named if _place(instance) not in seen)
        if len(new) < len(named):
            count = len(named) - len(new)
            note = f"{count} instances are in train and test; they are left out of the verdict"
            self.places.notes += (note,)
        return new

    def _check_expected(self, file: File, instances: Sequence[Instance]) -> None:
        if isinstance(file.expected, str):
            return
        names = {i.name for i in instances} | {os.path.basename(i.name) for i in instances}
        unknown = [name for name in file.expected if name not in names]
        if unknown:
            self.noted([(("expected", unknown[0]), "no instance is called so")])

    def noted(self, problems: Iterable[Problem]) -> None:
        """Take down problems that were found."""
        self.problems += [f"{self.places.where(place)}: {what}" for place, what in problems]

    def _space(self, file: File) -> Any:
        if isinstance(file.space, str):
            return self.tried(("space",), lambda: self._read_space(file))
        parameters = {
            name: self.tried(("space", name), spec.parameter) for name, spec in file.space.items()
        }
        conditions = {
            name: self.tried(("space", name, "condition"), partial(_read, s.condition, parameters))
            for name, s in file.space.items()
            if s.condition is not None
        }
        forbidden = [
            self.tried(("forbidden",), partial(_read, clause, parameters))
            for clause in file.forbidden
        ]
        if None in parameters.values() or None in conditions.values() or None in forbidden:
            return None
        made = self.tried(("space",), lambda: Space(parameters, conditions=conditions))
        if made is not None and forbidden:
            made = self.tried(
                ("forbidden",),
                lambda: Space(parameters, conditions=conditions, forbidden=forbidden),
            )
        return None if made is None else SpaceFile(made, {})

    def _read_space(self, file: File) -> SpaceFile:
        """A space in a file of its own, with what the scenario forbids besides."""
        name = str(file.space)
        place = next((f / name for f in self.folders if (f / name).exists()), None)
        if place is None:
            raise BadInput(f"there is no file {name} in {self.folders[0]}")
        read = read_space(place)
        self.places.notes += read.notes
        if not file.forbidden:
            return read
        known = read.space
        forbidden = [*known.forbidden, *file.forbidden]
        space = Space(known.parameters, conditions=known.conditions, forbidden=forbidden)
        return SpaceFile(space, read.switches, read.notes)

    def tried(self, place: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """What is made, or None and a problem at that place."""
        try:
            return make()
        except BadInput as error:
            self.problems.append(f"{self.places.where(place)}: {error}")
            return None


def _meeting(
    scenario: Scenario, held_out: tuple[Instance, ...], runs: int | None
) -> Meeting | None:
    if held_out:
        return Meeting(held_out, True, runs)
    return None if scenario.deterministic else Meeting(scenario.instances, False, runs)


def _place(instance: Instance) -> str:
    """Its file, however it is named; else its name."""
    path = getattr(instance.value, "path", instance.name)
    return os.path.realpath(path) if os.path.exists(path) else path


def _distinct(instances: tuple[Instance, ...]) -> tuple[Instance, ...]:
    check_distinct(instances)
    return instances


def _no_instances() -> None:
    raise BadInput("there are no instances to hold some out of")


def _read(text: str, parameters: Mapping[str, Parameter | None]) -> Expression:
    """An expression that makes sense for these parameters, so far as they are right themselves."""
    expression = parse(text, parameters)
    sound = {name: p for name, p in parameters.items() if p is not None}
    if len(sound) == len(parameters):
        compiled(expression, sound)
    return expression
