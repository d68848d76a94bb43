"""Fuzzed inputs for every reader of something from outside.

An input is a good one with a few mutations, drawn from a stream named by target, seed and number,
so that whatever breaks a reader can be made again: `made(target, seed, number)`.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import paramhs
from paramhs import tune
from paramhs.bundled.instances.dimacs import parse_formula
from paramhs.core.errors import BadInput, StoreError
from paramhs.core.quantities import seconds
from paramhs.core.random_streams import stream
from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Real, Space
from paramhs.execution.storage.stats import summary
from paramhs.execution.targets.command import Style, Template
from paramhs.execution.targets.command.readers import (
    Aborted,
    AclibLine,
    IraceLine,
    JsonLine,
    LastNumber,
    Nothing,
    Pattern,
    Unreadable,
)
from paramhs.execution.targets.command.template import OWN
from paramhs.formats.scenario import read_configs, read_scenario
from paramhs.formats.scenario.instances import instances_of
from paramhs.formats.scenario.schema import size
from paramhs.formats.space_files import FORMATS, counts, losses, read_space, written
from paramhs.theory.table import read_table

REFUSALS = (BadInput, StoreError, Unreadable, Aborted)
_MARKS = [
    "", " ", "\n", "\t", "\r\n", "\0", "\x1b[2J", "é", "\u2028", "٣", "#", "|", "||", "&", "&&",
    "!", "(", ")", "((((", "{", "}", "[", "]", "{}", ",", ",,", ":", "=", "==", "<", ">", "..",
    "...", '"', "'", "`", "\\", "\\u", "%", "%in%", "*", "-", "--", "+", "^", "/", "in", "and",
    "or", "not", "0", "1", "-1", "0.5", "1e-320", "1e309", "-1e400", "NaN", "inf", "-inf", "null",
    "true", "false", "0x10", "1_000", "3L", "1e", "9" * 30, "9" * 400, "9" * 5000,
    "0." + "0" * 400 + "1", "1:30", "is.na(", "min(", "c(", "&a", "*a", "<<: *a", "!!int",
    "!!python/tuple", "2020-99-99", "---",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A reader: good inputs, words that mean something in them, and what is done with an input."""

    name: str
    seeds: Sequence[str]
    read: Callable[[str, Path], object]
    words: Sequence[str] = ()


@dataclass
class Tally:
    """What became of the inputs of one target."""

    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    slowest_input: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        return self.accepted + self.refused + len(self.failures)


def made(target: Target, seed: int, number: int) -> str:
    """One fuzzed input."""
    rng = stream(seed, "fuzz", target.name, number)
    text = rng.choice(target.seeds)
    for _ in range(1 + int(rng.expovariate(1.0))):
        text = _mutated(text, target, rng)
    return text


def _mutated(text: str, target: Target, rng: Random) -> str:
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + int(rng.expovariate(0.15)))
    part = text[start:end]
    other = rng.choice(target.seeds)
    cut = rng.randrange(len(other) + 1)
    new = rng.choice(
        [
            "",
            rng.choice(_MARKS),
            rng.choice([*target.words, *_MARKS]),
            part * rng.choice([2, 3, 200]),
            other[cut : cut + 40],
            rng.choice(target.seeds).splitlines()[0],
            part[::-1],
            chr(rng.randrange(1, 0xD800)),
        ]
    )
    return (text[:start] + new + text[end:])[:200_000]


def tried(target: Target, seed: int, number: int, folder: Path, tally: Tally) -> None:
    """Give one input to its reader and note what became of it."""
    text = made(target, seed, number)
    begun = time.process_time()
    try:
        target.read(text, folder)
        tally.accepted += 1
    except REFUSALS as error:
        tally.refused += 1
        if len(str(error)) > 3000 and target.name not in MANY_PROBLEMS:
            tally.failures.append(f"{target.name} {seed} {number}: a message of {len(str(error))}")
    except Exception as error:
        what = f"{type(error).__name__}: {str(error)[:200]}"
        tally.failures.append(f"{target.name} {seed} {number}: {what}")
    took = time.process_time() - begun
    if took > tally.slowest:
        tally.slowest, tally.slowest_input = took, number


# Spaces.

