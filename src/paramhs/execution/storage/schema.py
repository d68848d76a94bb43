"""Tables of a store, and the check that a file contains exactly these.

One file holds all records of a search, by name: the search itself, the runs of its verdicts, and
those of its ablation. Each has a description of what defines its runs.

A file is opened only if every table is there, word for word as it is created here. So a name that
is read is a table, not a view or a virtual table that computes its rows, and no trigger runs when
something is written. Tables and views of the user may exist beside them; they are never read.
"""

import sqlite3
from functools import cache
from pathlib import Path

from paramhs.core.errors import StoreError
from paramhs.execution.storage.problems import DAMAGED

APPLICATION = 0x70686873  # marks the file as ours
VERSION = 5

SCHEMA = """
CREATE TABLE records (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, description TEXT NOT NULL,
  version TEXT NOT NULL);
CREATE TABLE facts (
  record INTEGER NOT NULL REFERENCES records, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (record, name)) WITHOUT ROWID;
CREATE TABLE configs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE instances (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, record INTEGER NOT NULL REFERENCES records, started REAL NOT NULL);
CREATE TABLE runs (
  record INTEGER NOT NULL REFERENCES records,
  config INTEGER NOT NULL REFERENCES configs, instance INTEGER NOT NULL REFERENCES instances,
  seed INTEGER NOT NULL, cutoff REAL NOT NULL,
  status TEXT NOT NULL, runtime REAL NOT NULL, quality REAL, detail TEXT NOT NULL, answer,
  others TEXT, asked INTEGER, session INTEGER NOT NULL REFERENCES sessions,
  finished REAL NOT NULL, elapsed REAL NOT NULL,
  PRIMARY KEY (record, config, instance, seed, cutoff)) WITHOUT ROWID;
CREATE TABLE trajectory (
  record INTEGER NOT NULL REFERENCES records, position INTEGER NOT NULL,
  config INTEGER NOT NULL REFERENCES configs, runs INTEGER NOT NULL, target_time REAL NOT NULL,
  cost REAL, evidence INTEGER NOT NULL, PRIMARY KEY (record, position)) WITHOUT ROWID;
CREATE TABLE races (
  record INTEGER NOT NULL REFERENCES records, position INTEGER NOT NULL,
  challenger INTEGER NOT NULL REFERENCES configs, incumbent INTEGER NOT NULL REFERENCES configs,
  won INTEGER, asked INTEGER NOT NULL, PRIMARY KEY (record, position)) WITHOUT ROWID;
CREATE TABLE known (
  record INTEGER NOT NULL REFERENCES records, position INTEGER NOT NULL,
  config TEXT NOT NULL, instance TEXT NOT NULL, seed INTEGER NOT NULL,
  cutoff REAL NOT NULL, status TEXT NOT NULL, runtime REAL NOT NULL, quality REAL,
  detail TEXT NOT NULL, answer, others TEXT, PRIMARY KEY (record, position)) WITHOUT ROWID;
CREATE TABLE identities (
  record INTEGER NOT NULL REFERENCES records, kind TEXT NOT NULL, name TEXT NOT NULL,
  digest TEXT NOT NULL, stamp TEXT NOT NULL, since REAL NOT NULL, session INTEGER NOT NULL,
  PRIMARY KEY (record, kind, name)) WITHOUT ROWID;
CREATE VIEW readable AS
  SELECT records.name AS record, configs.key AS config, instances.name AS instance, seed, cutoff,
    status, runtime, quality, detail, answer, others, asked, session,
    datetime(finished, 'unixepoch') AS finished
  FROM runs JOIN records ON records.id = runs.record JOIN configs ON configs.id = runs.config
    JOIN instances ON instances.id = runs.instance;
"""
MARK = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
TABLES = (
    *("records", "facts", "configs", "instances", "sessions", "runs", "trajectory", "races"),
    *("known", "identities"),
)

_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE lower(tbl_name) IN ({})"


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether the file contains no tables at all."""
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return int(tables) == 0


def check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Reject a file of another program, of another version, or with other tables."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path} is an SQLite file of another program, not a store of paramhs")
    if version != VERSION:
        raise StoreError(
            f"{path} has version {version} of the store's format; this paramhs reads {VERSION}."
            " Read it with the paramhs that made it, or start a new store."
        )
    found, expected = _objects(db), _expected()
    other = sorted(found ^ expected, key=str)
    if other:
        raise StoreError(f"{path}: {DAMAGED} (its {other[0][2]} is not as paramhs makes it).")


def check_pages(db: sqlite3.Connection, path: Path) -> None:
    """Reject a file with damaged tables; each page is visited once, so none is endless."""
    for table in TABLES:
        (found,) = db.execute(f"PRAGMA quick_check({table})").fetchone()
        if found != "ok":
            raise StoreError(f"{path}: {DAMAGED} ({found}).")


def _objects(db: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    """Everything with one of our names, or attached to a table with one."""
    names = ", ".join(f"'{name}'" for name in (*TABLES, "readable"))
    return frozenset(db.execute(_OBJECTS.format(names)))


@cache
def _expected() -> frozenset[tuple[object, ...]]:
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(SCHEMA)
        return _objects(db)
    finally:
        db.close()
