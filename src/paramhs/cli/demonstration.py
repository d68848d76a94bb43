"""The built-in demonstration: tuning SAPS, a local search, on random formulas."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from rich.console import Console

from paramhs.api.tune import tune
from paramhs.bundled.instances.dimacs import dimacs
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.bundled.plain_saps import SPACE, PlainSaps
from paramhs.cli.ascii_map import on_terminal
from paramhs.core.costs import Quality
from paramhs.core.random_streams import stream
from paramhs.core.space import Config
from paramhs.execution.driver import Budget, Watcher
from paramhs.execution.safe_files import write_whole
from paramhs.report.files import make_folder
from paramhs.report.landscape_map import Map, drawn_map
from paramhs.report.page import PageOptions, drawn_page
from paramhs.report.result import Result

METRIC = Quality()
COUNT = 12  # instances to search on; the same number is held out
VARIABLES = 400
RATIO = 5.0  # clauses per variable, too many for all clauses to be satisfiable
STEPS = 3_000
BUDGET = Budget(runs=1_000, wall_time=35.0)  # includes the runs on the test set
JOBS = 2
COLUMNS, ROWS = 13, 5
MAP_TIME = 7.0  # seconds, approximately; each cell is the mean over the instances that fit

INTRODUCTION = f"""\
SAPS is a local search for satisfiability: it multiplies the weights of false
clauses by alpha, and from time to time smooths all weights by rho. Which alpha,
rho, ps and wp leave the fewest clauses of {COUNT} random formulas false after
{STEPS:,} steps? The default is the one its authors recommend; {COUNT} other formulas
are the test set. The search ends after {BUDGET.runs:,} runs or {BUDGET.wall_time:g} s;
a map of the costs follows.
"""


@contextmanager
def instances() -> Iterator[tuple[dict[str, Path], dict[str, Path]]]:
    """Paths of the formulas to search on and of those held out, by name."""
    with tempfile.TemporaryDirectory(prefix="paramhs-demo-") as folder:
        paths = {}
        for number in range(2 * COUNT):
            formula = random_ksat(3, VARIABLES, RATIO, False, stream(0, "demo", number))
            name = f"formula-{number:02}"
            paths[name] = Path(folder, f"{name}.cnf")
            paths[name].write_text(dimacs(formula), encoding="ascii")
        names = list(paths)
        yield {n: paths[n] for n in names[:COUNT]}, {n: paths[n] for n in names[COUNT:]}


def target() -> Callable[..., float]:
    """SAPS in plain Python, so that the demonstration needs no other package and no compiler."""
    return PlainSaps(STEPS)


def run(watcher: Watcher, seed: int, paths: tuple[dict[str, Path], dict[str, Path]]) -> Result:
    """Tune SAPS on the formulas."""
    searched, held_out = paths
    return tune(
        target(),
        SPACE,
        instances=searched,
        test_instances=held_out,
        budget=BUDGET,
        verdict_in_budget=True,
        cost=METRIC,
        seed=seed,
        jobs=JOBS,
        watcher=watcher,
    )


def chart(result: Result, paths: dict[str, Path]) -> Map:
    """Map of the mean cost by alpha and rho, with the path of the search."""
    saps = target()
    run_time = result.target_time / max(1, len(result.runs))
    fitting = int(MAP_TIME / (COLUMNS * ROWS * run_time)) if run_time else COUNT
    measured = list(paths.values())[: max(1, fitting)]

    def cost(config: Config) -> float:
        return fmean(saps(config.as_dict(), path, seed) for seed, path in enumerate(measured))

    way = [point.config for point in result.trajectory]
    return drawn_map(way, "alpha", "rho", cost, COLUMNS, ROWS)


def show(console: Console, chart: Map) -> None:
    """Print the map in the terminal."""
    console.print("\npath of the search (ps and wp as in the best; green is better):")
    for line in on_terminal(chart):
        console.print(line, soft_wrap=True)
    console.print("D default, B best, * incumbents between them; cells: mean false clauses")


def draw(result: Result, chart: Map, folder: Path) -> list[Path]:
    """Write the report with the map, and the map as SVG."""
    page = drawn_page(result, PageOptions(name="the demo of paramhs", map=chart))
    texts = {"demo.html": page.html, "demo.svg": dict(page.figure_files())["map.svg"]}
    make_folder(folder)
    for name, text in texts.items():
        write_whole(folder / name, text)
    return [folder / name for name in texts]