PCS = """\
heur {0, 1, 2} [1]  # a comment
rate [1e-3 , 1] [0.1]l
size[1,1000][20]il
steps {0,2..10} [4]
'mode' {"fast",slow one}[fast]
Conditionals:
rate | heur in {0,2}
size | mode in {fast}
{heur=2, mode=slow one}
"""
PCS_NEW = """\
heur categorical {a, b} [b]
size ordinal {small, medium, large} [medium]
n integer [1,100] [10] log
x real [0, 1] [0.25]
n | heur == a && size > small || x < 0.5
x | heur in {a, b} && size != large
{heur=a, size=large}
{n > 50 && heur != b}
"""
IRACE = """\
algo "--" c (as, "m m", 3)
ants "--ants " i,log (5, 2^10)
rho "--rho=" r (0.01, 1.00) | algo != 3
q0 "" r (0,"rho * 2") | algo %in% c("as", 3) & !(ants > 100 | ants == 5)
level "-l " o (0,1,2,10) | is.na(rho) | rho + q0 > 0.5
[forbidden]
(algo == "as") & (rho == 0.5)
ants %% 3 == min(rho, 1)
[global]
digits = 4
"""
CONFIGSPACE = """\
{"name": null, "hyperparameters": [
{"type": "uniform_float", "name": "x", "lower": 0.1, "upper": 10, "default_value": 1, "log": true},
{"type": "uniform_int", "name": "n", "lower": 1, "upper": 100, "q": 3, "default": 7, "meta": "a"},
{"type": "categorical", "name": "c", "choices": ["a", 1, true], "weights": [1, 2, 1]},
{"type": "ordinal", "name": "o", "sequence": [1, 2, 3], "default_value": 2},
{"type": "normal_float", "name": "y", "mu": 0, "sigma": 1}],
"conditions": [{"type": "OR", "child": "n", "conditions": [
{"type": "NEQ", "child": "n", "parent": "c", "value": "a"},
{"type": "IN", "child": "n", "parent": "o", "values": [1, 2]}]}],
"forbiddens": [{"type": "AND", "clauses": [{"type": "EQUALS", "name": "o", "value": 1},
{"type": "CLAUSE_GT", "name": "x", "value": 5}]},
{"type": "RELATION_LT", "left": "n", "right": "x"}]}
"""
YAML = """\
hyperparameters:
- {type: uniform_float, name: x, lower: 0.1, upper: 10.0, default_value: 1.0, log: true}
- name: c
  type: categorical
  choices: &v [a, b, 'c d']
  meta: null
- {type: constant, name: k, value: 2020-01-01}
conditions:
- {type: IN, child: x, parent: c, values: *v}
forbiddens:
- type: EQUALS
  name: c
  value: b
"""
KINDS = ["categorical", "ordinal", "integer", "real", "log", "i", "l", "c", "o", "r", "r,log"]
JSON_WORDS = [
    '"type"', '"name"', '"lower"', '"upper"', '"q"', '"log"', '"choices"', '"conditions"', '"AND"',
    '"OR"', '"child"', '"parent"', '"value"', '"values"', '"forbiddens"', '"clauses"', '"RELATION"',
]  # fmt: skip


def _used(text: str, folder: Path, format: str | None, name: str) -> None:
    """Read a space, and do with it what the commands do."""
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    read = read_space(path, format)
    space = read.space
    counts(space)
    assert space.from_key(space.default.key) == space.default
    space.describe()
    space.size(100)
    for other in FORMATS:
        try:
            losses(space, other, read.switches)
            written(space, other, read.switches)
        except BadInput:
            continue


def _space(format: str, seeds: Sequence[str], words: Sequence[str]) -> Target:
    suffix = {"configspace-json": ".json", "configspace-yaml": ".yaml"}.get(format, ".txt")
    return Target(
        format, seeds, lambda text, folder: _used(text, folder, format, f"f{suffix}"), words
    )


# Expressions.

KNOWN = {
    "k": Integer(0, 9),
    "n": Integer(1, 10**6, log=True),
    "rho": Real(0, 1, 11),
    "mode": Categorical(["a", "b", "true", "two words"]),
    "size": Ordinal(["small", "large"]),
    "use-x": Boolean(),
    "child": Integer(0, 1),
}
SMALL = {"k": range(4)}
EXPRESSIONS = [
    "k > 3 and (mode in {a, b} or rho < 0.5)",
    "use-x and size >= large or 3 < k",
    "2 * (k + n) - 1 > n ^ 2 / 3 and `use-x` == false",
    'mode == "two words" && min(k, n, 4) % 3 != abs(rho - 1)',
    "k in {1, 2, 3} || n <= 1e3",
]


