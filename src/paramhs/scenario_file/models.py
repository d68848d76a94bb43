"""What may stand in a scenario file: one class a table."""

import re
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from paramhs.choices import COSTS
from paramhs.comparison import Comparison, FixedRuns, FreshRuns, Growing
from paramhs.configurators import CONFIGURATORS, Configurator, ParamILS, ParamRLS
from paramhs.driver import Budget
from paramhs.errors import BadInput
from paramhs.operators import BothSides, Harmonic, LStep, One, Operator, Several, Step, Uniform
from paramhs.space import Boolean, Categorical, Integer, Ordinal, Parameter, Real, Value

REFERENCE = r"^[\w.]+:[\w.]+$"
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
    revisits: bool = False
    replacement: bool = True

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
                self.revisits,
                self.start,
            )
        comparison = self._comparison("growing")
        if self.name == "random":
            base = CONFIGURATORS["random"]
            assert isinstance(base, ParamRLS)  # noqa: S101 -- for the type checker
            return replace(base, comparison=comparison, start=self.start)
        usual = "several" if self.name == "paramhs" else "one"
        operator = self._operator(usual, Harmonic())
        return ParamRLS(operator, comparison, self.start, self.replacement)

    def _used(self) -> set[str]:
        kind = self.comparison or ("fixed" if self.name == "paramils" else "growing")
        used = {"name", "comparison", "start"}
        used |= {"min_runs", "max_runs"} if kind == "growing" else {"runs"}
        if self.name == "paramils":
            used |= {"random_starts", "kicks", "p_restart", "revisits"}
        if self.name in ("paramhs", "paramrls"):
            used |= {"replacement"}
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


AnyParameter = Annotated[_Real | _Integer | _Listed | _Boolean, Field(discriminator="type")]


class File(_Table):
    """A whole scenario file."""

    function: Annotated[str, Field(pattern=REFERENCE)]
    space: dict[str, AnyParameter]
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
