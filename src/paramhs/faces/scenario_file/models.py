"""What may stand in a scenario file: one class a table.

A setting is checked by itself here, and is what the search needs wherever that can be told from it
alone. What follows from several settings together is for `building`.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from paramhs.faces.choices import COSTS, check_seed, cost_named
from paramhs.search.comparison import Comparison, FixedRuns, Focused, FreshRuns, Growing
from paramhs.search.configurators import Configurator, ParamHS, ParamILS, Race
from paramhs.search.operators import (
    Anywhere,
    BothSides,
    Harmonic,
    Learned,
    LStep,
    One,
    Operator,
    Several,
    Step,
    Uniform,
)
from paramhs.values.capping import Kind
from paramhs.values.costs import CostMetric
from paramhs.values.errors import BadInput
from paramhs.values.space import Boolean, Categorical, Integer, Ordinal, Parameter, Real, Value
from paramhs.values.space.parameters import parameter
from paramhs.world.cluster import Dask
from paramhs.world.driver import Budget
from paramhs.world.executing import MOST_JOBS
from paramhs.world.targets.command import JsonLine, Pattern, Reader

T = TypeVar("T")
REFERENCE = r"^[\w.]+:[\w.]+$"
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_AMOUNT = re.compile(r"(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*([A-Za-z]*)")
_LONGEST = 60  # characters of an amount


def seconds(duration: object) -> object:
    """A number of seconds, also written as '90 s', '10 min', '1.5 h' or '2 d'."""
    expected = "expected seconds, or a text such as '90 s', '10 min', '1.5 h', '2 d'"
    return _amount(duration, _UNITS, "s", expected)


def size(amount: object) -> object:
    """A number of bytes, also written as '500 MB' or '2 GiB'."""
    expected = "expected bytes, or a text such as '500 MB', '2 GB' or '2 GiB'"
    return _amount(amount, _SIZES, "B", expected)


def _amount(amount: object, units: Mapping[str, float], usual: str, expected: str) -> object:
    """A number with a unit; what is no text is left to others. Texts are short: the pattern's time
    grows with the square of their length."""
    if not isinstance(amount, str):
        return amount
    match = _AMOUNT.fullmatch(amount.strip()) if len(amount) <= _LONGEST else None
    if not match or (match[3] or usual) not in units:
        raise ValueError(expected)
    return float(match[1] + (match[2] or "")) * units[match[3] or usual]


def _known_cost(name: str) -> str:
    try:
        cost_named(name)
    except BadInput as error:
        raise ValueError(f"{error}, and PAR1, PAR2, ...") from None
    return name


def _known_seed(seed: int) -> int:
    try:
        check_seed(seed)
    except BadInput as error:
        raise ValueError(str(error)) from None
    return seed


_GRACE = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]}
_POSITIVE = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}]}

Seconds = Annotated[
    float, BeforeValidator(seconds), Field(gt=0, allow_inf_nan=False), WithJsonSchema(_POSITIVE)
]
Bytes = Annotated[
    float, BeforeValidator(size), Field(gt=0, allow_inf_nan=False), WithJsonSchema(_POSITIVE)
]
Seed = Annotated[int, AfterValidator(_known_seed)]
Cost = Annotated[
    str,
    AfterValidator(_known_cost),
    WithJsonSchema(
        {"anyOf": [{"enum": list(COSTS)}, {"type": "string", "pattern": r"^PAR[1-9]\d*(\.\d+)?$"}]}
    ),
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _kind(value: object) -> str:
    """Which of TOML's kinds of value it is."""
    if isinstance(value, bool):
        return "boolean"
    kinds = {str: "text", dict: "table", list: "list", int: "number", float: "number"}
    return kinds.get(type(value), "date")


class _Ways:
    """A setting that may be written in several ways, one for each kind of value.

    A union would report every way that was not meant; this one reports what is wrong with the one
    that was.
    """

    def __init__(self, **ways: Any) -> None:
        self._ways = {kind: TypeAdapter(way) for kind, way in ways.items()}

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [way.json_schema() for way in self._ways.values()]}

    def _validate(self, value: object) -> object:
        way = self._ways.get(_kind(value))
        if way is None:
            raise ValueError(f"should be a {' or a '.join(self._ways)}")
        return way.validate_python(value, strict=True)


def _plain_value(value: object) -> Value:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("should be a text, a number or a boolean")
    return value


def _plain_entry(value: object) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("should be a text or a number")
    return value


