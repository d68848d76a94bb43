"""Damaged and invented stores, and every command that reads stores."""

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import paramhs
from paramhs.cli import app
from paramhs.core.errors import StoreError

TARGET = """\
from random import Random

def cost(config, instance, seed):
    noise = Random(f"{instance} {seed}").random()
    if config["mode"] == "c" and noise > 0.9:
        raise ValueError("no mode c")
    return 1 + abs(config["x"] - 7) / (2 if config["mode"] == "b" else 1) + noise
"""
SCENARIO = """\
function = "hostile_target:cost"
instances = ["i0", "i1", "i2", "i3"]
test_instances = ["t0", "t1", "t2", "t3", "t4", "t5"]
budget = {runs = 40}
verdict = {runs = 6}
jobs = 1
executor = "inline"
[space.x]
type = "integer"
low = 0
high = 9
default = 1
[space]
mode = ["a", "b", "c"]
"""
STORES = ("s.sqlite",)
TABLES = (
    *("records", "facts", "configs", "instances", "sessions", "runs", "trajectory", "races"),
    *("known", "identities"),
)
HOSTILE: tuple[Any, ...] = (
    None,
    -1,
    2**63 - 1,
    -(2**63),
    float("inf"),
    -float("inf"),
    1e308,
    -1e-300,
    0.5,
    "",
    "\x1b[2J\x07 text",
    "9" * 5_000,
    "[" * 50_000,
    b"\xff\xfe\x00",
    bytes(100_000),
)
JSON: tuple[Any, ...] = (None, -1, 0, 10**30, 1e308, "", "\x1b[2J", [], {}, [[]], {"a": None}, True)
SECONDS = 60  # after which a command hangs
LONGEST = 5_000  # letters of a message


def make_folder(folder: Path) -> Path:
    """A folder with a scenario, the store of its search, its verdict and its ablation."""
    (folder / "hostile_target.py").write_text(TARGET, encoding="utf-8")
    (folder / "s.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "first.toml").write_text(
        SCENARIO.replace("runs = 40", "runs = 20").replace("jobs = 1", "seed = 5"), encoding="utf-8"
    )
    (folder / "w.toml").write_text(
        SCENARIO.replace("jobs = 1", 'warm_start = ["s.sqlite"]'), encoding="utf-8"
    )
    called(folder, "tune", "first.toml", "--no-report")
    called(folder, "tune", "s.toml", "--no-report", "--warm-start", "first.sqlite")
    called(folder, "simplify", "s.toml", "--budget", "40")
    return folder


def commands(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Everything that reads the stores of a folder, by name."""
    store = folder / "s.sqlite"
    words = [
        ("show", "s.sqlite"),
        ("show", "s.sqlite", "--json"),
        ("report", "s.sqlite"),
        ("tune", "w.toml", "--no-report", "--json"),
        ("tune", "s.toml", "--no-report", "--json", "--warm-start", "first.sqlite"),
        ("validate", "s.toml", "--json"),
        ("simplify", "s.toml", "--budget", "40", "--json"),
        ("check", "s.toml", "--json"),
    ]
    for table in (
        "runs",
        "configurations",
        "trajectory",
        "verdict",
        "verdict-runs",
        "ablation-runs",
    ):
        for kind in ("csv", "parquet") if table == "runs" else ("jsonl",):
            out = ("--out", f"out.{kind}")
            words.append(("export", "s.sqlite", "--what", table, *out))
    for call in words:
        yield " ".join(call), lambda call=call: called(folder, *call)
    yield "open", lambda: paramhs.load(store).to_json()
    yield "simplified", lambda: repr(paramhs.load(store).simplified)


def called(folder: Path, *words: str) -> str:
    """What a command prints; the error that it ends with, if it does."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, words, catch_exceptions=True)
    finally:
        os.chdir(before)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


class Traceback(AssertionError):
    """A command ended with an error that is not a message for people."""


def check(folder: Path, what: str) -> tuple[int, int]:
    """Every command works or ends with a `StoreError`; how many did each."""
    refused = worked = 0
    for name, act in commands(folder):
        try:
            with in_time():
                act()
            worked += 1
        except StoreError as error:
            if len(str(error)) > LONGEST:
                raise Traceback(
                    f"{what}: {name}: a message of {len(str(error))} letters"
                ) from error
            refused += 1
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:300]}"
            raise Traceback(f"{what}: {name}: {said}") from error
    return refused, worked


