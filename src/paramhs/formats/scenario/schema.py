"""Schema of scenario files: one class per table.

Settings are validated one at a time here, and converted to what the search needs where a single
setting suffices. Combinations of settings are checked in `build`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
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

from paramhs.core.answers import TOLERANCE
from paramhs.core.arguments import COSTS, check_seed, cost_named
from paramhs.core.capping import Kind
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.quantities import seconds, size
from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Parameter, Real, Value
from paramhs.core.space.literals import identity
from paramhs.core.space.parameters import parameter
from paramhs.execution.cluster import Credentials, Dask
from paramhs.execution.driver import Budget
from paramhs.execution.executors import MAX_JOBS
from paramhs.execution.targets.command import (
    JsonLine,
    Native,
    Pattern,
    Reader,
    Recogniser,
    Solved,
    Sum,
    named_readers,
    recogniser_from,
    solved_from,
)
from paramhs.search.registry import NAMED, settings_of

T = TypeVar("T")
REFERENCE = r"^[\w.]+:[\w.]+$"


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


def _known_costs(names: list[str]) -> list[str]:
    try:
        cost_named(names)
    except BadInput as error:
        raise ValueError(str(error)) from None
    return names


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _kind(value: object) -> str:
    """Kind of a TOML value, for messages."""
    if isinstance(value, bool):
        return "boolean"
    kinds = {str: "text", dict: "table", list: "list", int: "number", float: "number"}
    return kinds.get(type(value), "date")


class _Ways:
    """A setting that may be written in several ways, one for each kind of value.

    A union would report an error for every way that was not intended; this validator reports only
    the error of the intended one.
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


# Tables of parameters are derived from the classes of parameters: a table has the settings that the
# class takes as arguments, with the same types and defaults.


class Described(NamedTuple):
    """A parameter with its activity condition."""

    parameter: Parameter
    condition: str | None = None


class _Parameter(_Table):
    condition: str | None = None


def _table_of(kind: type[Parameter]) -> type[_Parameter]:
    as_written = {
        Iterable[Any]: list[_Value],  # a file has plain values where Python may have objects
        Any: _Value | None,
        Sequence[int]: list[int],
        Sequence[float]: list[float],
    }
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
    _in_words(lambda: list(map(identity, arguments.get("values", ()))))
    return Described(_in_words(lambda: _KINDS[kind](**arguments)), table.condition)


def _from_list(value: list[Value]) -> Described:
    """Interpret a list as in Python; two numbers are a range, because TOML has no tuples."""
    _in_words(lambda: list(map(identity, value)))
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
    stop: str | float | None = None

    def budget(self) -> Budget:
        return Budget(self.runs, self.target_time, self.wall_time, self.stop)


def _configurator_table() -> type[_Table]:
    """Table with one setting per kind of part for its name, and the settings of all parts."""
    settings: dict[str, Any] = {}
    for role, named in NAMED.items():
        settings[role] = Literal[tuple(named)]
    for part in [part for named in NAMED.values() for part in named.values()]:
        types = get_type_hints(part if isinstance(part, type) else type(part))
        for name in settings_of(part):
            settings[name] = settings.get(name, types[name]) | types[name]
    optional: dict[str, Any] = {name: (kind | None, None) for name, kind in settings.items()}
    made: type[_Table] = create_model("Configurator", __base__=_Table, **optional)
    return made


def _settings_given(value: object) -> dict[str, Any]:
    """Settings of the parts registered at the time of reading."""
    return _configurator_table().model_validate(value).model_dump(exclude_none=True)


_ConfiguratorTable = Annotated[
    dict[str, Any],
    PlainValidator(_settings_given),
    WithJsonSchema(_configurator_table().model_json_schema()),
]


class _Regex(_Table):
    """A pattern whose last match gives the number, by its group if it has one."""

    regex: str | None = None
    time_regex: str | None = None
    """Seconds reported by the target, used instead of the measured time."""

    @model_validator(mode="after")
    def _says_something(self) -> "_Regex":
        if self.regex is None and self.time_regex is None:
            raise ValueError("expected one of regex, time_regex, json, time_json")
        return self

    def reader(self) -> Reader:
        return Pattern(self.regex, self.time_regex)


