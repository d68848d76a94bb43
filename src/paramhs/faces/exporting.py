"""The tables of a store as files: CSV, JSON lines, Parquet."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paramhs.faces.opening import Opened
from paramhs.faces.tables import Row, config_rows, run_rows, trajectory_rows, verdict_rows
from paramhs.results.validating import verdict_store
from paramhs.results.verdict import Verdict
from paramhs.values.errors import BadInput
from paramhs.values.runs import Run
from paramhs.values.wording import printable_json


def _runs(opened: Opened) -> Iterator[Row]:
    """Those asked for, numbered in order; then those that idle workers made ahead of time."""
    from paramhs.world.store.sqlite import read_runs

    yield from run_rows(opened.scenario, opened.runs)
    asked = {run.task for run in opened.runs}
    more = (run for run in read_runs(opened.path, opened.space) if run.task not in asked)
    yield from _unnumbered(opened, more)


def _unnumbered(opened: Opened, runs: Iterable[Run]) -> Iterator[Row]:
    return ({**row, "run": None} for row in run_rows(opened.scenario, runs))


def _configurations(opened: Opened) -> Iterator[Row]:
    return config_rows(opened.stored.history, opened.stored.best)


def _trajectory(opened: Opened) -> Iterator[Row]:
    return trajectory_rows(opened.stored.history, opened.stored.trajectory)


def _verdict(opened: Opened) -> Iterator[Row]:
    result = opened.result
    made = [v for v in (result.verdict, result.ahead_verdict) if isinstance(v, Verdict)]
    return verdict_rows(made[:1] if made[:1] == made[1:] else made)


def _verdict_runs(opened: Opened) -> Iterator[Row]:
    from paramhs.world.store.sqlite import read_runs

    path = verdict_store(opened.path)
    if path is not None and path.exists():
        yield from _unnumbered(opened, read_runs(path, opened.space))


TABLES: Mapping[str, Callable[[Opened], Iterator[Row]]] = {
    "runs": _runs,
    "configurations": _configurations,
    "trajectory": _trajectory,
    "verdict": _verdict,
    "verdict-runs": _verdict_runs,
}
"""What there is to export."""


def as_csv(rows: Sequence[Row]) -> bytes:
    """A line of headings, then one line a row; what is None is empty."""
    text = io.StringIO(newline="")
    # Python before 3.13 writes a lone carriage return as it is, and ends a line there in reading.
    risky = any("\r" in value for row in rows for value in row.values() if isinstance(value, str))
    writer = csv.DictWriter(
        text,
        columns_of(rows),
        lineterminator="\n",
        quoting=csv.QUOTE_NONNUMERIC if risky else csv.QUOTE_MINIMAL,
    )
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def as_json_lines(rows: Sequence[Row]) -> bytes:
    """An object a line."""
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    return printable_json("".join(f"{line}\n" for line in lines)).encode()


def as_parquet(rows: Sequence[Row]) -> bytes:
    """A file of Apache Parquet; a column of values of several kinds is one of texts."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise BadInput("pyarrow is not installed: pip install 'paramhs[pandas]'") from None
    columns = {name: pa.array(_alike([row[name] for row in rows])) for name in columns_of(rows)}
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


FORMATS: Mapping[str, Callable[[Sequence[Row]], bytes]] = {
    "csv": as_csv,
    "jsonl": as_json_lines,
    "parquet": as_parquet,
}
"""How a table can be written."""


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The names of all columns, in order."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _alike(values: Sequence[Any]) -> list[Any]:
    """Values of one kind: as they are, as floating-point numbers, or else as texts."""
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    largest = max((abs(value) for value in known if type(value) is int), default=0)
    if len(kinds) <= 1 and largest < 2**63:
        return [_writable(value) for value in values]
    convert = float if kinds == {int, float} and largest <= 2**53 else str
    return [None if value is None else _writable(convert(value)) for value in values]


def _writable(value: Any) -> Any:
    """Text that UTF-8 can write."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _filled(rows: list[Row]) -> list[Row]:
    """All with the same columns: what one has not, as a parameter that is switched off, is None."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def export_table(opened: Opened, what: str, kind: str, out: Path | None) -> tuple[list[Row], bytes]:
    """The rows of a table, and how they are written; into a file, if one is named."""
    rows = _filled(list(TABLES[what](opened)))
    written = FORMATS[kind](rows)
    if out is not None:
        try:
            out.write_bytes(written)
        except OSError as error:
            raise BadInput(f"{out} cannot be written: {error.strerror}") from None
    return rows, written
