"""The embedded example: the parameters of SAPS, a local search, on random formulas."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from rich.console import Console

from paramhs.faces.cli.picture import on_terminal
from paramhs.faces.reporting import make_folder, result_material, write_whole
from paramhs.faces.result import Result
from paramhs.faces.tuning import tune
from paramhs.results.report import Map, drawn_map, drawn_page
from paramhs.values.costs import Quality
from paramhs.values.seeds import stream
from paramhs.values.space import Config
from paramhs.world.driver import Budget, Watcher
from paramhs.world.instances.dimacs import dimacs
from paramhs.world.instances.random_ksat import random_ksat
from paramhs.world.targets.plain_saps import SPACE, PlainSaps

METRIC = Quality()
COUNT = 12  # instances to search on, and as many held out
VARIABLES = 400
RATIO = 5.0  # clauses a variable: too many for all of them to become true
STEPS = 3_000
BUDGET = Budget(runs=1_000, wall_time=35.0)  # with those on the test set
JOBS = 2
COLUMNS, ROWS = 13, 5
MAP_TIME = 7.0  # seconds, about: each cell is the mean over as many instances as fit in

INTRODUCTION = f"""\
SAPS is a local search for satisfiability: it multiplies the weights of clauses
it cannot satisfy by alpha, and smooths all weights by rho now and then. Which
alpha, rho, ps and wp leave the fewest clauses of {COUNT} random formulas false
after {STEPS:,} steps? The default is that of its authors; {COUNT} other formulas are the
test set. It all ends after {BUDGET.runs:,} runs or {BUDGET.wall_time:g} s, but for a map of
what was found.
"""


@contextmanager
def instances() -> Iterator[tuple[dict[str, Path], dict[str, Path]]]:
    """Files of the formulas to search on and of those held out, by name."""
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
    """SAPS in plain Python: the demo needs nothing installed but paramhs, and nothing compiled."""
    return PlainSaps(STEPS)


def run(watcher: Watcher, seed: int, paths: tuple[dict[str, Path], dict[str, Path]]) -> Result:
    """Tune it."""
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
    """The mean over some instances for alpha and rho, and the search's way on it."""
    saps = target()
    run_time = result.target_time / max(1, len(result.runs))
    fitting = int(MAP_TIME / (COLUMNS * ROWS * run_time)) if run_time else COUNT
    measured = list(paths.values())[: max(1, fitting)]

    def cost(config: Config) -> float:
        return fmean(saps(config.as_dict(), path, seed) for seed, path in enumerate(measured))

    way = [point.config for point in result.trajectory]
    return drawn_map(way, "alpha", "rho", cost, COLUMNS, ROWS)


def show(console: Console, chart: Map) -> None:
    """The map in the terminal."""
    console.print("\nwhere the search went (ps and wp as the best has them; green is better):")
    for line in on_terminal(chart):
        console.print(line, soft_wrap=True)
    console.print("D the default, B the best, * the incumbents between them; mean false clauses")


def draw(result: Result, chart: Map, folder: Path) -> list[Path]:
    """The search as a page with the map on it, and the map as SVG."""
    material = result_material(result, "the demo of paramhs", chart)
    page = drawn_page(material)
    texts = {"demo.html": page.html, "demo.svg": dict(page.figure_files())["map.svg"]}
    make_folder(folder)
    for name, text in texts.items():
        write_whole(folder / name, text)
    return [folder / name for name in texts]
