"""Scenario files for solvers of the catalogue, as written by `tune SOLVER` and `init --solver`."""

import hashlib
import os
from collections.abc import Sequence
from glob import glob, has_magic
from math import floor, log10
from pathlib import Path
from typing import Annotated, Any, cast

import psutil
import typer

from paramhs.cli.console import duration, say
from paramhs.core.errors import BadInput
from paramhs.core.text.numbers import counted, time_text
from paramhs.solvers import Solver, get, names
from paramhs.solvers.derive import Choice
from paramhs.solvers.solver import SolverCost

BUDGET = "10 min"
"""Elapsed time of a search where no budget is given."""
_CUTOFF_SECONDS = 10.0  # seconds, where no time is given that it can be a part of
_RUNS = 100  # cutoffs that fit into the elapsed time of a search

SolverFile = Annotated[
    Path | None,
    typer.Option(
        "--solver",
        metavar="SOLVER",
        help="Solver of the catalogue, or the file of an entry (TOML).",
    ),
]
Program = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="The solver's program, if it is not the one on the PATH."),
]
Options = Annotated[
    str,
    typer.Option(
        metavar="CHOICE",
        help="Options of a solver to tune: short (those worth tuning first) or all.",
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND",
        help="answer-changing: also tune options with which a solver may give another answer.",
    ),
]
SolverCostName = Annotated[
    str,
    typer.Option(
        "--cost",
        metavar="COST",
        help="Cost for a solver: runtime, or work (counted, without timing noise).",
    ),
]
Cutoff = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Cutoff of a run of a solver. Default: by the budget."),
]


def solver_of(
    name: str | Path,
    options: str = "short",
    allow: Sequence[str] | None = None,
    cost: str = "runtime",
    program: Path | None = None,
) -> Solver:
    """The installed solver with the choices of the command line."""
    return get(
        name,
        options=cast(Choice, options),
        allow=allow or (),
        cost=cast(SolverCost, cost),
        program=program,
    )


def is_solver(word: str) -> bool:
    """Whether a word means a solver of the catalogue; a file of that name is `./kissat`."""
    return word.lower() in names()


def given_budget(
    runs: int | None, target_time: str | None, wall_time: str | None
) -> dict[str, Any]:
    """The table `[budget]` of these options, or the usual one."""
    given = {"runs": runs, "target_time": target_time, "wall_time": wall_time}
    return {name: value for name, value in given.items() if value} or {"wall_time": BUDGET}


def scenario_of_solver(
    solver: Solver,
    instances: Sequence[str],
    store: Path | None,
    budget: dict[str, Any],
    cutoff: str | None,
) -> Path:
    """Path of the scenario file of a search for a solver, beside its store."""
    path = Path(f"{solver.name}.toml") if store is None else store.with_suffix(".toml")
    if path.absolute() == solver.entry.path:  # an entry of the user's own, in this folder
        path = path.with_stem(f"{path.stem}-scenario")
    write_scenario(path, solver, instances, cutoff, budget)
    return path