def _expression(text: str, folder: Path) -> None:
    space = Space(KNOWN, conditions={"child": text})
    assert Space(KNOWN, conditions={"child": str(space.conditions["child"])}) == space


# Scenarios, lists of instances, formulas and outputs.

TOML = """\
command = "true --seed {seed} {params} {instance}"
cutoff = "10 s"
cost = "PAR10"
memory = "1 GB"
instances = "list"
test_instances = 0.5
forbidden = ["alpha > 2 and mode == b"]
[space]
alpha = { type = "real", low = 0.5, high = 25, log = true, default = 1.5 }
k = { type = "integer", low = 1, high = 50, condition = "mode == a" }
mode = { type = "categorical", values = ["a", "b"] }
[budget]
runs = 100
target_time = "1 h"
"""
TOML_WORDS = ["[verdict]", "seed =", "jobs =", "type =", "levels =", "read =", "clock =", '"real"']
ACLIB = """\
algo = true
execdir = .
deterministic = 1
run_obj = runtime
overall_obj = mean10
cutoff_time = 0.4
cutoff_length = max
tunerTimeout = 100
paramfile = params.pcs
instance_file = list
test_instance_file = list
"""
IRACE_SCENARIO = """\
## irace
targetRunner = "./run"
parameterFile = "parameters.txt"
trainInstancesDir = "./Instances"
trainInstancesFile = 'names' # some
testInstancesDir <- ""
maxExperiments = 1e3
maxTime = 0
boundMax = 5L
deterministic = FALSE
forbiddenFile = "forbidden.txt"
configurationsFile = "initial.txt"
seed = 1234567
parallel = 2
digits = 4
"""
INITIAL = [
    "k mode rho\n3 a 0.5\n9 'two words' NA\n1 <NA> 2e-1  # the third\n",
    'k,mode,rho\n3,a,0.5\n2,"two words",\n',
    '{"k": 3, "rho": 0.25}\n{"mode": "two words", "use-x": true}\n',
    '{"trajectory": [{"config": {"k": 3}}, {"config": "k=4 mode=a"}]}\n',
]
COMMANDS = [
    "solver -k {k} --n={n} {params} {instance} --seed {seed}",
    "'a b' {{x}} {mode}{size} {use-x} {rho} {child} {n} {k} {cutoff}",
]
TABLE = "x,mode,cost\n1,a,3.5\n2,a,1e-3\n1,b,7\n2,b,9\n"
LIST = 'a.cnf\nb.cnf SAT\n3 a.cnf\n"with blank" 1 2\n# a comment\nc UNSATISFIABLE 0.5\n'
DIMACS = [
    "c a comment\np cnf 3 2\n1 -2 0\n2 3 -1 0\n",
    "p wcnf 3 2 10\n10 1 -2 0\n3 2 3 0\n",
    "h 1 -2 0\n4 2 3 0\n%\n0\n",
]
OUTPUTS = [
    "c time 3.5\ns SATISFIABLE\nv 1 -2 0\n",
    "Result for ParamILS: SAT, 0.5, 0, 3.5, 1\n",
    'x\n{"cost": 3.5, "inner": {"time": 1e-3}}\n',
    "12.5 3\n",
    "best: -3.25e+2 (gap inf)\n",
]
READERS = (
    Nothing(),
    LastNumber(),
    Pattern(r"time (\S+)", r"best: (\S+)"),
    JsonLine("cost", "inner.time"),
    AclibLine(),
    IraceLine(cost_is_time=True),
)


