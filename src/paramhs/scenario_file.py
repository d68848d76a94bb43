"""Scenario files: TOML, checked as a whole, every error named with its line."""

import importlib
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from paramhs.comparison import Comparison, FixedRuns, FreshRuns, Growing
from paramhs.configurators import CONFIGURATORS, Configurator, ParamILS, ParamRLS
from paramhs.driver import Budget
from paramhs.errors import BadInput
from paramhs.operators import BothSides, Harmonic, LStep, One, Operator, Several, Step, Uniform
from paramhs.scenario import Scenario
from paramhs.space import Boolean, Categorical, Integer, Ordinal, Parameter, Real, Space, Value
from paramhs.targets import FunctionTarget
from paramhs.tuning import COSTS, named_instances

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(duration: object) -> object:
    """A number of seconds, also written as '90 s', '10 min', '1.5 h' or '2 d'."""
    if not isinstance(duration, str):
        return duration
    match = re.fullmatch(r"\s*([\d.]+(?:e[+-]?\d+)?)\s*(s|min|h|d)?\s*", duration)
    if not match:
        raise ValueError("expected seconds, or a text such as '90 s', '10 min', '1.5 h', '2 d'")
    return float(match[1]) * _UNITS[match[2] or "s"]


Seconds = Annotated[float, BeforeValidator(seconds), Field(gt=0)]


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
            return FixedRuns(self.runs or 100)
        if self.runs is None:
            raise BadInput("a fresh comparison needs `runs`, how many of each at every call")
        return FreshRuns(self.runs)


class _File(_Table):
    function: Annotated[str, Field(pattern=r"^[\w.]+:[\w.]+$")]
    space: dict[str, Annotated[_Real | _Integer | _Listed | _Boolean, Field(discriminator="type")]]
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
    text = _read(path)
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}") from None
    try:
        file = _File.model_validate(parsed)
    except ValidationError as error:
        lines = [_explained(path, text, problem) for problem in error.errors()]
        raise BadInput("\n".join(lines)) from None
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
        conditions = {name: s.condition for name, s in file.space.items() if s.condition}
        space = scenario = None
        if not any(parameter is None for parameter in parameters.values()):
            space = self.tried(
                ("space",),
                lambda: Space(parameters, conditions=conditions, forbidden=file.forbidden),
            )
        if space and target and instances:
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
        if self.problems or not (scenario and target and configurator):
            raise BadInput("\n".join(self.problems))
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

    def tried(self, place: tuple[str, ...], make: Callable[[], Any]) -> Any:
        try:
            return make()
        except BadInput as error:
            self.problems.append(f"{_where(self.path, self.text, place)}: {error}")
            return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
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
        for part in function_name.split("."):
            thing = getattr(thing, part)
    except ModuleNotFoundError as error:
        raise BadInput(
            f"{error}; modules are looked for in {folder} and where Python does"
        ) from None
    except AttributeError:
        raise BadInput(f"module {module_name} has no function {function_name}") from None
    except Exception as error:
        kind = type(error).__name__
        raise BadInput(f"importing {module_name} failed: {kind}: {error}") from error
    return FunctionTarget(thing)


def _explained(path: Path, text: str, problem: Mapping[str, Any]) -> str:
    """One validation problem as a line."""
    place = tuple(str(part) for part in problem["loc"])
    if place[:1] == ("space",):
        place = place[:2] + place[3:]  # without the parameter's type
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        message = "there is no such setting"
    elif problem["type"] == "missing":
        message = "is missing"
    elif not isinstance(problem["input"], dict):
        message += f" (it is {problem['input']!r})"
    return f"{_where(path, text, place)}: {message}"


def _where(path: Path, text: str, place: tuple[str, ...]) -> str:
    line = line_of(text, place)
    name = ".".join(place)
    return f"{path}{f', line {line}' if line else ''}{f', {name}' if name else ''}"


def line_of(text: str, place: tuple[str, ...]) -> int | None:
    """The line of a TOML text where a place, or the closest thing around it, is set."""
    best, best_depth = None, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        key = re.match(r"\s*([\w.\"'-]+)\s*=", line)
        if header:
            found = table = _parts(header[1])
        elif key:
            found = table + _parts(key[1])
        else:
            continue
        if found == place[: len(found)] and len(found) > best_depth:
            best, best_depth = number, len(found)
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in re.findall(r'"([^"]*)"|\'([^\']*)\'|([\w-]+)', dotted))
