"""Stores that are damaged or made up: every command that reads one works or says so in a message.

The cases of a test are drawn from a stream of its own, so they are the same each time.
PARAMHS_HOSTILE=500 makes 500 of each kind instead of a few.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import paramhs
from paramhs.core.errors import StoreError
from paramhs.core.random_streams import stream
from paramhs.core.type_checks import check_types
from paramhs.execution.storage.stats import summary
from tests.support.hostile_stores import (
    HOSTILE,
    JSON,
    STORES,
    TABLES,
    called,
    check,
    columns,
    copied,
    facts,
    make_folder,
    paths,
    replaced,
    write_cell,
    write_fact,
)

COUNT = int(os.environ.get("PARAMHS_HOSTILE", "6"))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("sound"))


def test_sound_stores_are_read_by_every_command(sound, tmp_path):
    refused, worked = check(copied(sound, tmp_path / "copy"), "sound")
    assert refused == 0
    assert worked > 10


@pytest.mark.parametrize("name", STORES)
def test_any_value_in_any_cell(sound, tmp_path, name):
    rng = stream(0, "hostile cells", name)
    for _ in range(COUNT):
        folder = copied(sound, tmp_path / "copy")
        table, column = rng.choice(columns(folder / name))
        value = rng.choice(HOSTILE)
        if write_cell(folder / name, table, column, value):
            check(folder, f"{name}: {table}.{column} = {value!r:.40}")


@pytest.mark.parametrize("name", STORES)
def test_any_fact_in_any_description(sound, tmp_path, name):
    rng = stream(0, "hostile facts", name)
    for _ in range(COUNT):
        folder = copied(sound, tmp_path / "copy")
        said = facts(folder / name)
        which = rng.choice(sorted(said))
        path = rng.choice(list(paths(said[which])))
        value = rng.choice(JSON)
        write_fact(folder / name, which, replaced(said[which], path, value))
        check(folder, f"{name}: {which}, {path} = {value!r}")


@pytest.mark.parametrize("name", STORES)
def test_any_bytes_anywhere(sound, tmp_path, name):
    rng = stream(0, "hostile bytes", name)
    content = (sound / name).read_bytes()
    for _ in range(COUNT):
        folder = copied(sound, tmp_path / "copy")
        start, length = rng.randrange(len(content)), rng.choice([1, 2, 64, 4096])
        noise = bytes(rng.randrange(256) for _ in range(length))
        cut = rng.random() < 0.2
        spoilt = content[:start] if cut else content[:start] + noise + content[start + length :]
        (folder / name).write_bytes(spoilt)
        check(folder, f"{name}: {length} bytes at {start}")


# What a file of the same name and version could do instead of holding rows.

ENDLESS = "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k) SELECT {} FROM k"


def rebuilt(path, table, statement):
    """The store with something else in place of a table."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
        db.execute("PRAGMA legacy_alter_table = ON")
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        listed = ", ".join(f"n AS {name}" for name in names)
        db.execute(statement.format(name=table, endless=ENDLESS.format(listed)))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW {name} AS {endless}",
        "CREATE VIEW {name} AS SELECT * FROM old_{name}",
        "CREATE VIRTUAL TABLE {name} USING fts5(config, instance)",
    ],
)
def test_anything_but_a_table_is_rejected(sound, tmp_path, table, statement):
    folder = copied(sound, tmp_path / "copy")
    rebuilt(folder / "s.sqlite", table, statement)
    for act in (summary, paramhs.load):
        with pytest.raises(StoreError, match=f"its {table} is not as paramhs makes it"):
            act(folder / "s.sqlite")


def test_an_endless_view_does_not_hang_a_warm_start(sound, tmp_path):
    folder = copied(sound, tmp_path / "copy")
    with closing(sqlite3.connect(folder / "s.sqlite", isolation_level=None)) as db:
        listed = ", ".join(f"n AS {n}" for n in ("config", "instance", "seed", "cutoff", "asked"))
        db.executescript(f"DROP VIEW readable; CREATE VIEW readable AS {ENDLESS.format(listed)}")
    with pytest.raises(StoreError, match="its readable is not as paramhs makes it"):
        called(folder, "tune", "w.toml", "--no-report")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN INSERT INTO configs VALUES (99, 'y'); END",
        "CREATE INDEX i ON runs (abs(runtime))",
    ],
)
def test_what_acts_when_a_table_is_used_is_refused(sound, tmp_path, statement):
    folder = copied(sound, tmp_path / "copy")
    with closing(sqlite3.connect(folder / "s.sqlite", isolation_level=None)) as db:
        db.execute(statement)
    for words in (("show", "s.sqlite"), ("tune", "s.toml", "--no-report")):
        with pytest.raises(StoreError, match="is not as paramhs makes it"):
            called(folder, *words)


def test_tables_and_views_of_ones_own_may_lie_beside(sound, tmp_path):
    folder = copied(sound, tmp_path / "copy")
    with closing(sqlite3.connect(folder / "s.sqlite", isolation_level=None)) as db:
        db.executescript("CREATE TABLE mine (a); CREATE VIEW short AS SELECT count(*) FROM runs")
    refused, _ = check(folder, "tables of one's own")
    assert refused == 0


def test_pages_that_lead_in_circles_are_refused(sound, tmp_path):
    """A page of a tree that is its own child: rows without end in a file of any size."""
    folder = copied(sound, tmp_path / "copy")
    with closing(sqlite3.connect(folder / "s.sqlite", isolation_level=None)) as db:
        row = (
            "SELECT record, config, instance, seed + {0}, cutoff, status, runtime, quality, detail,"
        )
        row += " answer, others, asked + {0}, session, finished, elapsed FROM runs"
        row += " WHERE seed < 2147483648"
        for k in range(1, 40):
            db.execute(f"INSERT OR IGNORE INTO runs {row.format(k * 2**32)}")
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    path = folder / "s.sqlite"
    content = bytearray(path.read_bytes())
    start = (root - 1) * size
    assert content[start] == 2  # an inner page of a tree of keys
    cell = start + int.from_bytes(content[start + 12 : start + 14], "big")
    content[start + 8 : start + 12] = content[cell : cell + 4]  # the last child is the first again
    path.write_bytes(content)
    for act in (summary, paramhs.load):
        with pytest.raises(StoreError, match="damaged"):
            act(path)


# Exit code, and the parts that check.


def test_a_damaged_store_is_a_message_and_exit_code_3(sound, tmp_path):
    from tests.support.command_line import paramhs as run

    folder = copied(sound, tmp_path / "copy")
    write_cell(folder / "s.sqlite", "trajectory", "evidence", "many \x1b[2J")
    for words in (("show", "s.sqlite"), ("report", "s.sqlite"), ("export", "s.sqlite", "--what",
                  "trajectory")):  # fmt: skip
        done = run(*words, cwd=folder)
        assert done.returncode == 3
        assert "the file is damaged" in done.stderr
        assert "Traceback" not in done.stderr
        assert "\x1b" not in done.stderr


def test_types_of_fields_are_checked():
    from paramhs.analysis.verdict import Interval

    check_types(Interval(1.0, 0, float("inf")))
    for wrong in ("1", None, True, 10**30, [1.0]):
        with pytest.raises(ValueError, match="another kind of low"):
            check_types(Interval(1.0, wrong, 2.0))


def test_only_a_file_is_read(tmp_path: Path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(StoreError):
            summary(path)