@contextmanager
def in_time() -> Iterator[None]:
    """Nothing may hang."""

    def late(*_: object) -> None:
        raise Traceback("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def copied(folder: Path, to: Path) -> Path:
    """A copy of a folder, to be spoilt."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to, ignore=shutil.ignore_patterns("__pycache__", "out.*")))


# What is spoilt.


def columns(store: Path) -> list[tuple[str, str]]:
    """Every column of every table that has a row."""
    with closing(sqlite3.connect(store)) as db:
        return [
            (table, column)
            for table in TABLES
            if db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for _, column, *_ in db.execute(f"PRAGMA table_info({table})")
        ]


_OF_SEARCH = "record = (SELECT id FROM records WHERE name = 'search')"
_KEYS = {
    "records": "name = 'search'",
    "facts": f"{_OF_SEARCH} AND name = 'ended'",
    "runs": f"config = (SELECT max(config) FROM runs WHERE {_OF_SEARCH}) AND asked NOT NULL",
    **dict.fromkeys(("trajectory", "races", "known"), f"{_OF_SEARCH} AND position = 0"),
    "identities": _OF_SEARCH,
}


def write_cell(store: Path, table: str, column: str, value: object, where: str = "") -> bool:
    """Put a value into the last row (or one that is named), whatever the table declares; whether
    that is possible."""
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        _declare_nothing(db, table)
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        key = where or _KEYS.get(table) or f"id = (SELECT max(id) FROM {table})"
        try:
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {key}", (value,))
        except (sqlite3.IntegrityError, OverflowError):
            return False
        finally:
            _declare_again(db, table)
    return True


def _declare_nothing(db: sqlite3.Connection, table: str) -> None:
    """As a program could that writes the file by itself: without NOT NULL and types."""
    db.execute("CREATE TABLE IF NOT EXISTS told (name, sql)")
    (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    db.execute("INSERT INTO told VALUES (?, ?)", (table, sql))
    loose = sql.replace(" NOT NULL", "").replace(" REAL", " BLOB").replace(" TEXT", " BLOB")
    if table == "runs":
        loose = loose.replace("INTEGER", "BLOB")
    _rewrite(db, table, loose)


def _declare_again(db: sqlite3.Connection, table: str) -> None:
    (sql,) = db.execute("SELECT sql FROM told WHERE name = ?", (table,)).fetchone()
    _rewrite(db, table, sql)
    db.execute("DROP TABLE told")


def _rewrite(db: sqlite3.Connection, table: str, sql: str) -> None:
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table))
    db.execute("PRAGMA writable_schema = RESET")


def facts(store: Path) -> dict[str, Any]:
    """Descriptions and facts of all records in JSON, each by its record and its name."""
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute(
            "SELECT name || ' is', description FROM records UNION ALL"
            " SELECT records.name || ' ' || facts.name, value FROM facts"
            " JOIN records ON id = record"
        )
        return {name: json.loads(value) for name, value in rows if value[:1] in "[{"}


def paths(fact: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every node of a value in JSON."""
    yield path
    if isinstance(fact, dict):
        for key, inner in fact.items():
            yield from paths(inner, (*path, key))
    elif isinstance(fact, list):
        for index, inner in enumerate(fact[:2]):
            yield from paths(inner, (*path, index))


def replaced(fact: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Object with another node there."""
    if not path:
        return value
    copy = dict(fact) if isinstance(fact, dict) else list(fact)
    copy[path[0]] = replaced(copy[path[0]], path[1:], value)
    return copy


def write_fact(store: Path, name: str, fact: Any) -> None:
    """Let the store say something else of itself."""
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        record, name = name.split(" ", 1)
        if name == "is":
            query = "UPDATE records SET description = ? WHERE name = ?"
            db.execute(query, (json.dumps(fact), record))
        else:
            query = "UPDATE facts SET value = ? WHERE name = ?"
            query += " AND record = (SELECT id FROM records WHERE name = ?)"
            db.execute(query, (json.dumps(fact), name, record))
