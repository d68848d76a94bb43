"""What may stand in a scenario file: one class a table."""

import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from paramhs.faces.choices import COSTS, cost_named
from paramhs.search.comparison import Comparison, FixedRuns, FreshRuns, Growing
from paramhs.search.configurators import Configurator, ParamHS, ParamILS
from paramhs.search.operators import (
    Anywhere,
    BothSides,
    Harmonic,
    LStep,
    One,
    Operator,
    Several,
    Step,
    Uniform,
)
from paramhs.values.errors import BadInput
from paramhs.values.space import Boolean, Categorical, Integer, Ordinal, Parameter, Real, Value
from paramhs.world.driver import Budget
from paramhs.world.targets.command import JsonLine, Pattern, Reader

REFERENCE = r"^[\w.]+:[\w.]+$"
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_NUMBER = r"(\d+\.?\d*|\.\d+)"


def seconds(duration: object) -> object:
    """A number of seconds, also written as '90 s', '10 min', '1.5 h' or '2 d'."""
    if not isinstance(duration, str):
        return duration
    match = re.fullmatch(r"\s*((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(s|min|h|d)?\s*", duration)
    if not match:
        raise ValueError("expected seconds, or a text such as '90 s', '10 min', '1.5 h', '2 d'")
    return float(match[1]) * _UNITS[match[2] or "s"]


def size(amount: object) -> object:
    """A number of bytes, also written as '500 MB' or '2 GiB'."""
    if not isinstance(amount, str):
        return amount
    match = re.fullmatch(rf"\s*{_NUMBER}\s*({'|'.join(_SIZES)})?\s*", amount)
    if not match:
        raise ValueError("expected bytes, or a text such as '500 MB', '2 GB' or '2 GiB'")
    return float(match[1]) * _SIZES[match[2] or "B"]


def _known_cost(name: str) -> str:
    try:
        cost_named(name)
    except BadInput as error:
        raise ValueError(f"{error}, and PAR1, PAR2, ...") from None
    return name


_GRACE = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}
_AMOUNT = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}

Seconds = Annotated[
    float, BeforeValidator(seconds), Field(gt=0, allow_inf_nan=False), WithJsonSchema(_AMOUNT)
]
Bytes = Annotated[
    float, BeforeValidator(size), Field(gt=0, allow_inf_nan=False), WithJsonSchema(_AMOUNT)
]
Cost = Annotated[
    str,
    AfterValidator(_known_cost),
    WithJsonSchema(
        {"anyOf": [{"enum": list(COSTS)}, {"type": "string", "pattern": r"^PAR[1-9]\d*(\.\d+)?$"}]}
    ),
]


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
    log: bool = False
    levels: int | None = None
    default: int | None = None

    def parameter(self) -> Parameter:
        return Integer(
            self.low,
            self.high,
            self.step,
            log=self.log,
            levels=self.levels,
            default=self.default,
        )


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
            )
        comparison = self._comparison("growing")
        if self.name == "random":
            return ParamHS(Anywhere(), comparison)
        usual = "several" if self.name == "paramhs" else "one"
        operator = self._operator(usual, Harmonic())
        return ParamHS(operator, comparison)

    def _used(self) -> set[str]:
        kind = self.comparison or ("fixed" if self.name == "paramils" else "growing")
        used = {"name", "comparison"}
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


AnyParameter = Annotated[_Real | _Integer | _Listed | _Boolean, Field(discriminator="type")]


class _Regex(_Table):
    """The last match; its group, if it has one, is the number."""

    regex: str | None = None
    time_regex: str | None = None
    """Seconds that the target says it took, believed instead of measured."""

    @model_validator(mode="after")
    def _says_something(self) -> "_Regex":
        if self.regex is None and self.time_regex is None:
            raise ValueError("expected regex, time_regex, json or time_json in it")
        return self

    def reader(self) -> Reader:
        return Pattern(self.regex, self.time_regex)


class _Json(_Table):
    """Keys of the last line that is a JSON object."""

    json_key: str | None = Field(None, alias="json")
    time_json: str | None = None

    def reader(self) -> Reader:
        return JsonLine(self.json_key, self.time_json)


def _reading(value: object) -> str:
    if isinstance(value, str):
        return "name"
    keys = value.keys() if isinstance(value, dict) else ()
    return "json" if {"json", "time_json"} & set(keys) else "regex"


