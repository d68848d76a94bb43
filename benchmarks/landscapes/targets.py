"""The solvers whose parameters are measured, how each is called, and what its work is."""

import math
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from benchmarks.landscapes import instances
from paramhs import solvers
from paramhs.bundled.instances.dimacs import read_formula
from paramhs.core.space import Integer, Parameter, Real, Value

LEVELS = 33
"""Values of a parameter that are measured; all if it has fewer."""
SECONDS = 30.0
"""Time after which a run is given up: long, because the machine may be busy; none needed it."""
SAPS_STEPS = 3_000

Settings = Mapping[str, Value]
Run = Callable[[Settings, str, int], float]
"""The work of a run, from settings that differ from the default, a file and a seed."""


class About(NamedTuple):
    """What a solver is, and what its work is."""

    title: str
    kind: str
    unit: str


ABOUT = {
    "minisat": About("MiniSat", "SAT", "propagations"),
    "cadical": About("CaDiCaL", "SAT", "propagations"),
    "cryptominisat": About("CryptoMiniSat", "SAT", "conflicts"),
    "clasp": About("clasp", "ASP", "choices and conflicts"),
    "z3": About("z3", "SMT", "rlimit, its count of elementary steps"),
    "highs": About("HiGHS", "MIP", "iterations and nodes"),
    "scip": About("SCIP", "MIP", "LP iterations and nodes"),
    "cp-sat": About("CP-SAT", "CP", "deterministic time"),
    "saps": About("SAPS", "local search", "false clauses"),
}


@dataclass(frozen=True)
class Target:
    """A solver with the parameters that are measured."""

    make: instances.Make
    suffix: str
    run: Run
    parameters: Mapping[str, Sequence[Value]]
    defaults: Mapping[str, Value] = field(default_factory=dict)
    """Default of each parameter, where there is one."""
    logged: frozenset[str] = frozenset()
    """Parameters whose values are spaced evenly in their logarithms."""
    max_copies: int = 40
    """Runs on each instance at most, whatever the standard error."""


def spread(parameter: Parameter) -> list[Value]:
    """Values of a parameter, evenly chosen, without special ones.

    A range that the catalogue cuts into fewer values is cut more finely.
    """
    special = getattr(parameter, "special", ())
    if parameter.levels - len(special) < LEVELS:
        parameter = _finer(parameter)
    values = [v for v in map(parameter.value, range(parameter.levels)) if v not in special]
    count = min(LEVELS, len(values))
    return [values[round(k * (len(values) - 1) / (count - 1))] for k in range(count)]


def _finer(parameter: Parameter) -> Parameter:
    if isinstance(parameter, Real):
        return Real(parameter.low, parameter.high, LEVELS, log=parameter.log)
    if isinstance(parameter, Integer) and parameter.log:
        return Integer(parameter.low, parameter.high, log=True, levels=2 * LEVELS)
    return parameter


def _number(text: str) -> float:
    """A count, which some solvers print as 38K or 2.1M."""
    factor = {"K": 1e3, "M": 1e6}.get(text[-1:].upper(), 1.0)
    return float(text.rstrip("KMkm")) * factor


def by_command(command: Sequence[str], style: str, work: str) -> Run:
    """Run a program; its work is the sum of the numbers that the expression finds."""
    pattern = re.compile(work, re.M)

    def run(settings: Settings, file: str, seed: int) -> float:
        changed = [
            word.replace("name", name).replace("value", _written(value))
            for name, value in settings.items()
            for word in style.split()
        ]
        words = [w for word in command for w in (changed if word == "{changed}" else [word])]
        filled = [word.replace("{seed}", str(seed)).replace("{file}", file) for word in words]
        try:
            done = subprocess.run(
                filled, capture_output=True, text=True, check=False, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            return math.nan
        found = pattern.findall(done.stdout)
        if not found:
            raise RuntimeError(f"no work in the output of {' '.join(filled)}: {done.stdout[-300:]}")
        return sum(map(_number, found))

    return run


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.10f}".rstrip("0").rstrip(".")
    return str(value)


def by_runner(name: str, limit: str) -> Run:
    """Call a solver that is a library, in this process."""

    def run(settings: Settings, file: str, seed: int) -> float:
        module = import_module(f"paramhs.solvers.runners.run_{name}")
        told = {n: _written(v) for n, v in settings.items()} | {limit: str(SECONDS)}
        result = module.solve(file, told, seed)
        unfinished = result["answer"] in ("timeout", "unknown", "sat")
        return math.nan if unfinished else float(result["work"])

    return run


def run_saps(settings: Settings, file: str, seed: int) -> float:
    """Fewest false clauses within a number of steps."""
    from paramhs.bundled.saps import Settings as SapsSettings
    from paramhs.bundled.saps import solve

    chosen = SapsSettings(**settings)
    return float(solve(_formula(file), chosen, SAPS_STEPS, seed).best_false[0])


