"""Short lists against all options: the same search with either, on the same generated instances.

    python -m benchmarks.catalogue.short_or_all kissat cadical --seeds 8    # a minute a solver
    python -m benchmarks.catalogue.short_or_all --table

Each search counts work on generated instances, and what it found is compared with the default on
instances that it has not seen. Results are kept in data/short-or-all, one file for each solver.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import paramhs
from benchmarks.catalogue.checks import instances, keeper
from paramhs.core.runs import Instance, Run, Task
from paramhs.core.space import Config
from paramhs.solvers import Solver, get
from paramhs.solvers.derive import Choice

DATA = Path(__file__).parent / "data" / "short-or-all"
INSTANCES = 15
FRESH_INSTANCES = 20
CUTOFF = 2.0  # seconds
CHOICES: tuple[Choice, Choice] = ("short", "all")


def searched(
    solver: Solver, run: Callable[[Task], Run], seed: int, runs: int, folder: Path
) -> dict[str, Any]:
    """The work of the best of a search and of the default, on fresh instances."""
    # The seed draws the instances as well: a search is a sample of both.
    first = 1_000 * (seed + 1)
    known = {i.name: i for i in instances(solver, folder, INSTANCES, first, larger=True)}

    space = solver.space

    def cost(config: Mapping[str, Any], instance: str, seed: int) -> float:
        return _work(run(Task(space.config(config), known[instance], seed, CUTOFF)))

    result = paramhs.tune(
        cost, space, instances=list(known), budget=runs, seed=seed, progress=False
    )
    best = space.config(result.best.as_dict())
    fresh = instances(solver, folder, FRESH_INSTANCES, first + INSTANCES, larger=True)
    return {
        "seed": seed,
        "changed": sum(1 for name, value in best.items() if space.default.get(name) != value),
        "best": _sum(run, best, fresh),
        "default": _sum(run, space.default, fresh),
    }


def _work(run: Run) -> float:
    if run.quality is None:
        raise RuntimeError(run.detail or "it was too slow")
    return run.quality


def _sum(run: Callable[[Task], Run], config: Config, fresh: Sequence[Instance]) -> float | None:
    """Work on all instances; None where it is too slow on one."""
    made = [run(Task(config, instance, 1, CUTOFF)).quality for instance in fresh]
    return None if None in made else math.fsum(value for value in made if value is not None)


def compared(name: str, seeds: int, runs: int) -> None:
    """Make the searches that are not kept yet."""
    path = DATA / f"{name}.json"
    kept: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    kept = {"solver": name, "runs": runs, **kept}
    DATA.mkdir(parents=True, exist_ok=True)
    solvers = {choice: get(name, options=choice, cost="work") for choice in CHOICES}
    for choice, solver in solvers.items():
        kept |= {"version": solver.version}
        kept.setdefault(choice, {"tuned": len(solver.space.parameters), "searches": []})
    for seed, choice in product(range(seeds), CHOICES):
        mine = kept[choice]["searches"]
        if any(search["seed"] == seed for search in mine):
            continue
        solver = solvers[choice]
        with tempfile.TemporaryDirectory() as folder, closing(keeper(solver)) as run:
            mine.append(searched(solver, run, seed, runs, Path(folder)))
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _logs(kept: Mapping[str, Any], choice: Choice) -> dict[int, float]:
    """Logarithm of best / default by seed; a best that is too slow counts ten times."""
    return {
        one["seed"]: math.log((one["best"] or 10 * one["default"]) / one["default"])
        for one in kept[choice]["searches"]
    }


def table() -> str:
    """Geometric means of best / default on fresh instances, in Markdown."""
    rows = [
        "| solver | short list | all | runs | searches each | best / default, short list | all |"
        " all / short list |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted(DATA.glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        short, whole = (_logs(kept, choice) for choice in CHOICES)
        seeds = sorted(short.keys() & whole.keys())
        rows.append(
            f"| {kept['solver']} {kept['version']} | {kept['short']['tuned']} |"
            f" {kept['all']['tuned']} | {kept['runs']} | {len(seeds)} |"
            f" {_mean([short[s] for s in seeds])} | {_mean([whole[s] for s in seeds])} |"
            f" {_mean([whole[s] - short[s] for s in seeds])} |"
        )
    return "\n".join(rows)


def _mean(logs: Sequence[float]) -> str:
    """The geometric mean and its standard error."""
    centre = math.exp(mean(logs))
    return f"{centre:.3f} ± {centre * stdev(logs) / math.sqrt(len(logs)):.3f}"


def main() -> None:
    """Search with the solvers that are named, or print the table."""
    parser = argparse.ArgumentParser(description="Compare short lists with all options.")
    parser.add_argument("names", nargs="*", help="solvers")
    parser.add_argument("--seeds", type=int, default=8, help="searches of each kind")
    parser.add_argument("--runs", type=int, default=150, help="runs of a search")
    parser.add_argument("--table", action="store_true", help="print the table and end")
    given = parser.parse_args()
    for name in given.names:
        compared(name, given.seeds, given.runs)
    if given.table:
        print(table())


if __name__ == "__main__":
    main()