class _Sum(_Table):
    """The sum of all matches of a regular expression, or of their groups."""

    sum_regex: str

    def reader(self) -> Reader:
        return Sum(self.sum_regex)


class _Json(_Table):
    """Keys of the last output line that is a JSON object."""

    json_key: str | None = Field(None, alias="json")
    time_json: str | None = None

    def reader(self) -> Reader:
        return JsonLine(self.json_key, self.time_json)


def _table_reader(value: Mapping[str, object]) -> Reader:
    table: type[_Json | _Sum | _Regex] = _Regex
    if "sum_regex" in value:
        table = _Sum
    elif {"json", "time_json"} & value.keys():
        table = _Json
    return _in_words(table.model_validate(value).reader)


def _read_table_schema() -> JsonSchemaValue:
    return {"anyOf": [table.model_json_schema() for table in (_Regex, _Sum, _Json)]}


_NumberReading = Annotated[
    Literal["last number"] | Reader,
    _Ways(
        text=Literal["last number"],
        table=Annotated[Any, PlainValidator(_table_reader), WithJsonSchema(_read_table_schema())],
    ),
]
_Readings = TypeAdapter(dict[str, _NumberReading])


def _read_table(value: Mapping[str, object]) -> Reader | Mapping[str, Reader]:
    """A reader, or one by the name of each cost."""
    settings = {"regex", "time_regex", "sum_regex", "json", "time_json"}
    by_name = any(isinstance(one, dict) or one == "last number" for one in value.values())
    if value.keys() <= settings or not by_name:
        return _table_reader(value)
    named = named_readers(needs_quality=True)
    read = _Readings.validate_python(value, strict=True)
    return {name: named[one] if isinstance(one, str) else one for name, one in read.items()}


def _read_tables_schema() -> JsonSchemaValue:
    return {"anyOf": [*_read_table_schema()["anyOf"], _Readings.json_schema()]}


_Read = Literal["time", "last number", "aclib", "aclib2", "irace"]
Reading = Annotated[
    _Read | Reader | Mapping[str, Reader],
    _Ways(
        text=_Read,
        table=Annotated[Any, PlainValidator(_read_table), WithJsonSchema(_read_tables_schema())],
    ),
]
_Entries = list[_Entry]
Listing = Annotated[str | list[str | int | float], _Ways(list=_Entries, text=str)]
TestListing = Annotated[
    str | list[str | int | float] | float, _Ways(list=_Entries, text=str, number=float)
]
Words = Annotated[str | list[str], _Ways(text=str, list=list[str])]
AnyCost = Annotated[
    str | list[str],
    _Ways(text=Cost, list=Annotated[list[str], AfterValidator(_known_costs)]),
]
Answers = Annotated[
    str | float | dict[str, str | float], _Ways(text=str, number=float, table=dict[str, _Entry])
]


class _AnswerTable(_Table):
    """Location of the answer in the output."""

    regex: str | None = None
    json_key: str | None = Field(None, alias="json")


def _answer_table(value: Mapping[str, object]) -> Recogniser:
    given = _AnswerTable.model_validate(value).model_dump(by_alias=True, exclude_none=True)
    return _in_words(lambda: recogniser_from(given))


class _SolvedTable(_Table):
    """Pattern printed by a solved run."""

    regex: str


def _solved(value: object) -> Solved:
    return _in_words(lambda: solved_from(value))


_Codes = Annotated[
    list[int] | list[str],
    PlainValidator(_solved),
    WithJsonSchema({"type": "array", "minItems": 1, "items": {"type": ["integer", "string"]}}),
]
_SolvedIf = Annotated[
    Any, PlainValidator(_solved), WithJsonSchema(_SolvedTable.model_json_schema())
]
_AnswerIs = Annotated[
    Any, PlainValidator(_answer_table), WithJsonSchema(_AnswerTable.model_json_schema())
]
Initial = Annotated[str | list[dict[str, Value]], _Ways(list=list[dict[str, _Value]], text=str)]


class FamiliesTable(_Table):
    """How instances belong together, and whether all families count alike."""

    by: str = "auto"
    balanced: bool = False