_VALUE = {"type": ["boolean", "number", "string"]}
_Value = Annotated[Value, PlainValidator(_plain_value), WithJsonSchema(_VALUE)]
_Entry = Annotated[
    str | int | float,
    PlainValidator(_plain_entry),
    WithJsonSchema({"type": ["number", "string"]}),
]


# Parameters. Their classes are described once, where they are: a table has the settings that the
# class takes as arguments, of the same types and with the same defaults.


class Described(NamedTuple):
    """A parameter, and when it is active."""

    parameter: Parameter
    condition: str | None = None


class _Parameter(_Table):
    condition: str | None = None


def _table_of(kind: type[Parameter]) -> type[_Parameter]:
    as_written = {Iterable[Value]: list[_Value], Value | None: _Value | None}
    types = get_type_hints(kind.__init__)
    settings: dict[str, Any] = {
        name: (
            as_written.get(types[name], types[name]),
            ... if argument.default is argument.empty else argument.default,
        )
        for name, argument in inspect.signature(kind).parameters.items()
    }
    settings["type"] = (Literal[kind.__name__.lower()], ...)
    return create_model(kind.__name__, __base__=_Parameter, **settings)


_KINDS = {k.__name__.lower(): k for k in (Real, Integer, Ordinal, Categorical, Boolean)}
_TABLES = {name: _table_of(kind) for name, kind in _KINDS.items()}


def _from_table(value: Mapping[str, object]) -> Described:
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _TABLES:
        found = "missing" if "type" not in value else repr(kind)
        what = f"should be real, integer, ordinal, categorical or boolean (it is {found})"
        raise _wrong_at("type", what)
    table = _TABLES[kind].model_validate(value)
    given = {name: getattr(table, name) for name in table.model_fields_set}
    arguments = {name: given[name] for name in given.keys() - {"type", "condition"}}
    return Described(_in_words(lambda: _KINDS[kind](**arguments)), table.condition)


def _from_list(value: list[Value]) -> Described:
    """As in Python, but that TOML has no tuples: two numbers are a range."""
    numbers = all(_kind(entry) == "number" for entry in value)
    if value and numbers and len(value) != 2:
        raise ValueError(
            "a list of numbers is a range, [low, high]; for single values write"
            " {type = 'ordinal', values = [...]}, or 'categorical' if they have no order"
        )
    return Described(_in_words(lambda: parameter(tuple(value) if value and numbers else value)))


def _in_words(make: Callable[[], T]) -> T:
    try:
        return make()
    except BadInput as error:
        raise PydanticCustomError("impossible", "{what}", {"what": str(error)}) from None
    except OverflowError:
        what = "a number is too large to compute with"
        raise PydanticCustomError("impossible", "{what}", {"what": what}) from None


def _wrong_at(name: str, what: str) -> ValidationError:
    error = PydanticCustomError("impossible", "{what}", {"what": what})
    detail = InitErrorDetails(type=error, loc=(name,), input=None)
    return ValidationError.from_exception_data("parameter", [detail])


_ParameterTable = Annotated[
    Described,
    PlainValidator(_from_table),
    WithJsonSchema({"oneOf": [table.model_json_schema() for table in _TABLES.values()]}),
]
_ParameterList = Annotated[list[_Value], AfterValidator(_from_list)]
_ParameterDefault = Annotated[
    bool, AfterValidator(lambda default: Described(Boolean(default=default)))
]
Parameters = dict[
    str,
    Annotated[
        Described, _Ways(table=_ParameterTable, list=_ParameterList, boolean=_ParameterDefault)
    ],
]


class _Budget(_Table):
    runs: Annotated[int, Field(gt=0)] | None = None
    target_time: Seconds | None = None
    wall_time: Seconds | None = None

    def budget(self) -> Budget:
        return Budget(self.runs, self.target_time, self.wall_time)


_RACE = ("candidates", "survivors", "first_test", "confidence", "test", "max_runs")
_USED_BY = {
    "growing": ("min_runs", "max_runs"),
    "focused": ("order", "max_runs"),
    "fixed": ("runs",),
    "fresh": ("runs",),
}
"""Which settings each comparison has a use for."""


