"""`paramhs instances`: generated families of instances, written as files."""

from pathlib import Path
from typing import Annotated

import typer

from paramhs.bundled.instances.circuit_fuzz import circuit_fuzz
from paramhs.bundled.instances.colouring import colouring
from paramhs.bundled.instances.families import Family, Written, write_instances
from paramhs.bundled.instances.integer_programs import knapsack, set_cover
from paramhs.bundled.instances.random_ksat import random_ksat
from paramhs.cli.console import Json, print_json, say

app = typer.Typer(
    help="Generate SAT formulas (DIMACS) and integer programs (LP).",
    epilog="The same options, seed and number give the same file on every machine. Existing files"
    " are never overwritten.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write into.")]
Count = Annotated[int, typer.Option(help="Number of instances.")]
Seed = Annotated[int, typer.Option(help="Random seed of the instances.")]


@app.command("random-ksat")
def _random_ksat(
    out: Out,
    k: Annotated[int, typer.Option(help="Literals in each clause.")] = 3,
    variables: Annotated[int, typer.Option(help="Number of variables.")] = 200,
    ratio: Annotated[float, typer.Option(help="Clauses per variable.")] = 4.26,
    planted: Annotated[
        bool,
        typer.Option("--planted", help="Plant a solution, so that all formulas are satisfiable."),
    ] = False,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Uniform random k-SAT.

    At 4.26 clauses per variable, about half of the formulas are satisfiable for k = 3.
    """
    options = {"k": k, "variables": variables, "ratio": ratio, "planted": planted}
    family = Family(
        "random-ksat",
        options,
        lambda rng: random_ksat(k, variables, ratio, planted, rng),
        title=f"{'planted' if planted else 'random'}-{k}sat",
    )
    _write(family, count, seed, out, as_json)


@app.command("circuit-fuzz")
def _circuit_fuzz(
    out: Out,
    inputs: Annotated[int, typer.Option(help="Number of inputs of the circuit.")] = 100,
    variables: Annotated[
        int | None,
        typer.Option(
            help="Minimum number of variables; 0 for as few as use every input. Default: drawn"
            " from 18 to"
            " 96 per input."
        ),
    ] = None,
    extra: Annotated[
        float | None,
        typer.Option(help="Random clauses per input. Default: drawn from 4.5 to 6.6."),
    ] = None,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Circuit satisfiability like AClib's circuit-fuzz.

    The formula asks whether a random circuit can output 1.
    """
    options = {"inputs": inputs, "variables": variables, "extra": extra}
    family = Family(
        "circuit-fuzz", options, lambda rng: circuit_fuzz(inputs, variables, extra, rng)
    )
    _write(family, count, seed, out, as_json)


@app.command("colouring")
def _colouring(
    out: Out,
    vertices: Annotated[int, typer.Option(help="Number of vertices of the graph.")] = 350,
    degree: Annotated[float, typer.Option(help="Average degree of a vertex.")] = 4.6,
    colours: Annotated[int, typer.Option(help="Number of colours.")] = 3,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Colouring of random graphs, as formulas.

    The formulas are structured; some are satisfiable and some are not.
    """
    options = {"vertices": vertices, "degree": degree, "colours": colours}
    family = Family(
        "colouring",
        options,
        lambda rng: colouring(vertices, degree, colours, rng),
        title=f"{colours}-colouring",
    )
    _write(family, count, seed, out, as_json)


@app.command("set-cover")
def _set_cover(
    out: Out,
    rows: Annotated[int, typer.Option(help="Number of elements to cover.")] = 150,
    columns: Annotated[int, typer.Option(help="Number of sets to choose from.")] = 600,
    density: Annotated[float, typer.Option(help="Share of the elements in each set.")] = 0.05,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Set cover as integer programs.

    The cheapest sets that cover every element.
    """
    options = {"rows": rows, "columns": columns, "density": density}
    family = Family("set-cover", options, lambda rng: set_cover(rows, columns, density, rng))
    _write(family, count, seed, out, as_json)


@app.command("knapsack")
def _knapsack(
    out: Out,
    items: Annotated[int, typer.Option(help="Number of items.")] = 50,
    dimensions: Annotated[int, typer.Option(help="Number of capacity constraints.")] = 5,
    tightness: Annotated[
        float, typer.Option(help="Capacity as a share of the sum of all sizes.")
    ] = 0.5,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Multidimensional knapsack as integer programs.

    The most valuable items that satisfy all capacities.
    """
    options = {"items": items, "dimensions": dimensions, "tightness": tightness}
    family = Family("knapsack", options, lambda rng: knapsack(items, dimensions, tightness, rng))
    _write(family, count, seed, out, as_json)


def _write(family: Family, count: int, seed: int, out: Path, as_json: bool) -> None:
    written = write_instances(family, count, seed, out)
    if as_json:
        files = [{"path": str(path), **sizes} for path, sizes in written]
        about = {"family": family.name, "options": family.options, "seed": seed, "files": files}
        print_json(about)
    else:
        say(f"wrote {_named(written)} into {out}")


def _named(written: list[Written]) -> str:
    first, last = written[0].path.name, written[-1].path.name
    return first if len(written) == 1 else f"{first} ... {last} ({len(written)} files)"
