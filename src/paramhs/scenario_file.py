"""Scenario files: TOML, checked as a whole, every error named with its line."""

import importlib
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from paramhs.comparison import Comparison, FixedRuns, FreshRuns, Growing
from paramhs.configurators import CONFIGURATORS, Configurator, ParamILS, ParamRLS
from paramhs.driver import Budget
from paramhs.errors import BadInput
from paramhs.operators import BothSides, Harmonic, LStep, One, Operator, Several, Step, Uniform
from paramhs.scenario import Scenario
from paramhs.space import (
    Boolean,
    Categorical,
    Expression,
    Integer,
    Ordinal,
    Parameter,
    Real,
    Space,
    Value,
    compiled,
    parse,
)
from paramhs.targets import FunctionTarget
from paramhs.tuning import COSTS, named_instances

_REFERENCE = r"^[\w.]+:[\w.]+$"
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(duration: object) -> object:
    """A number of seconds, also written as '90 s', '10 min', '1.5 h' or '2 d'."""
    if not isinstance(duration, str):
        return duration
    match = re.fullmatch(r"\s*((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(s|min|h|d)?\s*", duration)
    if not match:
        raise ValueError("expected seconds, or a text such as '90 s', '10 min', '1.5 h', '2 d'")
    return float(match[1]) * _UNITS[match[2] or "s"]


