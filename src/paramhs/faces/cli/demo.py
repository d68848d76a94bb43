"""The embedded example: the parameters of SAPS, a local search for SAT, on generated circuits."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from rich.console import Console

from paramhs.faces.cli.picture import on_terminal
from paramhs.faces.reporting import Told, make_folder, memory_material, write_whole
from paramhs.faces.tuning import Result, tune
from paramhs.results.report import Map, drawn_map, drawn_page
from paramhs.values.costs import Quality
from paramhs.values.seeds import stream
from paramhs.values.space import Config, Space
from paramhs.world.driver import Budget, Watcher
from paramhs.world.instances.circuit_fuzz import circuit_fuzz
from paramhs.world.instances.dimacs import dimacs

if TYPE_CHECKING:
    from paramhs.world.targets.saps import Saps

METRIC = Quality()
COUNT = 12  # instances to search on, and as many held out
INPUTS = 40
VARIABLES = 1_000
STEPS = 5_000
BUDGET = Budget(runs=10_000, wall_time=35.0)
JOBS = 2

INTRODUCTION = """\
SAPS is a local search for satisfiability: it multiplies the weights of clauses
it cannot satisfy by alpha, and smooths all weights by rho now and then. Which
alpha, rho, ps and wp leave the fewest of the clauses of 12 random circuits
false after 5,000 steps? The default is that of its authors.
"""


@contextmanager
def instances() -> Iterator[tuple[dict[str, Path], dict[str, Path]]]:
    """Files of the formulas to search on and of those held out, by name."""
    with tempfile.TemporaryDirectory(prefix="paramhs-demo-") as folder:
        paths = {}
        for number in range(2 * COUNT):
            formula = circuit_fuzz(INPUTS, VARIABLES, None, stream(0, "demo", number))
            name = f"circuit-{number:02}"
            paths[name] = Path(folder, f"{name}.cnf")
            paths[name].write_text(dimacs(formula), encoding="ascii")
        names = list(paths)
        yield {n: paths[n] for n in names[:COUNT]}, {n: paths[n] for n in names[COUNT:]}


def target() -> tuple["Saps", Space]:
    """SAPS, compiled, and the space of its parameters."""
    from paramhs.world.targets.saps import SPACE, Saps, Settings, solve

    formula = circuit_fuzz(5, 0, None, stream(0, "demo", "warm"))
    solve(formula, Settings(), 10, 0)  # compiles before there are worker processes to do it
    return Saps(STEPS), SPACE


def run(watcher: Watcher, seed: int, paths: tuple[dict[str, Path], dict[str, Path]]) -> Result:
    """Tune it."""
    saps, space = target()
    searched, held_out = paths
    return tune(
        saps,
        space,
        instances=searched,
        test_instances=held_out,
        budget=BUDGET,
        cost=METRIC,
        seed=seed,
        jobs=JOBS,
        watcher=watcher,
    )


def chart(result: Result, paths: dict[str, Path]) -> Map:
    """The mean over the instances for alpha and rho, and the search's way on it."""
    saps, _ = target()

    def cost(config: Config) -> float:
        return fmean(saps(config.as_dict(), path, seed) for seed, path in enumerate(paths.values()))

    return drawn_map([point.config for point in result.trajectory], "alpha", "rho", cost)


def show(console: Console, chart: Map) -> None:
    """The map in the terminal."""
    console.print("\nwhere the search went (ps and wp as the best has them; green is better):")
    for line in on_terminal(chart):
        console.print(line, soft_wrap=True)
    console.print("D the default, B the best, * the incumbents between them; mean false clauses")


def draw(result: Result, chart: Map, folder: Path) -> list[Path]:
    """The search as a page with the map on it, and the map as SVG."""
    material = memory_material(
        result.history,
        result.trajectory,
        result.verdict,
        name="the demo of paramhs",
        target="SAPS on 12 generated circuits; the cost is the number of false clauses",
        target_time=result.target_time,
        wall_time=result.wall_time,
        speculative=result.speculative,
        told=Told(result.stopped),
        chart=chart,
    )
    page = drawn_page(material)
    texts = {"demo.html": page.html, "demo.svg": dict(page.figure_files())["map.svg"]}
    make_folder(folder)
    for name, text in texts.items():
        write_whole(folder / name, text)
    return [folder / name for name in texts]