def _families(value: str) -> FamiliesTable:
    return FamiliesTable(balanced=True) if value == "balanced" else FamiliesTable(by=value)


Grouping = Annotated[
    FamiliesTable,
    _Ways(text=Annotated[str, AfterValidator(_families)], table=FamiliesTable),
]


class Verdict(_Table):
    """Settings of the final comparison between the best and the default."""

    runs: Annotated[int, Field(gt=0)] | None = None
    """Number of runs of each; default: one per instance, and at least 50 for a random target."""
    in_budget: bool = False
    """Whether these runs count against the budget."""


class _TLS(_Table):
    """PEM files that every process of an encrypted cluster needs, with paths as written."""

    ca_file: str
    """Certificate of the authority that signed all others."""
    cert: str
    key: str

    def found(self, home: Path) -> Credentials:
        """Resolve the paths relative to the folder of the scenario."""
        return Credentials(*(str(home / path) for path in (self.ca_file, self.cert, self.key)))


class _Cluster(_Table):
    """Origin of the workers, and the files sent to them."""

    system: Literal["slurm", "pbs", "lsf", "sge", "htcondor", "oar", "moab"] | None = None
    """Batch system whose jobs are the workers; one worker per job of the search."""
    options: dict[str, Any] = {}
    """Options of dask-jobqueue: cores, memory, walltime, queue and so on."""
    client: Annotated[str, Field(pattern=REFERENCE)] | None = None
    """Python function that creates a Dask client, as module:function."""
    ship: bool = False
    """Whether instance files are sent to the workers; otherwise workers read them by path."""
    patience: Seconds | None = None
    """How long to wait for workers, or for the scheduler, to return."""
    tls: _TLS | None = None
    """Credentials of an encrypted cluster reached by an address or a batch system."""
    dashboard: bool = False
    """Whether a local cluster serves Dask's dashboard, on the loopback interface."""

    def dask(self, address: str, client: Callable[[], Any] | None, home: Path) -> Dask:
        return Dask(
            address,
            self.system,
            self.options,
            client,
            self.ship,
            self.patience,
            self.tls.found(home) if self.tls else None,
            self.dashboard,
        )


class NativeTable(_Table):
    """How the program's own users write a configuration."""

    line: str = ""
    """Example of one line of its settings file, with the words name and value."""
    command: str = ""
    """Command with {changed}, for a program that is run through a wrapper."""

    @model_validator(mode="after")
    def _is_one_form(self) -> "NativeTable":
        try:
            Native(self.line, self.command)
        except BadInput as error:
            raise ValueError(str(error)) from None
        return self


