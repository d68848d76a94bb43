"""Analyse the measured landscapes: their shapes, the calls of every operator, figures and tables.

python -m benchmarks.landscapes.analyse shapes       data/shapes.csv and finer.csv, of the runs
python -m benchmarks.landscapes.analyse calls        data/calls.csv
python -m benchmarks.landscapes.analyse page         figures and tables of the documentation
python -m benchmarks.landscapes.analyse              all three

A landscape with the same number of runs as before keeps its rows; delete the tables to start anew.
"""

import argparse
import csv
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchmarks.landscapes.calls import Calls, Finer, all_calls, finer_calls
from benchmarks.landscapes.shapes import Shape, shape_of
from benchmarks.landscapes.tables import DATA, Measured, measured, path_of, read_rows
from benchmarks.landscapes.targets import ABOUT

SHAPES = DATA / "shapes.csv"
CALLS = DATA / "calls.csv"
FINER = DATA / "finer.csv"
Key = tuple[str, str, str]
_WHICH = ("solver", "base", "parameter", "values", "copies", "unanswered")
_CALLS_HEADER = ("solver", "base", "parameter", "copies", *Calls._fields)


def landscapes() -> Iterator[Measured]:
    """All measured landscapes."""
    for solver in ABOUT:
        if path_of(solver).exists():
            yield from measured(solver, read_rows(solver))


def write_shapes(ones: Sequence[Measured]) -> None:
    """The tables of shapes and of finer valleys; a table that has grown is described anew."""
    now = {_key(one): one.ratios.shape[1] for one in ones}
    kept = {_which(row): row for row in _read(SHAPES) if now.get(_which(row)) == int(row["copies"])}
    finer = [row for row in _read(FINER) if _which(row) in kept]
    with _writer(SHAPES, (*_WHICH, *(field.name for field in fields(Shape)))) as write:
        for one in ones:
            write(kept[_key(one)].values() if _key(one) in kept else _described(one))
    kinds = {_which(row): row["kind"] for row in read_shapes()}
    with _writer(FINER, ("solver", "base", "parameter", *Finer._fields)) as write:
        for one in ones:
            if _key(one) in kept:
                for row in finer:
                    if _which(row) == _key(one):
                        write(row.values())
            elif kinds[_key(one)] == "unimodal":
                for calls in finer_calls(one):
                    write((*_key(one), *map(_text, calls)))


def _described(one: Measured) -> Iterator[str]:
    numbers = asdict(shape_of(one)).values()
    which = (*_key(one), len(one.values), one.ratios.shape[1], one.unanswered)
    return map(_text, (*which, *numbers))


def write_calls(ones: Sequence[Measured], minutes: float) -> None:
    """The table of calls, landscape by landscape; those of a table that has grown are made anew."""
    end = time.monotonic() + 60 * minutes
    now = {_key(one): one.ratios.shape[1] for one in ones}
    kept: dict[Key, list[dict[str, str]]] = defaultdict(list)
    for row in read_calls():
        if now.get(_which(row)) == int(row["copies"]):
            kept[_which(row)].append(row)
    kinds = {_which(row): row["kind"] for row in read_shapes()}
    with _writer(CALLS, _CALLS_HEADER) as write:
        for one in ones:
            for row in kept[_key(one)]:
                write(row.values())
            if kept[_key(one)] or kinds[_key(one)] == "no effect":
                continue
            if time.monotonic() > end:
                print(*_key(one), "is left; run it again to go on", flush=True)
                continue
            for calls in all_calls(one):
                write((*_key(one), one.ratios.shape[1], *map(_text, calls)))
            print(*_key(one), flush=True)


@contextmanager
def _writer(path: Path, header: Sequence[str]) -> Iterator[Callable[[Iterable[Any]], Any]]:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        yield writer.writerow


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_finer() -> list[dict[str, str]]:
    """The table of calls on valleys with more values."""
    return _read(FINER)


def read_calls() -> list[dict[str, str]]:
    """The table of calls."""
    return _read(CALLS)


def read_shapes() -> list[dict[str, str]]:
    """The table of shapes."""
    return _read(SHAPES)


def _key(one: Measured) -> Key:
    return one.solver, one.base, one.parameter


def _which(row: dict[str, str]) -> Key:
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
    if given.part in (None, "calls"):
        write_calls(ones, given.minutes)
    if given.part in (None, "page"):
        from benchmarks.landscapes.page import write_page

        write_page(ones)


if __name__ == "__main__":
    main()