Reading = Annotated[
    Annotated[Literal["time", "last number", "aclib", "irace"], Tag("name")]
    | Annotated[_Regex, Tag("regex")]
    | Annotated[_Json, Tag("json")],
    Discriminator(_reading),
]


def _kind(value: object) -> str:
    """In which of the ways a setting is given that can be given in several."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, dict):
        return "table"
    return "number" if isinstance(value, int | float) else "list"


_Entries = Annotated[list[str | int | float], Tag("list")]
Listing = Annotated[_Entries | Annotated[str, Tag("text")], Discriminator(_kind)]
TestListing = Annotated[
    _Entries | Annotated[str, Tag("text")] | Annotated[float, Tag("number")], Discriminator(_kind)
]
Words = Annotated[
    Annotated[str, Tag("text")] | Annotated[list[str], Tag("list")], Discriminator(_kind)
]
Answer = Literal["SAT", "UNSAT"]
Answers = Annotated[
    Annotated[Answer, Tag("text")] | Annotated[dict[str, Answer], Tag("table")],
    Discriminator(_kind),
]
Parameters = Annotated[
    Annotated[dict[str, AnyParameter], Tag("table")] | Annotated[str, Tag("text")],
    Discriminator(_kind),
]


class Verdict(_Table):
    """How the best and the default meet in the end."""

    runs: Annotated[int, Field(gt=0)] | None = None
    """Of each; left out: one an instance, and at least 50 if the target is random."""


class File(_Table):
    """A scenario of paramhs: what to tune, on what, and for how long."""

    schema_: str | None = Field(None, alias="$schema")
    function: Annotated[str, Field(pattern=REFERENCE)] | None = None
    """A Python function, as module:function; modules beside the file come first."""
    command: Words | None = None
    """A program and its arguments, with {instance}, {seed}, {cutoff}, {params} and parameters."""
    interface: Literal["aclib", "irace"] | None = None
    """The command is a wrapper that is called, and answers, as these tools have it."""
    style: str = "-name value"
    """How {params} writes a parameter: an example with the words name and value."""
    booleans: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """What is written for true and for false: flags ("--name", "--no-name") or values."""
    switches: dict[str, str] = {}
    """What stands before the value of single parameters, such as "--alpha=" or "-a "."""
    folder: str = "."
    """Where the command runs."""
    read: Reading | None = None
    """What counts of its output."""
    solved: Annotated[list[int], Field(min_length=1)] | None = None
    """Exit codes of a run that did its work."""
    expected: Answers = {}
    """The right answer, of all instances or by name."""
    checker: Words | None = None
    """A command that is given the output and ends with 0 if the answer is right."""
    space: Parameters
    """Tables of parameters, or a file: .pcs, irace's parameters.txt, ConfigSpace's JSON or YAML."""
    forbidden: list[str] = []
    instances: Listing | None = None
    """A list, a folder, a pattern such as "instances/*.cnf", or a file with one a line."""
    test_instances: TestListing | None = None
    """The same, or the share of the instances to hold out for the verdict."""
    split_seed: int = 0
    """Another seed, another choice of what is held out."""
    cost: Cost = "minimise"
    """What is compared."""
    clock: Literal["cpu", "wall"] | None = None
    """Which time counts, and what the cutoff limits."""
    cutoff: Seconds | None = None
    """A run is stopped there, with all its processes."""
    wall_limit: Seconds | None = None
    """Where processor time counts: how much time may pass."""
    memory: Bytes | None = None
    """What a run and all its processes may use together."""
    grace: Annotated[
        float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False), WithJsonSchema(_GRACE)
    ] = 1.0
    """Seconds between SIGTERM and SIGKILL."""
    deterministic: bool | None = None
    budget: _Budget
    configurator: _Configurator = _Configurator()
    verdict: Verdict = Verdict()
    seed: int = 0
    jobs: Annotated[int, Field(ge=1)] = 1
    executor: Literal["inline", "threads", "processes"] | None = None
    store: str | None = None


ALL_TABLES: tuple[type[BaseModel], ...] = (File, _Budget, _Configurator, Verdict, _Real, _Integer)
"""Where settings have their names, to suggest one for what was mistyped."""
