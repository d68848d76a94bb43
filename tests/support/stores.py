"""Stores with runs in them, and what lies in their files."""

import sqlite3
from contextlib import closing
from pathlib import Path

from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.space import Space
from paramhs.execution.storage.sqlite import SqliteStore

SPACE = Space({"k": range(5), "mode": ["a", "two words", 'quo"te', "é"]})
CONFIGS = tuple(SPACE.configs())
SCENARIO = {"scenario": SPACE.describe(), "target": "module:function", "seed": 0}


def opened(path: Path, description: object = SCENARIO) -> SqliteStore:
    return SqliteStore(path, SPACE, description)


def run_of(k: int, detail: str = "") -> Run:
    """The k-th of many different runs."""
    config, instance = CONFIGS[k % len(CONFIGS)], Instance(f"instance {k % 7}")
    return Run(Task(config, instance, k, 10.0), Status.OK, 0.25 * k, float(k), detail)


def filled(path: Path, count: int, detail: str = "") -> list[Run]:
    """A new store with this many runs, closed again."""
    runs = [run_of(k, detail) for k in range(count)]
    store = opened(path)
    for run in runs:
        store.put(run)
    store.close()
    return runs


def contents(path: Path) -> set[Run]:
    """What a store holds when it is opened again."""
    store = opened(path)
    try:
        runs = list(store)
        assert len(runs) == len(set(runs)) == len(store)
        return set(runs)
    finally:
        store.close()


def rows(path: Path) -> set[tuple[object, ...]]:
    """The runs in a file, as the sqlite3 module sees them, without their positions; none
    if there is no file yet."""
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path, timeout=10)) as db:
        (known,) = db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'readable'")
        columns = "config, instance, seed, cutoff, status, runtime, quality, detail, session"
        return set(db.execute(f"SELECT {columns}, finished FROM readable")) if known[0] else set()