def _scenario(text: str, folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    (folder / "list").write_text(LIST, encoding="utf-8")
    (folder / "params.pcs").write_text("k integer [0, 60] [50]\n", encoding="utf-8")
    read_scenario(path)


def _irace_scenario(text: str, folder: Path) -> None:
    for name, content in (("parameters.txt", "k i (0,60)"), ("forbidden.txt", "k == 3")):
        (folder / name).write_text(content.replace("k i", 'k "-k " i') + "\n", encoding="utf-8")
    (folder / "initial.txt").write_text("k\n7\n", encoding="utf-8")
    (folder / "names").write_text("i1\ni2 # the second\n", encoding="utf-8")
    (folder / "run").write_text("#!/bin/sh\necho 1\n", encoding="utf-8")
    (folder / "run").chmod(0o755)
    (folder / "Instances").mkdir(exist_ok=True)
    _scenario(text, folder, "irace.txt")


def _initial(text: str, folder: Path) -> None:
    """As both kinds of file; refused if it is neither."""
    refused = []
    for name in ("initial.txt", "initial.csv"):
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            read_configs(folder / name, Space(KNOWN))
        except BadInput as error:
            refused.append(error)
    if len(refused) == 2:
        raise max(refused, key=lambda error: len(str(error)))


def _command(text: str, folder: Path) -> None:
    space = Space(KNOWN)
    own = dict.fromkeys(OWN, "1")
    Template(text, space, Style()).filled(space.default, own)


def _table(text: str, folder: Path) -> None:
    (folder / "table.csv").write_bytes(text.encode("utf-8", "surrogatepass"))
    read_table(folder / "table.csv")


def _stored(text: str, folder: Path) -> None:
    path = folder / "runs.sqlite"
    path.write_bytes(text.encode("latin-1", "replace"))
    summary(path)
    assert len(paramhs.load(path).runs) >= 0
    tune(_cheap, SMALL, budget=8, store=path)


def _made_store() -> str:
    """The bytes of a store, as a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "runs.sqlite")
        tune(_cheap, SMALL, budget=8, store=path)
        return path.read_bytes().decode("latin-1")


def _cheap(config: dict[str, int], seed: int) -> float:
    return config["k"] + seed % 2


def _instances(text: str, folder: Path) -> None:
    (folder / "some.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
    instances_of("some.txt", [folder], {}, plain=False)


def _output(text: str, folder: Path) -> None:
    for reader in READERS:
        try:
            reader.read(text)
        except REFUSALS:
            continue


def _amount(text: str, folder: Path) -> None:
    for read in (seconds, size):
        try:
            read(text)
        except ValueError:  # as pydantic wants it
            continue


TARGETS = {
    target.name: target
    for target in (
        _space("pcs", [PCS], KINDS),
        _space("pcs-new", [PCS_NEW], KINDS),
        _space("irace", [IRACE], [*KINDS, "[forbidden]", "algo", "ants", "rho", "%in%"]),
        _space("configspace-json", [CONFIGSPACE], JSON_WORDS),
        _space("configspace-yaml", [YAML], ["type:", "name:", "- ", "  ", "choices:", "values:"]),
        Target(
            "guessed format",
            [PCS, PCS_NEW, IRACE, CONFIGSPACE, YAML],
            lambda text, folder: _used(text, folder, None, "f"),
        ),
        Target("expression", EXPRESSIONS, _expression, list(KNOWN)),
        Target(
            "configuration",
            ['k=3 n=20 mode="two words" use-x=true', "rho=0.1 size=small"],
            lambda text, folder: Space(KNOWN).from_key(text),
            ["k=", "mode=", "size="],
        ),
        Target("scenario", [TOML], lambda t, folder: _scenario(t, folder, "s.toml"), TOML_WORDS),
        Target("AClib scenario", [ACLIB], lambda t, folder: _scenario(t, folder, "s.txt")),
        Target("irace scenario", [IRACE_SCENARIO], _irace_scenario, ["NA", "TRUE", "capping ="]),
        Target("initial configurations", INITIAL, _initial, ["NA", "mode", "rho"]),
        Target("command", COMMANDS, _command, ["{k}", "{params}", "{instance}", "{{"]),
        Target("table of costs", [TABLE], _table, ["cost", "mode"]),
        Target("store", [_made_store()], _stored, ["UPDATE", "runs", "CREATE TABLE"]),
        Target("list of instances", [LIST], _instances, ["a.cnf", "SAT"]),
        Target(
            "formula", DIMACS, lambda text, _: parse_formula(text.encode(), "f"), ["p cnf", "h"]
        ),
        Target("output", OUTPUTS, _output, ["Result for SMAC:", "nan", "s UNSATISFIABLE"]),
        Target("duration or size", ["10 min", "1.5 GB", "3h", "100"], _amount, ["s", "MB", "days"]),
    )
}
MANY_PROBLEMS = [name for name in TARGETS if "scenario" in name]  # which list all that is wrong
