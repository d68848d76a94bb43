"""Measure the work of a solver with each value of its parameters, the others at their defaults.

python -m benchmarks.landscapes.measure minisat --minutes 8
python -m benchmarks.landscapes.measure minisat --tuned     around a tuned configuration
python -m benchmarks.landscapes.measure minisat --again     the first copy again; data/again.json

Run it again to go on; what is in data/SOLVER.csv.xz is not run again. A parameter is finished when
the standard errors of all its values are below 2 %, when no value changes anything, or after the
largest number of copies.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.landscapes.instances import COUNT
from benchmarks.landscapes.tables import DATA, DEFAULT, Row, add_rows, measured, pack, read_rows
from benchmarks.landscapes.targets import TARGETS, Target
from paramhs.core.space import Value

ERROR = 0.02
"""Standard error that is aimed at, as a part of the base's cost."""
MIN_COPIES = 2
TUNED = {
    "minisat": ("rfirst", "var-decay", "cla-decay", "rnd-freq", "grow"),
    "clasp": ("vsids-decay", "restarts-x-base", "contraction", "del-init", "rand-freq"),
}
"""Parameters that are measured around a tuned configuration as well."""

Work = Callable[[Mapping[str, Value], int], tuple[float, ...]]
"""The work of settings on one copy of every instance."""


def working(target: Target, folder: Path) -> Work:
    """The solver on instances in a folder, written when they are needed."""

    @cache
    def file(number: int, copy: int) -> str:
        path = folder / f"{number:02}-{copy:02}{target.suffix}"
        path.write_text(target.make(number, copy), encoding="utf-8")
        return str(path)

    def work(settings: Mapping[str, Value], copy: int) -> tuple[float, ...]:
        return tuple(target.run(settings, file(number, copy), copy) for number in range(COUNT))

    return work


def tuned(solver: str) -> dict[str, Value]:
    """The tuned configuration: what differs from the default."""
    return dict(json.loads((DATA / "tuned.json").read_text(encoding="utf-8"))[solver])


Kept = dict[tuple[str, str, str, int], Row]
"""The rows of a solver by what was run."""


def measure(solver: str, base: str, names: list[str], minutes: float) -> Iterator[str]:
    """Measure, copy by copy, what is not finished; yields progress."""
    target, end = TARGETS[solver](), time.monotonic() + 60 * minutes
    settings = {} if base == "default" else tuned(solver)
    kept: Kept = {row.key: row for row in read_rows(solver)}
    with TemporaryDirectory() as folder:
        work = working(target, Path(folder))
        for copy in range(1, target.max_copies + 1):
            left = [name for name in names if not finished(solver, base, name, kept)]
            for name in [DEFAULT, *left] if left else []:
                for row in missing(base, name, copy, settings, target, work, kept):
                    add_rows(solver, [row])
                    kept[row.key] = row
                    if time.monotonic() > end:
                        yield "time is up; run it again to go on"
                        return
                yield f"{solver} {base} {name or 'base'}: copy {copy}"


def again(solver: str, names: list[str]) -> dict[str, int]:
    """Run the first copy once more, and count the runs whose work is the kept one."""
    target, kept = TARGETS[solver](), {row.key: row for row in read_rows(solver)}
    with TemporaryDirectory() as folder:
        work = working(target, Path(folder))
        rows = [
            (row.work, kept[row.key].work)
            for name in [DEFAULT, *names]
            for row in missing("default", name, 1, {}, target, work, {})
        ]
    same = sum(f"{a:.6g}" == f"{b:.6g}" for new, old in rows for a, b in zip(new, old, strict=True))
    return {"runs": COUNT * len(rows), "same": same}


def keep(name: str, solver: str, facts: Mapping[str, object]) -> None:
    """Write facts of a solver beside the tables."""
    path = DATA / f"{name}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[solver] = dict(facts)
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def missing(
    base: str,
    name: str,
    copy: int,
    settings: Mapping[str, Value],
    target: Target,
    work: Work,
    kept: Kept,
) -> Iterator[Row]:
    """Run all values of a parameter on one copy, unless they were."""
    values: list[Value | None] = [None] if name == DEFAULT else list(target.parameters[name])
    for value in values:
        text = "" if value is None else repr(value)
        if (base, name, text, copy) not in kept:
            changed = dict(settings) if value is None else {**settings, name: value}
            yield Row(base, name, text, copy, work(changed, copy))


def finished(solver: str, base: str, name: str, kept: Kept) -> bool:
    """Whether the standard errors are small enough, or no run differs from another."""
    rows = [row for row in kept.values() if row.base == base and row.parameter in (DEFAULT, name)]
    for one in measured(solver, rows):
        enough = one.ratios.shape[1] >= MIN_COPIES and bool(np.all(one.errors <= ERROR))
        return enough or not one.has_effect
    return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landscapes.measure")
    parser.add_argument("solver", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=8.0, help="stop after (default: 8)")
    parser.add_argument("--tuned", action="store_true", help="around the tuned configuration")
    parser.add_argument("--again", action="store_true", help="compare with the kept runs")
    parser.add_argument("--parameters", nargs="+", metavar="NAME", help="these only")
    given = parser.parse_args()
    every = TUNED.get(given.solver, ()) if given.tuned else TARGETS[given.solver]().parameters
    names = given.parameters or list(every)
    if given.again:
        keep("again", given.solver, again(given.solver, names))
        return
    keep("defaults", given.solver, TARGETS[given.solver]().defaults)  # for the figures
    for line in measure(given.solver, "tuned" if given.tuned else "default", names, given.minutes):
        print(line, flush=True)
    pack(given.solver)


if __name__ == "__main__":
    main()