@lru_cache(instances.COUNT)
def _formula(file: str):
    from paramhs.bundled.saps.arrays import encoded

    return encoded(read_formula(Path(file)))


def run_clasp(settings: Settings, file: str, seed: int) -> float:
    """Choices and conflicts of clasp, whose options hold several values each."""
    words = [CLASP[name].replace("*", _written(value)) for name, value in settings.items()]
    call = ["clasp", "--stats", "--quiet=2", f"--seed={seed}", *words, "{file}"]
    return by_command(call, "", r"^(?:Choices|Conflicts) *: (\d+)")({}, file, seed)


def run_clingo(settings: Settings, file: str, seed: int) -> float:
    """The same count, of clasp as a library: without the time that a process takes to start."""
    clingo = import_module("clingo")
    words = [CLASP[name].replace("*", _written(value)) for name, value in settings.items()]
    control = clingo.Control(["--stats", f"--seed={seed}", *words])
    control.load(file)
    control.ground()
    control.solve()
    counts = control.statistics["solving"]["solvers"]
    return float(counts["choices"] + counts["conflicts"])


CLASP = {
    "vsids-decay": "--heuristic=Vsids,*",
    "restarts-x-base": "--restarts=x,*,1.5",
    "restarts-x-factor": "--restarts=x,100,*",
    "restarts-d-window": "--restarts=D,*,0.7",
    "restarts-d-factor": "--restarts=D,100,*",
    "save-progress": "--save-progress=*",
    "contraction": "--contraction=*",
    "counter-restarts": "--counter-restarts=*",
    "del-init": "--del-init=*",
    "del-fraction": "--deletion=basic,*",
    "del-cfl": "--del-cfl=F,*",
    "rand-freq": "--rand-freq=*",
}
"""The option of each parameter of clasp; * is its value."""

_CLASP: Mapping[str, Parameter] = {
    "vsids-decay": Integer(67, 99, default=95),
    "restarts-x-base": Integer(8, 2_000, log=True, levels=33, default=128),
    "restarts-x-factor": Real(1.05, 3.0, levels=33, default=1.5),
    "restarts-d-window": Integer(8, 2_000, log=True, levels=33, default=128),
    "restarts-d-factor": Real(0.5, 0.98, levels=33, default=0.7),
    "save-progress": Integer(0, 192, 6, default=180),
    "contraction": Integer(1, 1_000, log=True, levels=33, default=250),
    "counter-restarts": Integer(1, 33, default=3),
    "del-init": Real(0.1, 50.0, levels=33, log=True, default=3.0),
    "del-fraction": Integer(2, 98, 3, default=50),
    "del-cfl": Integer(20, 20_000, log=True, levels=33, default=2_000),
    "rand-freq": Real(0.0005, 0.5, levels=33, log=True, default=0.01),
}
_CPSAT: Mapping[str, Parameter] = {
    "variable_activity_decay": Real(0.5, 0.999, levels=33, default=0.8),
    "clause_activity_decay": Real(0.8, 0.9999, levels=33, default=0.999),
    "restart_period": Integer(1, 5_000, log=True, levels=33, default=50),
    "restart_running_window_size": Integer(2, 5_000, log=True, levels=33, default=50),
    "restart_lbd_average_ratio": Real(0.3, 3.0, levels=33, log=True, default=1.0),
    "polarity_rephase_increment": Integer(10, 100_000, log=True, levels=33, default=1_000),
    "clause_cleanup_period": Integer(10, 100_000, log=True, levels=33, default=10_000),
    "random_polarity_ratio": Real(0.0, 0.64, levels=33, default=0.0),
    "random_branches_ratio": Real(0.0, 0.64, levels=33, default=0.0),
}
_SAPS: Mapping[str, Parameter] = {
    "alpha": Real(1.01, 3.0, levels=33, log=True, default=1.3),
    "rho": Real(0.0, 1.0, levels=33, default=0.8),
    "ps": Real(0.005, 1.0, levels=33, log=True, default=0.05),
    "wp": Real(0.0005, 0.5, levels=33, log=True, default=0.01),
}
_MINISAT = (
    "rfirst", "rinc", "var-decay", "cla-decay", "rnd-freq", "grow", "cl-lim", "sub-lim", "gc-frac",
)  # fmt: skip
_CADICAL = (
    "emagluefast", "reduceint", "reducetarget", "restartint", "restartmargin", "scorefactor",
    "stabilizeint", "elimint",
)  # fmt: skip
_CRYPTOMINISAT = (
    "rstfirst", "gluehist", "locgmult", "gluecut1", "everylev1", "adjustglue", "confbtwsimp",
    "diffdeclevelchrono",
)  # fmt: skip
_Z3: Mapping[str, Parameter] = {
    "sat.restart.margin": Real(1.0, 2.6, levels=33, default=1.1),
    "sat.variable_decay": Integer(102, 262, 4, default=110),
    "sat.random_freq": Real(0.0005, 0.5, levels=33, log=True, default=0.01),
    "sat.search.unsat.conflicts": Integer(4, 4_000, log=True, levels=33, default=400),
}
_HIGHS = ("mip_heuristic_effort", "mip_pscost_minreliable")
_MORE_HIGHS: Mapping[str, Parameter] = {
    "mip_lp_age_limit": Integer(1, 1_000, log=True, levels=66, default=10),
    "mip_pool_age_limit": Integer(1, 1_000, log=True, levels=66, default=30),
    "mip_pool_soft_limit": Integer(10, 100_000, log=True, levels=33, default=10_000),
}
_SCIP = (
    "branching/relpscost/maxreliable", "branching/relpscost/maxlookahead",
    "branching/relpscost/sbiterquot", "branching/scorefac",
    "separating/maxcutsroot", "heuristics/feaspump/freq",
)  # fmt: skip