def write_scenario(
    path: Path,
    solver: Solver,
    instances: Sequence[str],
    cutoff: str | None,
    budget: dict[str, Any],
) -> None:
    """Write the scenario, or keep the existing one if it was written for the same request.

    Args:
        path: the file; one that exists is kept with all that was edited in it.
        solver: what is tuned.
        instances: files, a folder or a pattern.
        cutoff: the cutoff, if one was given; else it is a part of the elapsed time.
        budget: the table `[budget]`.
    """
    listing = _listing(instances, path.parent)
    solver.check_instances(_files(instances))
    seconds = duration(cutoff) or _usual_cutoff(duration(budget.get("wall_time")))
    jobs = max(1, (os.cpu_count() or 2) // 2)
    settings = {
        "instances": listing,
        "cutoff": f"{seconds:g} s",
        "jobs": jobs,
        "memory": f"{max(1, int(0.8 * psutil.virtual_memory().total / jobs / 2**30))} GiB",
        "budget": budget,
    }
    request = _request(solver, listing)
    header = "\n".join([*_about(solver, path), "", request])
    if path.exists():
        _check_same(path, request)
        say(f"using {path} unchanged, with any edits", err=True)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(solver.scenario(settings, header), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    say(f"wrote {path}: {_summary(solver, seconds)}", err=True)


def _summary(solver: Solver, cutoff: float) -> str:
    called = f"{solver.name} {solver.version}".strip()
    tuned = counted(len(solver.space.parameters), "option")
    return f"{tuned} of {called}, cutoff {time_text(cutoff)}; edit it to change the search"


def _about(solver: Solver, path: Path) -> list[str]:
    return [
        f"{solver.entry.title}. {solver.entry.url}",
        *solver.entry.notes,
        "",
        f"paramhs check {path.name}      # trial runs of the default",
        f"paramhs tune {path.name}",
    ]


def _request(solver: Solver, listing: object) -> str:
    """One line that identifies a request."""
    digest = hashlib.sha256(repr(listing).encode()).hexdigest()[:8]
    choices = f"{len(solver.space.parameters)} options, {solver.cost}, instances {digest}"
    return f"made for: {solver.name}, {choices}"


def _check_same(path: Path, request: str) -> None:
    if f"# {request}\n" not in path.read_text(encoding="utf-8", errors="replace"):
        raise BadInput(
            f"{path} exists and was not written for this solver with these options, instances and"
            f" cost. Tune what it describes with: paramhs tune {path}; or give --store OTHER.sqlite"
            " for a search of its own"
        )


def _usual_cutoff(wall_time: float | None) -> float:
    """A hundredth of the elapsed time, rounded down to 1, 2 or 5 times a power of ten."""
    if wall_time is None:
        return _CUTOFF_SECONDS
    part = max(wall_time / _RUNS, 0.1)
    power = 10.0 ** floor(log10(part) + 1e-9)
    return max(digit * power for digit in (1, 2, 5) if digit * power <= part * (1 + 1e-9))


def _listing(instances: Sequence[str], home: Path) -> str | list[str]:
    """Instances as written in a scenario in the folder `home`: one pattern where possible."""
    if not instances:
        raise BadInput("give instances: files, a folder or a pattern such as 'instances/*.cnf'")
    missing = [path for path in instances if not (has_magic(path) or os.path.exists(path))]
    if missing:
        raise BadInput(f"there is no file or folder {missing[0]}")
    for entry in instances:
        if not os.path.isfile(entry) and not _files([entry]):
            what = "no file matches" if has_magic(entry) else "no file is in"
            raise BadInput(f"{what} {entry}; give the instances, or a pattern in quotes")
    if len(instances) == 1 and not os.path.isfile(instances[0]):
        return _relative(instances[0], home)
    folders = {os.path.dirname(path) for path in instances}
    endings = {Path(path).suffix for path in instances}
    if len(folders) == len(endings) == 1 and len(instances) > 1 and not has_magic(*folders):
        pattern = os.path.join(*folders, f"*{endings.pop()}")
        if sorted(glob(pattern)) == sorted(instances):
            return _relative(pattern, home)
    return [_relative(path, home) for path in instances]


def _relative(path: str, home: Path) -> str:
    return path if os.path.isabs(path) else os.path.relpath(path, home)


def _files(instances: Sequence[str]) -> list[str]:
    """Paths of the instances, as far as they are files, folders or patterns."""
    found: list[str] = []
    for entry in instances:
        if has_magic(entry):
            found += glob(entry, recursive=True)
        elif os.path.isdir(entry):
            found += [file.path for file in os.scandir(entry) if file.is_file()]
        elif not entry.endswith((".txt", ".lst", ".list")):
            found.append(entry)
    return [path for path in found if os.path.isfile(path)]
