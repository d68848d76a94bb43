"""Gurobi's own tuner and this one, on the same models with the same elapsed time.

    python -m benchmarks.catalogue.gurobi_tuner 0 1 2 3 --seconds 25    # some 2 minutes a model
    python -m benchmarks.catalogue.gurobi_tuner --table

`Model.tune` measures its baseline first and reports the best setting for each number of changed
parameters. Both tune one model on one thread. What they find is run with seeds that neither has
used; the cost is Gurobi's work units. The licence of the package allows 2000 variables. The search
is made with the configurations that the catalogue's entry tries first, and without them.
"""

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import mean, stdev
from typing import Any

import paramhs
from paramhs.bundled.instances.integer_programs import Program, knapsack, lp, set_cover
from paramhs.core.random_streams import stream
from paramhs.solvers import get

DATA = Path(__file__).parent / "data" / "tuners" / "gurobi.json"
SEEDS = range(1_000, 1_010)
MODELS: Sequence[Callable[[Random], Program]] = (
    lambda rng: knapsack(40, 8, 0.5, rng),
    lambda rng: knapsack(40, 8, 0.5, rng),
    lambda rng: knapsack(35, 5, 0.5, rng),
    lambda rng: set_cover(150, 400, 0.05, rng),
)
CUTOFF = 20.0
Settings = Mapping[str, Any]


def own_tuner(path: str, seconds: float) -> list[Settings]:
    """What Gurobi's tuner reports: changed parameters, the fewest changes last."""
    import gurobipy

    with (
        gurobipy.Env(params={"OutputFlag": 0}) as env,
        gurobipy.read(path, env=env) as model,
        tempfile.TemporaryDirectory() as folder,
    ):
        model.Params.Threads = 1
        model.Params.TuneTimeLimit = seconds
        model.Params.TuneJobs = 0
        model.tune()
        found = []
        for number in range(model.TuneResultCount):
            model.getTuneResult(number)
            file = Path(folder) / f"{number}.prm"
            model.write(str(file))
            lines = [line.split() for line in file.read_text().splitlines() if line.strip()]
            found.append({n: v for n, v in (x for x in lines if len(x) == 2) if n not in _GIVEN})
            model.resetParams()
        return found


_GIVEN = {"Threads", "TuneTimeLimit", "TuneJobs", "OutputFlag", "LogToConsole"}


def ours(path: str, seconds: float, advised: bool, folder: Path) -> Settings:
    """The best of a search with the short list, with the advised configurations first or not."""
    solver = get("gurobi", cost="work")
    result = paramhs.tune(
        solver.target,
        solver.space,
        instances=[path],
        cost=solver.metric,
        cutoff=CUTOFF,
        budget=paramhs.Budget(wall_time=seconds),
        initial=solver.initial if advised else (),
        store=folder / f"search-{advised}.sqlite",
        verdict_in_budget=True,
        progress=False,
    )
    default = solver.space.default
    return {n: v for n, v in result.best.items() if default.get(n) != v}


def work(path: str, settings: Settings) -> list[float]:
    """Work with each of the seeds; infinite where it reaches the cutoff."""
    import gurobipy

    found = []
    with gurobipy.Env(params={"OutputFlag": 0}) as env:
        for seed in SEEDS:
            with gurobipy.read(path, env=env) as model:
                model.Params.Threads, model.Params.Seed = 1, seed
                model.Params.TimeLimit = CUTOFF
                for name, value in settings.items():
                    model.setParam(name, type(model.getParamInfo(name)[2])(value))
                model.optimize()
                done = model.Status == gurobipy.GRB.OPTIMAL
                found.append(model.Work if done else math.inf)
    return found


def compared(number: int, seconds: float) -> dict[str, Any]:
    """One model: the default, both tuners, and every setting that Gurobi's tuner reports."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.lp")
        Path(path).write_text(lp(MODELS[number](stream(0, "gurobi tuner", number))))
        begin = time.monotonic()
        settings = own_tuner(path, seconds)
        took = time.monotonic() - begin
        rows = [("default", {}, 0.0), *(("its tuner", found, took) for found in settings)]
        for advised, tuner in ((False, "paramhs, nothing advised"), (True, "paramhs")):
            begin = time.monotonic()
            best = ours(path, seconds, advised, Path(folder))
            rows.append((tuner, best, time.monotonic() - begin))
        return {
            "model": number,
            "seconds": seconds,
            "rows": [
                {
                    "tuner": tuner,
                    "seconds": round(took, 1),
                    "changed": dict(found),
                    "work": [round(value, 4) for value in work(path, found)],
                }
                for tuner, found, took in rows
            ],
        }


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """Mean work with the unseen seeds, in Markdown."""
    lines = ["| model | tuner | changed | mean work, unseen seeds |", "|---|---|---|---|"]
    for one in found:
        for row in one["rows"]:
            error = stdev(row["work"]) / math.sqrt(len(row["work"]))
            changed = ", ".join(f"{n} {v}" for n, v in row["changed"].items()) or "nothing"
            cost = f"{mean(row['work']):.3f} ± {error:.3f}"
            lines.append(f"| {one['model']} | {row['tuner']} | {changed} | {cost} |")
    return "\n".join(lines)


def main() -> None:
    """Compare on generated models, or print the table."""
    parser = argparse.ArgumentParser(description="Compare with Gurobi's own tuner.")
    parser.add_argument("models", nargs="*", type=int, help="numbers of models, from 0")
    parser.add_argument("--seconds", type=float, default=60.0, help="elapsed time of each tuner")
    parser.add_argument("--table", action="store_true", help="print the table and end")
    given = parser.parse_args()
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.is_file() else []
    for number in given.models:
        kept = [one for one in kept if one["model"] != number]
        kept = sorted([*kept, compared(number, given.seconds)], key=lambda one: one["model"])
        DATA.parent.mkdir(parents=True, exist_ok=True)
        DATA.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if given.table:
        print(table(kept))


if __name__ == "__main__":
    main()
