"""Export of a store's tables to files: CSV, JSON lines, Parquet.

Runs are written while they are read, so memory does not grow with the store. A table is read in one
transaction; Parquet must know the types of a column first, and reads it twice.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from paramhs.analysis.verdict import Verdict
from paramhs.api.load import load
from paramhs.core.errors import BadInput
from paramhs.core.runs import Run
from paramhs.core.text.numbers import printable_json
from paramhs.execution.storage import ABLATION, VERDICT
from paramhs.report.tables import (
    Row,
    config_rows,
    front_rows,
    run_rows,
    trajectory_rows,
    verdict_rows,
)
from paramhs.search.judge import Judge

_BATCH_ROWS = 5_000  # written to a Parquet file at a time


class Table(NamedTuple):
    """Rows that can be read repeatedly, all with the same columns."""

    columns: Sequence[str]
    rows: Callable[[], Iterator[Row]]


def table_of(rows: Sequence[Row]) -> Table:
    """Table of a few rows; a missing value, such as an inactive parameter, is None."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return Table(columns, lambda: ({name: row.get(name) for name in columns} for row in rows))


@contextmanager
def _runs(path: Path) -> Iterator[Table]:
    """Requested runs, numbered in order, then runs that idle workers made ahead of time.

    All are judged by the same answers.
    """
    from paramhs.execution.storage.load import streamed

    with streamed(path) as stored:

        def rows() -> Iterator[Row]:
            judge = Judge(stored.scenario, stored.scenario.space.default)
            yield from run_rows(stored.scenario, _noted(stored.asked(), judge))
            for row in run_rows(stored.scenario, map(judge, stored.speculative())):
                yield {**row, "run": None}

        yield _uniform(rows)


def _noted(runs: Iterable[Run], judge: Judge) -> Iterator[Run]:
    """Pass runs on, while the judge records their answers."""
    for run in runs:
        judge.note(run)
        yield run


@contextmanager
def _runs_of(record: str, path: Path) -> Iterator[Table]:
    """Runs of a record other than the search."""
    from paramhs.execution.storage.load import streamed

    with streamed(path) as stored:

        def rows() -> Iterator[Row]:
            for row in run_rows(stored.scenario, stored.of(record)):
                yield {**row, "run": None}

        yield _uniform(rows)


def _uniform(rows: Callable[[], Iterator[Row]]) -> Table:
    """Table of rows that all have the columns of the first."""
    return Table(list(next(rows(), {})), rows)


@contextmanager
def _configurations(path: Path) -> Iterator[Table]:
    result = load(path)
    yield table_of(list(config_rows(result.history, result.best)))


@contextmanager
def _trajectory(path: Path) -> Iterator[Table]:
    result = load(path)
    yield table_of(list(trajectory_rows(result.history, result.trajectory)))


@contextmanager
def _verdict(path: Path) -> Iterator[Table]:
    verdict = load(path).verdict
    yield table_of(list(verdict_rows([verdict] if isinstance(verdict, Verdict) else [])))


@contextmanager
def _front(path: Path) -> Iterator[Table]:
    yield table_of(list(front_rows(load(path).front)))


TABLES: Mapping[str, Callable[[Path], AbstractContextManager[Table]]] = {
    "runs": _runs,
    "configurations": _configurations,
    "trajectory": _trajectory,
    "verdict": _verdict,
    "front": _front,
    "verdict-runs": partial(_runs_of, VERDICT),
    "ablation-runs": partial(_runs_of, ABLATION),
}
"""Tables that can be exported."""


def write_csv(table: Table, file: IO[bytes]) -> int:
    """Write a header, then one line per row, with None as empty; return the number of rows."""
    text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="", write_through=True)
    try:
        plain, quoted = (
            csv.writer(text, lineterminator="\n", quoting=quoting)
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC)
        )
        plain.writerow(table.columns)
        count = 0
        for row in table.rows():
            count += 1
            values = [row[name] for name in table.columns]
            # Python before 3.13 writes a lone carriage return without quotes, and reads it as the
            # end of a line.
            risky = any("\r" in value for value in values if isinstance(value, str))
            (quoted if risky else plain).writerow(values)
        return count
    finally:
        text.detach()


def write_json_lines(table: Table, file: IO[bytes]) -> int:
    """Write one object per line; return the number of rows."""
    count = 0
    for row in table.rows():
        count += 1
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
        file.write(f"{printable_json(line)}\n".encode())
    return count


def write_parquet(table: Table, file: IO[bytes]) -> int:
    """Write an Apache Parquet file; return the number of rows.

    A column with several types of values becomes a text column.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise BadInput("pyarrow is not installed: pip install 'paramhs[pandas]'") from None
    kinds = _kinds(table)
    known: dict[type | None, Any] = {
        bool: pa.bool_(),
        int: pa.int64(),
        float: pa.float64(),
        str: pa.string(),
    }
    types = [known.get(kinds[name].kind, pa.null()) for name in table.columns]
    schema = pa.schema(list(zip(table.columns, types, strict=True)))
    count, rows = 0, table.rows()
    with parquet.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, _BATCH_ROWS)):
            columns = {n: [kinds[n].convert(row[n]) for row in batch] for n in table.columns}
            writer.write_table(pa.table(columns, schema=schema))
            count += len(batch)
    return count


FORMATS: Mapping[str, Callable[[Table, IO[bytes]], int]] = {
    "csv": write_csv,
    "jsonl": write_json_lines,
    "parquet": write_parquet,
}
"""File formats of tables."""


@dataclass
class _Column:
    """Types of the values in a column."""

    kinds: set[type] = field(default_factory=set)
    largest: int = 0
    """Largest absolute integer."""

    def note(self, value: object) -> None:
        if value is not None:
            self.kinds.add(type(value))
            if type(value) is int:
                self.largest = max(self.largest, abs(value))

    @property
    def kind(self) -> type | None:
        """Common type of all values; None for an empty column."""
        if self.kinds == {int, float} and self.largest <= 2**53:
            return float
        if len(self.kinds) > 1 or self.largest >= 2**63:
            return str
        return next(iter(self.kinds), None)

    def convert(self, value: Any) -> Any:
        """Convert a value to the common type; text becomes valid UTF-8."""
        if value is None or self.kind is None:
            return None
        written = self.kind(value)
        if isinstance(written, str):
            return written.encode("utf-8", "backslashreplace").decode()
        return written


def _kinds(table: Table) -> dict[str, _Column]:
    kinds = {name: _Column() for name in table.columns}
    for row in table.rows():
        for name, column in kinds.items():
            column.note(row[name])
    return kinds


def export_table(path: Path, what: str, kind: str, file: IO[bytes]) -> tuple[int, Sequence[str]]:
    """Write a table of a store; return its number of rows and its columns."""
    with TABLES[what](path) as table:
        return FORMATS[kind](table, file), table.columns