def _ranges(solver: str, names: Sequence[str]) -> Mapping[str, Parameter]:
    """Ranges of the catalogue."""
    space = solvers.get(solver, options="all").space
    return {name: space.parameters[name] for name in names}


def _target(ranges: Mapping[str, Parameter], **facts: object) -> Target:
    return Target(
        parameters={name: spread(p) for name, p in ranges.items()},
        defaults={name: p.default for name, p in ranges.items()},
        logged=frozenset(n for n, p in ranges.items() if getattr(p, "is_log", False)),
        **facts,
    )


def _minisat() -> Target:
    call = ["minisat", "-verb=1", "-rnd-seed={seed}", "{changed}", "{file}"]
    return _target(
        _ranges("minisat", _MINISAT),
        make=instances.cnf,
        suffix=".cnf",
        run=by_command(call, "-name=value", r"^propagations +: (\d+)"),
    )


def _cadical() -> Target:
    call = ["cadical", "-n", "--seed={seed}", "{changed}", "{file}"]
    return _target(
        _ranges("cadical", _CADICAL),
        make=instances.larger_cnf,
        suffix=".cnf",
        run=by_command(call, "--name=value", r"^c propagations: +(\d+)"),
    )


def _cryptominisat() -> Target:
    call = ["cryptominisat5", "--verb", "1", "--printsol", "0", "--random", "{seed}"]
    return _target(
        _ranges("cryptominisat", _CRYPTOMINISAT),
        make=instances.cnf,
        suffix=".cnf",
        run=by_command(
            [*call, "{changed}", "{file}"], "--name value", r"^c conflicts +: ([\d.]+[KM]?)"
        ),
    )


def _clasp() -> Target:
    return _target(
        _CLASP,
        make=instances.asp,
        suffix=".aspif",
        run=run_clasp,
    )


def _z3() -> Target:
    call = ["z3", "-st", "smt.random_seed={seed}", "sat.random_seed={seed}", "{changed}", "{file}"]
    return _target(
        _Z3,
        make=instances.smt2,
        suffix=".smt2",
        run=by_command(call, "name=value", r":rlimit-count +(\d+)"),
    )


def _highs() -> Target:
    return _target(
        {**_ranges("highs", _HIGHS), **_MORE_HIGHS},
        make=instances.mip,
        suffix=".lp",
        run=by_runner("highs", "time_limit"),
    )


def _scip() -> Target:
    return _target(
        _ranges("scip", _SCIP),
        make=instances.mip,
        suffix=".lp",
        run=by_runner("scip", "limits/time"),
    )


def _cp_sat() -> Target:
    return _target(
        _CPSAT,
        make=instances.cp,
        suffix=".pbtxt",
        run=by_runner("cp_sat", "max_time_in_seconds"),
    )


def _saps() -> Target:
    return _target(
        _SAPS,
        make=instances.circuit,
        suffix=".cnf",
        run=run_saps,
    )


TARGETS: Mapping[str, Callable[[], Target]] = {
    "minisat": _minisat,
    "cadical": _cadical,
    "cryptominisat": _cryptominisat,
    "clasp": _clasp,
    "z3": _z3,
    "highs": _highs,
    "scip": _scip,
    "cp-sat": _cp_sat,
    "saps": _saps,
}
"""By name; made on demand, because most ask the installed solver for its options."""


def installed(name: str) -> bool:
    """Whether the program of a solver is on the path; a library is imported to see."""
    program = {"cryptominisat": "cryptominisat5"}.get(name, name)
    return name in ("highs", "scip", "cp-sat", "saps") or shutil.which(program) is not None
