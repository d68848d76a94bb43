"""Scenario files: TOML, checked as a whole, every error named with its line."""

import importlib
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from paramhs.choices import COSTS, named_instances
from paramhs.configurators import Configurator
from paramhs.costs import Runtime
from paramhs.driver import Budget
from paramhs.errors import BadInput
from paramhs.scenario import Scenario
from paramhs.scenario_file.models import REFERENCE, AnyParameter, File, seconds
from paramhs.scenario_file.places import all_explained, line_of, where
from paramhs.space import Expression, Parameter, Space, compiled, parse
from paramhs.targets import FunctionTarget

__all__ = ["ScenarioFile", "line_of", "read_scenario", "seconds"]


@dataclass(frozen=True)
class ScenarioFile:
    """What a scenario file says, ready to run."""

    scenario: Scenario
    target: FunctionTarget
    configurator: Configurator
    budget: Budget
    seed: int
    jobs: int
    executor: str | None
    store: Path


def read_scenario(path: Path) -> ScenarioFile:
    """Read a scenario file; `BadInput` lists all that is wrong with it."""
    text = _text_of(path)
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}") from None
    try:
        file = File.model_validate(parsed)
    except ValidationError as error:
        rest = _Builder(path, text).problems_of(parsed)
        raise BadInput("\n".join([all_explained(path, text, error), *rest])) from None
    return _Builder(path, text).built(file)


class _Builder:
    """Makes the parts one by one, so that all that is wrong is found."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[str] = []

    def built(self, file: File) -> ScenarioFile:
        parameters = {
            name: self.tried(("space", name), spec.parameter) for name, spec in file.space.items()
        }
        configurator = self.tried(("configurator",), file.configurator.configurator)
        number = not isinstance(COSTS[file.cost], Runtime)
        target = self.tried(
            ("function",), lambda: _imported(file.function, self.path.parent, number)
        )
        instances = self.tried(("instances",), lambda: named_instances(file.instances))
        space = self.space(file, parameters)
        scenario = None
        if space is not None and target is not None and instances is not None:
            scenario = self.tried(
                (),
                lambda: Scenario(
                    space,
                    instances,
                    COSTS[file.cost],
                    file.cutoff or math.inf,
                    not target.uses_seed if file.deterministic is None else file.deterministic,
                ),
            )
        if self.problems:
            raise BadInput("\n".join(self.problems))
        assert scenario is not None  # noqa: S101 -- else there is a problem
        store = self.path.parent / file.store if file.store else self.path.with_suffix(".sqlite")
        return ScenarioFile(
            scenario,
            target,
            configurator,
            file.budget.budget(),
            file.seed,
            file.jobs,
            file.executor,
            store,
        )

    def problems_of(self, parsed: Mapping[str, Any]) -> list[str]:
        """What else is wrong with the parts of a file that are well-formed by themselves."""
        tables = parsed.get("space")
        for name, table in tables.items() if isinstance(tables, dict) else ():
            with suppress(ValidationError):
                spec = TypeAdapter(AnyParameter).validate_python(table)
                self.tried(("space", name), spec.parameter)
        function = parsed.get("function")
        if isinstance(function, str) and re.fullmatch(REFERENCE, function):
            self.tried(("function",), lambda: _imported(function, self.path.parent))
        return self.problems

    def space(self, file: File, parameters: dict[str, Any]) -> Space | None:
        """The space, if all of its parts are right by themselves."""
        conditions = {
            name: self.tried(("space", name, "condition"), partial(_read, s.condition, parameters))
            for name, s in file.space.items()
            if s.condition is not None
        }
        forbidden = [
            self.tried(("forbidden",), partial(_read, clause, parameters))
            for clause in file.forbidden
        ]
        if self.problems or None in parameters.values():
            return None
        made: Space | None = self.tried(
            ("space",), lambda: Space(parameters, conditions=conditions)
        )
        if made is not None and forbidden:
            made = self.tried(
                ("forbidden",),
                lambda: Space(parameters, conditions=conditions, forbidden=forbidden),
            )
        return made

    def tried(self, place: tuple[str, ...], make: Callable[[], Any]) -> Any:
        try:
            return make()
        except BadInput as error:
            self.problems.append(f"{where(self.path, self.text, place)}: {error}")
            return None


def _read(text: str, parameters: Mapping[str, Parameter | None]) -> Expression:
    """An expression that makes sense for these parameters, so far as they are right themselves."""
    expression = parse(text, parameters)
    sound = {name: p for name, p in parameters.items() if p is not None}
    if len(sound) == len(parameters):
        compiled(expression, sound)
    return expression


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"cannot read {path}: it is not UTF-8 text ({error})") from None


def _imported(reference: str, folder: Path, needs_number: bool = True) -> FunctionTarget:
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
    return FunctionTarget(thing, needs_number=needs_number)