class _Configurator(_Table):
    """Names of the parts; what is left out is as the named configurator has it."""

    name: Literal["paramhs", "paramhs-plain", "paramrls", "paramils", "race", "random"] = "paramhs"
    moves: Literal["learned", "one", "several", "both sides"] | None = None
    step: Literal["harmonic", "uniform", "l-step"] | None = None
    length: int = 1
    comparison: Literal["growing", "focused", "fixed", "fresh"] | None = None
    order: Literal["drawn", "shared"] = "drawn"
    runs: int | None = None
    min_runs: int = 2
    max_runs: int = 2000
    random_starts: int = 10
    kicks: int = 3
    p_restart: float = 0.01
    candidates: int | None = None
    survivors: int | None = None
    first_test: int = 5
    confidence: float = 0.95
    test: Literal["friedman", "t"] | None = None

    def configurator(self) -> Configurator:
        """The configurator meant; `BadInput` if a setting is given that it has no use for."""
        idle = sorted(self.model_fields_set - self._used())
        if idle:
            raise BadInput(f"{', '.join(idle)}: without effect beside the other settings here")
        if self.name == "paramils":
            return ParamILS(
                self._operator("one", Uniform()),
                self._comparison("focused"),
                self.random_starts,
                self.kicks,
                self.p_restart,
            )
        if self.name == "race":
            settings = {name: getattr(self, name) for name in _RACE}
            return Race(self._operator("several", Harmonic()), **settings)
        comparison = self._comparison("growing")
        if self.name == "random":
            return ParamHS(Anywhere(), comparison)
        if self.name == "paramhs" and self.moves in (None, "learned"):
            return ParamHS(Learned(self._step(Harmonic())), comparison)
        usual = "one" if self.name == "paramrls" else "several"
        return ParamHS(self._operator(usual, Harmonic()), comparison)

    def _used(self) -> set[str]:
        kind = self.comparison or ("focused" if self.name == "paramils" else "growing")
        used = {"name", *_RACE} if self.name == "race" else {"name", "comparison", *_USED_BY[kind]}
        if self.name == "paramils":
            used |= {"random_starts", "kicks", "p_restart"}
        if self.name != "random":
            used |= {"moves"} if self.moves == "both sides" else {"moves", "step"}
        return used | {"length"} if self.step == "l-step" else used

    def _operator(self, moves: str, step: Step) -> Operator:
        moves = self.moves or moves
        if moves == "both sides":
            return BothSides()
        if moves == "learned":
            raise BadInput('moves: "learned" goes with name = "paramhs" alone')
        return One(self._step(step)) if moves == "one" else Several(self._step(step))

    def _step(self, usual: Step) -> Step:
        if self.step == "l-step":
            return LStep(self.length)
        if self.step == "uniform":
            return Uniform()
        return Harmonic() if self.step == "harmonic" else usual

    def _comparison(self, usual: str) -> Comparison:
        kind = self.comparison or usual
        if kind == "growing":
            return Growing(self.min_runs, self.max_runs)
        if kind == "focused":
            return Focused(self.order, self.max_runs)
        if kind == "fixed":
            return FixedRuns() if self.runs is None else FixedRuns(self.runs)
        if self.runs is None:
            raise BadInput("a fresh comparison needs `runs`, how many of each at every call")
        return FreshRuns(self.runs)


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


def _table_reader(value: Mapping[str, object]) -> Reader:
    table = _Json if {"json", "time_json"} & value.keys() else _Regex
    return _in_words(table.model_validate(value).reader)


def _read_table_schema() -> JsonSchemaValue:
    return {"anyOf": [_Regex.model_json_schema(), _Json.model_json_schema()]}


_Read = Literal["time", "last number", "aclib", "aclib2", "irace"]
Reading = Annotated[
    _Read | Reader,
    _Ways(
        text=_Read,
        table=Annotated[Any, PlainValidator(_table_reader), WithJsonSchema(_read_table_schema())],
    ),
]
_Entries = list[_Entry]
Listing = Annotated[str | list[str | int | float], _Ways(list=_Entries, text=str)]
TestListing = Annotated[
    str | list[str | int | float] | float, _Ways(list=_Entries, text=str, number=float)
]
Words = Annotated[str | list[str], _Ways(text=str, list=list[str])]
Answer = Literal["SAT", "UNSAT"]
Answers = Annotated[str | dict[str, str], _Ways(text=Answer, table=dict[str, Answer])]
Initial = Annotated[str | list[dict[str, Value]], _Ways(list=list[dict[str, _Value]], text=str)]


class Verdict(_Table):
    """How the best and the default meet in the end."""

    runs: Annotated[int, Field(gt=0)] | None = None
    """Of each; left out: one an instance, and at least 50 if the target is random."""
    in_budget: bool = False
    """Whether these runs are part of the budget; else they come on top."""


