"""`paramhs instances`: families of generated instances, written as files."""

from pathlib import Path
from typing import Annotated

import typer

from paramhs.faces.cli.output import Json, print_json, say
from paramhs.world.instances.circuit_fuzz import circuit_fuzz
from paramhs.world.instances.colouring import colouring
from paramhs.world.instances.families import Family, Written, write_instances
from paramhs.world.instances.integer_programs import knapsack, set_cover
from paramhs.world.instances.random_ksat import random_ksat

app = typer.Typer(
    help="Write generated instances to tune on: formulas (DIMACS) and integer programs (LP).",
    epilog="The same options, seed and number give the same file everywhere. Files that exist are"
    " never overwritten.",
    no_args_is_help=True,
)

Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder to write into.")]
Count = Annotated[int, typer.Option(help="How many.")]
Seed = Annotated[int, typer.Option(help="Another seed, other instances.")]


@app.command("random-ksat")
def _random_ksat(
    out: Out,
    k: Annotated[int, typer.Option(help="Literals in each clause.")] = 3,
    variables: Annotated[int, typer.Option(help="Variables.")] = 200,
    ratio: Annotated[float, typer.Option(help="Clauses a variable.")] = 4.26,
    planted: Annotated[
        bool, typer.Option("--planted", help="Hide a solution: all are satisfiable.")
    ] = False,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Uniform random k-SAT. At 4.26 clauses a variable about half are satisfiable for k = 3."""
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
    inputs: Annotated[int, typer.Option(help="Inputs of the circuit.")] = 100,
    variables: Annotated[
        int | None,
        typer.Option(
            help="Variables, at least; 0: as few as use every input. Without it drawn, from 18 to"
            " 96 for each input."
        ),
    ] = None,
    extra: Annotated[
        float | None,
        typer.Option(help="Random clauses for each input. Without it drawn, from 4.5 to 6.6."),
    ] = None,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Random circuits asked to give 1, like AClib's circuit-fuzz formulas."""
    options = {"inputs": inputs, "variables": variables, "extra": extra}
    family = Family(
        "circuit-fuzz", options, lambda rng: circuit_fuzz(inputs, variables, extra, rng)
    )
    _write(family, count, seed, out, as_json)


@app.command("colouring")
def _colouring(
    out: Out,
    vertices: Annotated[int, typer.Option(help="Vertices of the graph.")] = 350,
    degree: Annotated[float, typer.Option(help="Average degree.")] = 4.6,
    colours: Annotated[int, typer.Option(help="Colours.")] = 3,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Colouring random graphs, as formulas: structured, some satisfiable and some not."""
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
    rows: Annotated[int, typer.Option(help="What must be covered.")] = 150,
    columns: Annotated[int, typer.Option(help="What may be chosen.")] = 600,
    density: Annotated[float, typer.Option(help="Share of the rows a column covers.")] = 0.05,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Set covering as integer programs: the cheapest columns that cover every row."""
    options = {"rows": rows, "columns": columns, "density": density}
    family = Family("set-cover", options, lambda rng: set_cover(rows, columns, density, rng))
    _write(family, count, seed, out, as_json)


@app.command("knapsack")
def _knapsack(
    out: Out,
    items: Annotated[int, typer.Option(help="What may be chosen.")] = 50,
    dimensions: Annotated[int, typer.Option(help="Capacities.")] = 5,
    tightness: Annotated[float, typer.Option(help="Capacity, of the sum of all sizes.")] = 0.5,
    count: Count = 12,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Multidimensional knapsacks as integer programs: the most valuable items that fit."""
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