Seconds = Annotated[float, BeforeValidator(seconds), Field(gt=0, allow_inf_nan=False)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Parameter(_Table):
    condition: str | None = None


class _Real(_Parameter):
    type: Literal["real"]
    low: float
    high: float
    levels: int = 65
    log: bool = False
    default: float | None = None

    def parameter(self) -> Parameter:
        return Real(self.low, self.high, self.levels, log=self.log, default=self.default)


class _Integer(_Parameter):
    type: Literal["integer"]
    low: int
    high: int
    step: int = 1
    default: int | None = None

    def parameter(self) -> Parameter:
        return Integer(self.low, self.high, self.step, default=self.default)


class _Listed(_Parameter):
    type: Literal["ordinal", "categorical"]
    values: list[Value]
    default: Value | None = None

    def parameter(self) -> Parameter:
        kind = Ordinal if self.type == "ordinal" else Categorical
        return kind(self.values, default=self.default)


class _Boolean(_Parameter):
    type: Literal["boolean"]
    default: bool = False

    def parameter(self) -> Parameter:
        return Boolean(default=self.default)


class _Budget(_Table):
    runs: Annotated[int, Field(gt=0)] | None = None
    target_time: Seconds | None = None
    wall_time: Seconds | None = None

    def budget(self) -> Budget:
        return Budget(self.runs, self.target_time, self.wall_time)


class _Configurator(_Table):
    """Names of the parts; what is left out is as the named configurator has it."""

    name: Literal["paramhs", "paramrls", "paramils", "random"] = "paramhs"
    moves: Literal["one", "several", "both sides"] | None = None
    step: Literal["harmonic", "uniform", "l-step"] | None = None
    length: int = 1
    comparison: Literal["growing", "fixed", "fresh"] | None = None
    runs: int | None = None
    min_runs: int = 3
    max_runs: int = 2000
    start: Literal["default", "uniform"] = "default"
    random_starts: int = 10
    kicks: int = 3
    p_restart: float = 0.01

    def configurator(self) -> Configurator:
        """The configurator meant; `BadInput` if something is said that it has no use for."""
        idle = sorted(self.model_fields_set - self._used())
        if idle:
            raise BadInput(f"{', '.join(idle)}: without effect beside the other settings here")
        if self.name == "paramils":
            return ParamILS(
                self._operator("one", Uniform()),
                self._comparison("fixed"),
                self.random_starts,
                self.kicks,
                self.p_restart,
                start=self.start,
            )
        comparison = self._comparison("growing")
        if self.name == "random":
            base = CONFIGURATORS["random"]
            assert isinstance(base, ParamRLS)  # noqa: S101 -- for the type checker
            return replace(base, comparison=comparison, start=self.start)
        usual = "several" if self.name == "paramhs" else "one"
        return ParamRLS(self._operator(usual, Harmonic()), comparison, self.start)

    def _used(self) -> set[str]:
        kind = self.comparison or ("fixed" if self.name == "paramils" else "growing")
        used = {"name", "comparison", "start"}
        used |= {"min_runs", "max_runs"} if kind == "growing" else {"runs"}
        if self.name == "paramils":
            used |= {"random_starts", "kicks", "p_restart"}
        if self.name != "random":
            used |= {"moves"} if self.moves == "both sides" else {"moves", "step"}
        return used | {"length"} if self.step == "l-step" else used

    def _operator(self, moves: str, step: Step) -> Operator:
        moves = self.moves or moves
        if self.step == "harmonic":
            step = Harmonic()
        elif self.step == "uniform":
            step = Uniform()
        elif self.step == "l-step":
            step = LStep(self.length)
        if moves == "both sides":
            return BothSides()
        return One(step) if moves == "one" else Several(step)

    def _comparison(self, usual: str) -> Comparison:
        kind = self.comparison or usual
        if kind == "growing":
            return Growing(self.min_runs, self.max_runs)
        if kind == "fixed":
            return FixedRuns() if self.runs is None else FixedRuns(self.runs)
        if self.runs is None:
            raise BadInput("a fresh comparison needs `runs`, how many of each at every call")
        return FreshRuns(self.runs)


_AnyParameter = Annotated[_Real | _Integer | _Listed | _Boolean, Field(discriminator="type")]


class _File(_Table):
    function: Annotated[str, Field(pattern=_REFERENCE)]
    space: dict[str, _AnyParameter]
    forbidden: list[str] = []
    instances: list[str | int | float] | None = None
    cost: Literal[tuple(COSTS)] = "minimise"  # type: ignore[valid-type]
    cutoff: Seconds | None = None
    deterministic: bool | None = None
    budget: _Budget
    configurator: _Configurator = _Configurator()
    seed: int = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    executor: Literal["inline", "threads", "processes"] | None = None
    store: str | None = None


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
        file = _File.model_validate(parsed)
    except ValidationError as error:
        rest = _Builder(path, text).problems_of(parsed)
        raise BadInput("\n".join([_all_explained(path, text, error), *rest])) from None
    return _Builder(path, text).built(file)


class _Builder:
    """Makes the parts one by one, so that all that is wrong is found."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.problems: list[str] = []

    def built(self, file: _File) -> ScenarioFile:
        parameters = {
            name: self.tried(("space", name), spec.parameter) for name, spec in file.space.items()
        }
        configurator = self.tried(("configurator",), file.configurator.configurator)
        target = self.tried(("function",), lambda: _imported(file.function, self.path.parent))
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
                spec = TypeAdapter(_AnyParameter).validate_python(table)
                self.tried(("space", name), spec.parameter)
        function = parsed.get("function")
        if isinstance(function, str) and re.fullmatch(_REFERENCE, function):
            self.tried(("function",), lambda: _imported(function, self.path.parent))
        return self.problems

    def space(self, file: _File, parameters: dict[str, Any]) -> Space | None:
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
            self.problems.append(f"{_where(self.path, self.text, place)}: {error}")
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


def _imported(reference: str, folder: Path) -> FunctionTarget:
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
    return FunctionTarget(thing)


def _all_explained(path: Path, text: str, error: ValidationError) -> str:
    """A line for each place that is wrong; a value no kind of which fits is one problem."""
    lines: dict[tuple[str, ...], str] = {}
    for problem in error.errors():
        lines.setdefault(_place(problem["loc"]), _explained(path, text, problem))
    return "\n".join(lines.values())


def _explained(path: Path, text: str, problem: Mapping[str, Any]) -> str:
    """One validation problem as a line."""
    place = _place(problem["loc"])
    kind, given = problem["type"], problem["input"]
    message = str(problem["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        message = "there is no such setting"
    elif kind == "missing":
        message = "is missing"
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        place = (*place, "type")
        found = given.get("type") if isinstance(given, dict) else given
        message = "should be real, integer, ordinal, categorical or boolean"
        message += " (it is missing)" if found is None else f" (it is {found!r})"
    elif not isinstance(given, dict):
        message += f" (it is {given!r})"
    return f"{_where(path, text, place)}: {message}"


def _place(loc: Sequence[object]) -> tuple[str, ...]:
    """Where a problem is, without the names of union members that pydantic puts in."""
    place = [str(part) for part in loc]
    if place[0] == "space":
        del place[2:3]  # the parameter's type
    if place[-1] in ("bool", "int", "float", "str"):
        place.pop()
    return tuple(place)


def _where(path: Path, text: str, place: tuple[str, ...]) -> str:
    line = line_of(text, place)
    name = ".".join(place)
    return f"{path}{f', line {line}' if line else ''}{f', {name}' if name else ''}"


_KEY = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"


def line_of(text: str, place: tuple[str, ...]) -> int | None:
    """The line of a TOML text where a place, or the closest thing around it, is set."""
    best, best_depth, depth = None, 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        bare = re.sub(r"""\"(?:[^"\\]|\\.)*\"|'[^']*'|#.*""", "", line)
        inside, depth = depth, max(depth + bare.count("[") - bare.count("]"), 0)
        header = re.match(rf"\s*\[+\s*({_DOTTED})\s*\]+\s*(?:#.*)?$", line)
        key = re.match(rf"\s*({_DOTTED})\s*=", line)
        if inside or not (header or key):
            continue
        if header:
            found = table = _parts(header[1])
        elif key:
            found = table + _parts(key[1])
        if found == place[: len(found)] and len(found) > best_depth:
            best, best_depth = number, len(found)
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(_unquoted(part) for part in re.findall(_KEY, dotted))


def _unquoted(part: str) -> str:
    if part.startswith('"'):
        return str(tomllib.loads(f"x = {part}")["x"])
    return part.strip("'")