class _Cluster(_Table):
    """Where workers come from, and what they are given."""

    system: Literal["slurm", "pbs", "lsf", "sge", "htcondor", "oar", "moab"] | None = None
    """A batch system whose jobs are the workers, as many as there are jobs."""
    options: dict[str, Any] = {}
    """What dask-jobqueue is told about them: cores, memory, walltime, queue and so on."""
    client: Annotated[str, Field(pattern=REFERENCE)] | None = None
    """A Python function that makes a client of Dask, as module:function."""
    ship: bool = False
    """Whether files of instances are sent to the workers; else they find them where they are."""
    patience: Seconds | None = None
    """How long to wait for workers, or the scheduler, to come back."""

    def dask(self, address: str, client: Callable[[], Any] | None) -> Dask:
        return Dask(address, self.system, self.options, client, self.ship, self.patience)


class File(_Table):
    """A scenario of paramhs: what to tune, on what, and for how long."""

    model_config = ConfigDict(json_schema_extra={"required": ["space", "budget"]})

    schema_: str | None = Field(None, alias="$schema")
    function: Annotated[str, Field(pattern=REFERENCE)] | None = None
    """A Python function, as module:function; modules beside the file come first."""
    command: Words | None = None
    """A program and its arguments, with {instance}, {seed}, {cutoff}, {params} and parameters."""
    interface: Literal["aclib", "aclib2", "irace"] | None = None
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
    space: Annotated[dict[str, Described] | str, _Ways(table=Parameters, text=str)] | None = None
    """Parameters, or a file: .pcs, irace's parameters.txt, ConfigSpace's JSON or YAML."""
    conditions: dict[str, str] = {}
    """When a parameter is active, by its name; or `condition` in its table."""
    forbidden: list[str] = []
    """What may not hold."""
    initial: Initial = []
    """Configurations to begin with: tables of values, or a file with one a line (JSON or CSV)."""
    warm_start: list[str] = []
    """Stores of earlier searches, to learn from."""
    instances: Listing | None = None
    """A list, a folder, a pattern such as "instances/*.cnf", or a file with one a line."""
    test_instances: TestListing | None = None
    """The same, or the share of the instances to hold out for the verdict."""
    split_seed: Seed = 0
    """Another seed, another choice of what is held out."""
    cost: Cost = "minimise"
    """What is compared."""
    clock: Literal["cpu", "wall"] | None = None
    """Which time counts, and what the cutoff limits."""
    cutoff: Seconds | None = None
    """A run is stopped there, with all its processes."""
    capping: Kind | None = None
    """Where time is the cost: whether runs are cut short that can no longer win."""
    capping_factor: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None
    """How many times the incumbent's time aggressive capping allows."""
    wall_limit: Seconds | None = None
    """Where processor time counts: how much time may pass."""
    memory: Bytes | None = None
    """What a run and all its processes may use together."""
    grace: Annotated[
        float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False), WithJsonSchema(_GRACE)
    ] = 1.0
    """Seconds between SIGTERM and SIGKILL."""
    deterministic: bool | None = None
    """Whether the same configuration always gives the same answer: then one run an instance."""
    budget: _Budget | None = None
    configurator: _Configurator = _Configurator()
    verdict: Verdict = Verdict()
    seed: Seed = 0
    jobs: Annotated[int, Field(ge=1, le=MOST_JOBS)] = 1
    asynchronous: bool | Annotated[int, Field(ge=1, le=4096)] = False
    """Whether results are used as they come, with as many runs at a time as there are jobs; or a
    number of them, which is a part of the search."""
    executor: Literal["inline", "threads", "processes", "dask"] | None = None
    address: str = "local"
    """With executor = "dask": where its scheduler is, such as "tcp://10.0.0.1:8786"."""
    cluster: _Cluster = _Cluster()
    store: str | None = None

    @property
    def metric(self) -> CostMetric:
        """What its cost stands for."""
        return cost_named(self.cost)


SETTINGS: dict[str, frozenset[str]] = {
    "": frozenset(field.alias or name for name, field in File.model_fields.items()),
    "budget": frozenset(_Budget.model_fields),
    "configurator": frozenset(_Configurator.model_fields),
    "verdict": frozenset(Verdict.model_fields),
    "cluster": frozenset(_Cluster.model_fields),
    "space.NAME": frozenset(name for table in _TABLES.values() for name in table.model_fields),
}
"""What there is in each table."""
