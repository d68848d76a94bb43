"""Analyse the measured landscapes: their shapes, the calls of every operator, figures and tables.

python -m benchmarks.landscapes.analyse shapes       data/shapes.csv and finer.csv, of the runs
python -m benchmarks.landscapes.analyse calls        data/calls.csv; what is there is kept
python -m benchmarks.landscapes.analyse page         figures and tables of the documentation
python -m benchmarks.landscapes.analyse              all three
"""

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from benchmarks.landscapes.calls import Calls, Finer, all_calls, finer_calls
from benchmarks.landscapes.shapes import Shape, shape_of
from benchmarks.landscapes.tables import DATA, Measured, measured, path_of, read_rows
from benchmarks.landscapes.targets import ABOUT

SHAPES = DATA / "shapes.csv"
CALLS = DATA / "calls.csv"
FINER = DATA / "finer.csv"
_WHICH = ("solver", "base", "parameter", "values", "copies", "unanswered")
_CALLS_HEADER = ("solver", "base", "parameter", "copies", *Calls._fields)


def landscapes() -> Iterator[Measured]:
    """All measured landscapes."""
    for solver in ABOUT:
        if path_of(solver).exists():
            yield from measured(solver, read_rows(solver))


def write_shapes(ones: Sequence[Measured]) -> None:
    """The table of shapes."""
    with SHAPES.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*_WHICH, *(field.name for field in fields(Shape))))
        for one in ones:
            shape = asdict(shape_of(one))
            which = (one.solver, one.base, one.parameter, len(one.values))
            numbers = (_text(value) for value in shape.values())
            writer.writerow((*which, one.ratios.shape[1], one.unanswered, *numbers))


def write_calls(ones: Sequence[Measured], minutes: float) -> None:
    """The table of calls, landscape by landscape; those of a table that has grown are made anew."""
    end = time.monotonic() + 60 * minutes
    known = read_calls()
    now = {(one.solver, one.base, one.parameter): one.ratios.shape[1] for one in ones}
    kept = [row for row in known if now.get(_which(row)) == int(row["copies"])]
    made = {_which(row) for row in kept}
    with CALLS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_CALLS_HEADER)
        writer.writerows(row.values() for row in kept)
        for one in ones:
            key = one.solver, one.base, one.parameter
            if key in made or shape_of(one).kind == "no effect":
                continue
            if time.monotonic() > end:
                print("time is up; run it again to go on", flush=True)
                return
            for calls in all_calls(one):
                writer.writerow((*key, one.ratios.shape[1], *map(_text, calls)))
            file.flush()
            print(*key, flush=True)


def write_finer(ones: Sequence[Measured]) -> None:
    """The table of calls on valleys with more values."""
    with FINER.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("solver", "base", "parameter", *Finer._fields))
        for one in ones:
            if shape_of(one).kind == "unimodal":
                for calls in finer_calls(one):
                    writer.writerow((one.solver, one.base, one.parameter, *map(_text, calls)))


def read_finer() -> list[dict[str, str]]:
    """The table of calls on valleys with more values."""
    with FINER.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_calls() -> list[dict[str, str]]:
    """The table of calls."""
    if not CALLS.exists():
        return []
    with CALLS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_shapes() -> list[dict[str, str]]:
    """The table of shapes."""
    with SHAPES.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _which(row: dict[str, str]) -> tuple[str, str, str]:
    return row["solver"], row["base"], row["parameter"]


def _text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landscapes.analyse")
    parser.add_argument("part", nargs="?", choices=("shapes", "calls", "page"))
    parser.add_argument("--minutes", type=float, default=60.0, help="for calls (default: 60)")
    given = parser.parse_args()
    ones = list(landscapes())
    if given.part in (None, "shapes"):
        write_shapes(ones)
        write_finer(ones)
    if given.part in (None, "calls"):
        write_calls(ones, given.minutes)
    if given.part in (None, "page"):
        from benchmarks.landscapes.page import write_page

        write_page(ones)


if __name__ == "__main__":
    main()