class File(_Table):
    """A paramhs scenario: what to tune, on which instances, and for how long."""

    model_config = ConfigDict(json_schema_extra={"required": ["space", "budget"]})

    schema_: str | None = Field(None, alias="$schema")
    function: Annotated[str, Field(pattern=REFERENCE)] | None = None
    """Python function, as module:function; modules beside the file take precedence."""
    command: Words | None = None
    """Program and arguments, with {instance}, {seed}, {cutoff}, {params} and parameters."""
    interface: Literal["aclib", "aclib2", "irace"] | None = None
    """Wrapper interface of another tool, which defines the arguments and the output."""
    style: str = "-name value"
    """How {params} writes a parameter: an example with the words name and value."""
    booleans: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None
    """Text for true and for false: flags ("--name", "--no-name") or values."""
    switches: dict[str, str] = {}
    """Text before the value of single parameters, such as "--alpha=" or "-a "."""
    numbers: Literal["shortest", "decimal"] = "shortest"
    """How numbers are written: 1e-05 (shortest) or 0.00001 (decimal)."""
    selectors: list[str] = []
    """Parameters that only decide which others are active: {params} does not write them."""
    native: NativeTable | None = None
    """How the program's own users write a configuration: {line = "name = value"} for a settings
    file, or {command = "solver {changed}"}. `paramhs show --best` prints that."""
    folder: str = "."
    """Working folder of the command."""
    read: Reading | None = None
    """How the quality is read from the output; for several costs, a table with one by name."""
    answer: Annotated[Any, _Ways(table=_AnswerIs)] | None = None
    """How the answer is read where no convention applies: {regex = "..."} or {json = "..."}."""
    solved: Annotated[Any, _Ways(list=_Codes, table=_SolvedIf)] | None = None
    """Exit codes or answers of a successful run, or {regex = "..."}."""
    expected: Answers = {}
    """Right answers: one for all instances, by name, or a file with lines "instance answer"."""
    answer_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = TOLERANCE
    """Largest relative difference between two numbers that count as the same answer."""
    checker: Words | None = None
    """Command that receives the output and exits with 0 if the answer is right."""
    space: Annotated[dict[str, Described] | str, _Ways(table=Parameters, text=str)] | None = None
    """Parameters, or a file: .pcs, irace's parameters.txt, ConfigSpace's JSON or YAML."""
    conditions: dict[str, str] = {}
    """Activity conditions by parameter name; or `condition` in a parameter's table."""
    forbidden: list[str] = []
    """Expressions that must not hold."""
    initial: Initial = []
    """Initial configurations: tables of values, or a file with one per line (JSON or CSV)."""
    warm_start: list[str] = []
    """Stores of earlier searches to learn from."""
    instances: Listing | None = None
    """List, folder, pattern such as "instances/*.cnf", or file with one instance per line."""
    test_instances: TestListing | None = None
    """Test instances in the same forms, or the share of the instances to hold out."""
    families: Grouping = FamiliesTable()
    """Families of instances: "folder", "name", "none", a regular expression whose first group is
    the family, or "balanced", by which all families count alike in every comparison. A table has
    both: {by = "folder", balanced = true}. Default: inferred from folders or names."""
    split_seed: Seed = 0
    """Random seed of the choice of held-out instances."""
    cost: AnyCost = "minimise"
    """Cost to minimise, or a list of several, such as ["minimise size", "runtime"]."""
    subject_to: Words = []
    """Bounds on the means of several costs, such as "size <= 3"."""
    clock: Literal["cpu", "wall"] | None = None
    """Clock that measures the runtime and that the cutoff limits."""
    cutoff: Seconds | None = None
    """Time limit of a run and all its processes."""
    capping: Kind | None = None
    """Whether runs that can no longer win are stopped early, where time is the cost."""
    capping_factor: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None
    """Bound of aggressive capping, as a multiple of the incumbent's time."""
    wall_limit: Seconds | None = None
    """Limit on wall time, where processor time is the cost."""
    memory: Bytes | None = None
    """Memory limit of a run and all its processes together."""
    grace: Annotated[
        float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False), WithJsonSchema(_GRACE)
    ] = 1.0
    """Seconds between SIGTERM and SIGKILL."""
    deterministic: bool | None = None
    """Whether a configuration always gives the same result; then each instance is run once."""
    budget: _Budget | None = None
    configurator: _ConfiguratorTable = Field(default_factory=dict)
    """Names and settings of the search's parts; others keep the configurator's defaults."""
    verdict: Verdict = Verdict()
    seed: Seed = 0
    jobs: Annotated[int, Field(ge=1, le=MAX_JOBS)] = 1
    executor: Literal["inline", "threads", "processes", "dask"] | None = None
    address: str = "local"
    """Address of the scheduler for executor = "dask", such as "tcp://10.0.0.1:8786"."""
    cluster: _Cluster = _Cluster()
    store: str | None = None

    @property
    def metric(self) -> CostMetric:
        """The cost metric named by `cost`."""
        try:
            return cost_named(self.cost, self.subject_to)
        except BadInput:  # `build` reports it
            return cost_named(self.cost)


def settings() -> dict[str, frozenset[str]]:
    """Names of the settings in each table."""
    return {
        "": frozenset(field.alias or name for name, field in File.model_fields.items()),
        "budget": frozenset(_Budget.model_fields),
        "configurator": frozenset(_configurator_table().model_fields),
        "verdict": frozenset(Verdict.model_fields),
        "cluster": frozenset(_Cluster.model_fields),
        "cluster.tls": frozenset(_TLS.model_fields),
        "space.NAME": frozenset(name for table in _TABLES.values() for name in table.model_fields),
    }
