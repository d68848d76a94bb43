"""Compare searches with two costs by the hypervolume of their fronts on held-out instances.

python -m benchmarks.fronts                      all that is not yet in benchmarks/fronts/data
python -m benchmarks.fronts --minutes 5          the same, in pieces
python -m benchmarks.fronts --table              the table, in markdown

SMAC3 runs in the environment that `python -m benchmarks.peers --setup` makes, or in that of
--python.
"""

import argparse
import csv
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.fronts.cases import CASES
from benchmarks.fronts.tools import TOOLS, held_out
from paramhs.search.front import is_dominated

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data" / "fronts.csv"
RUN_COUNT, SEED_COUNT = 300, 10
COLUMNS = ("case", "tool", "seed", "seconds", "first", "second")

Point = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fronts", description=__doc__)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-peers/bin/python")
    parser.add_argument("--tools", nargs="*", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--seeds", type=int, default=SEED_COUNT)
    given = parser.parse_args()
    if given.table:
        print(table(read()))
        return
    end = time.monotonic() + 60 * given.minutes
    for seed in range(given.seeds):
        for name in given.cases:
            for tool in given.tools:
                known = {(case, by, number) for case, by, number, *_ in read()}
                if time.monotonic() < end and (name, tool, seed) not in known:
                    measure(name, tool, seed, given.python)


def measure(name: str, tool: str, seed: int, python: Path) -> None:
    """Make a search, judge its front, and add it to the data."""
    case, begun = CASES[name](), time.monotonic()
    found = TOOLS[tool](case, seed, RUN_COUNT, python)
    seconds = time.monotonic() - begun
    points = held_out(case, found)
    DATA.parent.mkdir(exist_ok=True)
    new = not DATA.exists()
    with DATA.open("a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        if new:
            rows.writerow(COLUMNS)
        for first, second in points:
            rows.writerow((name, tool, seed, f"{seconds:.1f}", f"{first:.5f}", f"{second:.5f}"))
    print(f"{name}, {tool}, seed {seed}: {len(points)} points, {seconds:.0f} s", flush=True)


def read() -> list[tuple[str, str, int, float, Point]]:
    """Rows of the data."""
    if not DATA.exists():
        return []
    with DATA.open(newline="", encoding="utf-8") as file:
        return [
            (r["case"], r["tool"], int(r["seed"]), float(r["seconds"]),
             (float(r["first"]), float(r["second"])))
            for r in csv.DictReader(file)
        ]  # fmt: skip


def table(rows: Iterable[tuple[str, str, int, float, Point]]) -> str:
    """Mean hypervolume by case and tool, with standard errors and differences to paramhs.

    Costs are logarithms, scaled so that the front of all points together goes from 0 to 1.
    """
    cases: dict[str, dict[str, dict[int, list[Point]]]] = defaultdict(lambda: defaultdict(dict))
    for case, tool, seed, _, point in rows:
        cases[case][tool].setdefault(seed, []).append(point)
    lines = [
        "| case | search | seeds | hypervolume | minus that of paramhs, same seeds | points |",
        "|---|---|---|---|---|---|",
    ]
    for case, tools in cases.items():
        all_ = [p for seeds in tools.values() for points in seeds.values() for p in points]
        whole = [p for p in all_ if not is_dominated(p, all_)]
        low = [min(p[k] for p in whole) for k in (0, 1)]
        size = [max(p[k] for p in whole) - low[k] for k in (0, 1)]
        volumes = {
            tool: {
                seed: hypervolume([((p[0] - low[0]) / size[0], (p[1] - low[1]) / size[1])
                                   for p in points])
                for seed, points in seeds.items()
            }
            for tool, seeds in tools.items()
        }  # fmt: skip
        ours = volumes.get("paramhs", {})
        for tool, found in volumes.items():
            apart = [found[seed] - ours[seed] for seed in found if seed in ours]
            beside = "" if tool == "paramhs" else _with_error(apart, sign="+")
            count = fmean(len(points) for points in tools[tool].values())
            mean = _with_error(list(found.values()))
            lines.append(f"| {case} | {tool} | {len(found)} | {mean} | {beside} | {count:.1f} |")
    return "\n".join(lines)


def _with_error(numbers: Sequence[float], sign: str = "") -> str:
    if not numbers:
        return ""
    if len(numbers) < 2:
        return f"{numbers[0]:{sign}.3f}"
    return f"{fmean(numbers):{sign}.3f} ± {stdev(numbers) / math.sqrt(len(numbers)):.3f}"


def hypervolume(points: Sequence[Point], reference: float = 1.1) -> float:
    """Share of the square up to the reference that the points dominate."""
    total, height = 0.0, reference
    for x, y in sorted(points):
        if x < reference and y < height:
            total += (reference - max(x, 0.0)) * (height - max(y, 0.0))
            height = max(y, 0.0)
    return total / reference**2


if __name__ == "__main__":
    main()
