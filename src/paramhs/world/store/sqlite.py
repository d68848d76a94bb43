"""Runs in a SQLite file: every run is committed before the search sees it.

The file can be read while it grows, with the sqlite3 shell too (the view `readable` joins all). One
process writes. In write-ahead mode a killed process loses nothing; a power failure may cost the
last few runs, never the file.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from paramhs.values.errors import BadInput, StoreError
from paramhs.values.runs import Instance, Point, Run, Status, Task, answer
from paramhs.values.space import Config, Space
from paramhs.values.version import __version__
from paramhs.world.store.differences import differences
from paramhs.world.store.lock import WriterLock

APPLICATION = 0x70686873  # marks the file as ours
VERSION = 2

_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE configs (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE instances (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, started REAL NOT NULL);
CREATE TABLE runs (
  config INTEGER NOT NULL REFERENCES configs, instance INTEGER NOT NULL REFERENCES instances,
  seed INTEGER NOT NULL, cutoff REAL NOT NULL,
  status TEXT NOT NULL, runtime REAL NOT NULL, quality REAL, detail TEXT NOT NULL,
  asked INTEGER, session INTEGER NOT NULL REFERENCES sessions,
  finished REAL NOT NULL, elapsed REAL NOT NULL,
  PRIMARY KEY (config, instance, seed, cutoff)) WITHOUT ROWID;
CREATE TABLE trajectory (
  position INTEGER PRIMARY KEY, config INTEGER NOT NULL REFERENCES configs,
  runs INTEGER NOT NULL, target_time REAL NOT NULL, cost REAL, evidence INTEGER NOT NULL);
CREATE TABLE known (
  position INTEGER PRIMARY KEY, config TEXT NOT NULL, instance TEXT NOT NULL, seed INTEGER NOT NULL,
  cutoff REAL NOT NULL, status TEXT NOT NULL, runtime REAL NOT NULL, quality REAL,
  detail TEXT NOT NULL);
CREATE VIEW readable AS
  SELECT configs.key AS config, instances.name AS instance, seed, cutoff, status, runtime, quality,
    detail, asked, session, datetime(finished, 'unixepoch') AS finished
  FROM runs JOIN configs ON configs.id = runs.config JOIN instances ON instances.id = runs.instance;
"""
_MARK = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"

# Seconds between looks whether the file is still there: a look may cost as much as a run.
_LOOK = 0.2

_STATUS = {status.value: status for status in Status}
_MARKS = ", ".join("?" * 12)

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "afs", "lustre", "gpfs"}
_NETWORK |= {"beegfs", "ceph", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs"}


class SqliteStore:
    """The runs of one scenario. `description` says which; a file of another is refused."""

    def __init__(
        self,
        path: str | Path,
        space: Space,
        description: Mapping[str, object],
        source: str = "",
        known: Sequence[Run] = (),
        initial: Sequence[Config] = (),
    ) -> None:
        self.path = Path(path)
        self._file = self.path.absolute()  # a target may change the folder
        self.space = space
        self.notices: list[str] = []
        self._open = False
        if os.path.isdir(self.path):
            raise StoreError(f"{self.path} is a folder; a store is a file")
        if not os.path.isdir(self.path.parent):
            raise StoreError(f"cannot make {self.path}: there is no folder {self.path.parent}")
        with explained(self.path):
            self._lock = WriterLock(self.path)
        try:
            with explained(self.path):
                self._connect()
                if self._is_new(description):
                    self._keep_known(known, initial)
                self._check_source(source)
                self._load()
                self._identity, self._next_look = _identity(self._file), 0.0
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        self._open = True
        if is_empty(self._db):
            self._db.executescript(f"BEGIN; {_SCHEMA} {_MARK} COMMIT;")
        check_ours(self._db, self.path)
        kind = file_system(self.path)
        if kind in _NETWORK:
            self.notices.append(
                f"{self.path} lies on a network file system ({kind}): writing is slower there, and"
                " safe only if its locks work; a local disk is better"
            )
            self._db.execute("PRAGMA journal_mode = DELETE")
        else:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")

    def _is_new(self, description: Mapping[str, object]) -> bool:
        """Whether nothing has begun here; what was begun must be the same."""
        now = json.loads(json.dumps(description))
        row = self._db.execute("SELECT value FROM about WHERE name = 'scenario'").fetchone()
        if row is None:
            facts = [("scenario", json.dumps(now)), ("version", __version__)]
            self._db.executemany("INSERT INTO about VALUES (?, ?)", facts)
            return True
        changed = differences(json.loads(row[0]), now)
        if changed:
            lines = "\n  ".join(changed)
            raise StoreError(
                f"{self.path} holds runs of another scenario; the difference is\n  {lines}\n"
                "Use another store, or change the scenario back."
            )
        return False

    def _keep_known(self, runs: Sequence[Run], initial: Sequence[Config]) -> None:
        """Keep what the search begins with."""
        rows = [
            (
                *(run.task.config.key, run.task.instance.name, run.task.seed, run.task.cutoff),
                *(run.status.value, run.runtime, run.quality, run.detail),
            )
            for run in runs
        ]
        self._db.execute("BEGIN")
        keys = json.dumps([config.key for config in initial])
        self._db.execute("INSERT INTO about VALUES ('initial', ?)", (keys,))
        self._db.executemany("INSERT INTO known VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def _check_source(self, source: str) -> None:
        row = self._db.execute("SELECT value FROM about WHERE name = 'source'").fetchone()
        if row is None:
            self._db.execute("INSERT INTO about VALUES ('source', ?)", (source,))
        elif source and row[0] and row[0] != source:
            self.notices.append(
                f"the target's code is not what it was when {self.path} was begun; runs made before"
                " are used as they are (use another store to start afresh)"
            )

    def _load(self) -> None:
        self._configs = dict(self._db.execute("SELECT key, id FROM configs"))
        self._instances = dict(self._db.execute("SELECT name, id FROM instances"))
        (last,) = self._db.execute("SELECT max(asked) FROM runs").fetchone()
        self._last_asked = -1 if last is None else int(last)
        self._order: dict[int, Run] | None = None
        self.wall_time = self._wall_time()
        self._sum_target_time()
        self._began = time.monotonic()
        self._started = time.time()
        self._session: int | None = None

    def _sum_target_time(self) -> None:
        (self.target_time,) = self._db.execute("SELECT total(runtime) FROM runs").fetchone()

    def _wall_time(self) -> float:
        """Seconds that earlier sessions took, each up to the last run it stored, by a clock that
        nobody can set."""
        (seconds,) = self._db.execute(
            "SELECT total(last) FROM (SELECT max(elapsed) AS last FROM runs GROUP BY session)"
        ).fetchone()
        return float(seconds)

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """The stored answer to a task.

        It is that of the run with the smallest cutoff that has one. A search asks for the same with
        larger cutoffs only, and only until it is not cut short. So runs that are made later, with
        larger cutoffs, change no answer, and a replay has the same.
        """
        key = self._key(task)
        try:
            found, row = self._answer(task, key) if None not in key else (None, None)
            if asked is not None and (row is None or row[5] != asked):
                self._check_way(task, asked)
                if row is not None and row[5] is None:
                    self._db.execute(
                        "UPDATE runs SET asked = ?"
                        " WHERE config = ? AND instance = ? AND seed = ? AND cutoff = ?",
                        (asked, *key[:3], row[0]),
                    )
            return found
        except (sqlite3.Error, *_DAMAGE) as error:
            raise _trouble(self.path, error) from error

    def _answer(
        self, task: Task, key: tuple[object, ...]
    ) -> tuple[Run, tuple[Any, ...]] | tuple[None, None]:
        rows = self._db.execute(
            "SELECT cutoff, status, runtime, quality, detail, asked FROM runs"
            " WHERE config = ? AND instance = ? AND seed = ? ORDER BY cutoff",
            key[:3],
        ).fetchall()
        for row in rows:
            made = Run(task._replace(cutoff=row[0]), _STATUS[row[1]], *row[2:5])
            found = answer(made, task)
            if found is not None:
                return found, row
        return None, None

    def _key(self, task: Task) -> tuple[int | None, int | None, int, float]:
        config = self._configs.get(_text(task.config.key))
        return config, self._instances.get(_text(task.instance.name)), task.seed, task.cutoff

    def _check_way(self, task: Task, asked: int) -> None:
        """Refuse to go on where the search asks for another run than it did before."""
        if asked > self._last_asked:
            return
        then = self._db.execute(
            "SELECT config, instance, seed FROM readable WHERE asked = ?", (asked,)
        ).fetchone()
        if then is not None:
            now = (task.config.key, task.instance.name, task.seed)
            raise self._diverged(f"run {asked + 1:,}", _worded(*then), _worded(*now))

    def _diverged(self, where: str, then: str, now: str) -> StoreError:
        (version,) = self._db.execute("SELECT value FROM about WHERE name = 'version'").fetchone()
        other = f" with paramhs {version} (this is {__version__})" if version != __version__ else ""
        return StoreError(
            f"{self.path} was made by a search that went another way{other}: at {where} it had\n"
            f"  {then}\nand now it has\n  {now}\n"
            "Something that decides the search has changed without saying so. Go on with what made"
            " the store, or begin another with warm_start = [this one]: its runs are used again."
        )

    def put(self, run: Run, asked: int | None = None) -> None:
        """Keep a run; the first answer to a task stays. One statement, so it is there or not."""
        task = run.task
        with explained(self.path):
            elapsed = time.monotonic() - self._began
            if elapsed >= self._next_look:
                self._next_look = elapsed + _LOOK
                if _identity(self._file) != self._identity:
                    raise self._rescue()
            row = (
                self._id(self._configs, "configs (key)", task.config.key),
                self._id(self._instances, "instances (name)", task.instance.name),
                *(task.seed, task.cutoff),
                *(run.status.value, run.runtime, run.quality, _text(run.detail), asked),
                *(self._session_id(), time.time(), elapsed),
            )
            insert = f"INSERT OR IGNORE INTO runs VALUES ({_MARKS})"  # noqa: S608
            if self._db.execute(insert, row).rowcount:
                self.target_time += run.runtime

    def arrived(self, position: int) -> Run | None:
        """The run that was put as this one asked for, in an earlier session."""
        if position > self._last_asked:
            return None
        if self._order is None:
            with explained(self.path):
                self._order = dict(read_order(self._db, self.space))
        return self._order.get(position)

    def _rescue(self) -> StoreError:
        """Save the runs of a store whose file is gone, for it is still open here; say where."""
        names = (self._file.with_name(f"{self.path.stem}.rescued{k or ''}.sqlite") for k in count())
        rescue = next(path for path in names if not path.exists())
        with closing(sqlite3.connect(rescue)) as copy:
            self._db.backup(copy)
        return StoreError(
            f"{self.path} was deleted or replaced while the search was writing it. All its runs"
            f" were saved as {rescue}: put that in its place to go on."
        )

    def _id(self, known: dict[str, int], column: str, name: str) -> int:
        name = _text(name)
        found = known.get(name)
        if found is None:
            cursor = self._db.execute(f"INSERT INTO {column} VALUES (?)", (name,))  # noqa: S608
            found = known[name] = int(cursor.lastrowid or 0)
        return found

    def _session_id(self) -> int:
        if self._session is None:
            cursor = self._db.execute("INSERT INTO sessions (started) VALUES (?)", (self._started,))
            self._session = int(cursor.lastrowid or 0)
        return self._session

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""
        with explained(self.path):
            self._db.executemany(
                "DELETE FROM runs WHERE config = ? AND instance = ? AND seed = ? AND cutoff = ?",
                [self._key(task) for task in tasks],
            )
            self._sum_target_time()

    def record(self, position: int, point: Point) -> None:
        """Keep a step of the trajectory; one that is there must be the same."""
        with explained(self.path):
            config = self._id(self._configs, "configs (key)", point.config.key)
            then = self._db.execute(
                "SELECT key, runs FROM trajectory JOIN configs ON configs.id = config"
                " WHERE position = ?",
                (position,),
            ).fetchone()
            now = (_text(point.config.key), point.runs)
            if then not in (None, now):
                words = [f"{key} after {runs:,} runs" for key, runs in (then, now)]
                raise self._diverged(f"incumbent {position + 1}", *words)
            self._db.execute(
                "INSERT OR REPLACE INTO trajectory VALUES (?, ?, ?, ?, ?, ?)",
                (position, config, *point[1:]),
            )

    def __len__(self) -> int:
        with explained(self.path), closing(connect_to_read(self._file)) as db:
            (count,) = db.execute("SELECT count(*) FROM runs").fetchone()
        return int(count)

    def __iter__(self) -> Iterator[Run]:
        """All runs, in no particular order; also after the store was closed."""
        yield from read_runs(self._file, self.space)

    def close(self) -> None:
        """Let the next writer in; a second time does nothing."""
        if self._open:
            self._open = False
            # It stays as it is where somebody reads it, or it is none of ours.
            with suppress(sqlite3.Error, *_DAMAGE):
                self._db.execute("PRAGMA journal_mode = DELETE")  # one file, easy to copy
            with suppress(sqlite3.Error, *_DAMAGE):
                self._db.close()
        self._lock.release()


def _identity(path: Path) -> tuple[int, int]:
    """Which file it is, whatever its name; of one that is gone, none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def _worded(config: str, instance: str, seed: int) -> str:
    return f"{config} on {instance}, seed {seed}"


def _text(text: str) -> str:
    """Text that UTF-8 can write: file names may hold bytes that it cannot."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def read_runs(path: Path, space: Space) -> Iterator[Run]:
    """The runs in a file, given the space they are of."""
    configs: dict[str, Config] = {}
    with explained(path), closing(connect_to_read(path)) as db:
        for key, name, seed, cutoff, status, *answer in db.execute(
            "SELECT configs.key, instances.name, seed, cutoff, status, runtime, quality, detail"
            " FROM runs JOIN configs ON configs.id = config"
            " JOIN instances ON instances.id = instance"
        ):
            if key not in configs:
                configs[key] = space.from_key(key)
            task = Task(configs[key], Instance(name), seed, cutoff)
            yield Run(task, _STATUS[status], *answer)


def read_order(db: sqlite3.Connection, space: Space) -> Iterator[tuple[int, Run]]:
    """As which one the search asked for each run."""
    for asked, key, name, seed, cutoff, status, *result in db.execute(
        "SELECT asked, key, name, seed, cutoff, status, runtime, quality, detail FROM runs"
        " JOIN configs ON configs.id = config JOIN instances ON instances.id = instance"
        " WHERE asked IS NOT NULL"
    ):
        task = Task(space.from_key(key), Instance(name), seed, cutoff)
        yield asked, Run(task, _STATUS[status], *result)


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a store without changing anything."""
    if os.path.isdir(path):
        raise StoreError(f"{path} is a folder, not a store")
    if not os.path.exists(path):
        raise StoreError(f"there is no store {path}")
    if os.path.getsize(path) == 0:
        raise StoreError(f"{path} is empty: no search has begun in it")
    uri = path.absolute().as_uri()
    db = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=10)
    try:
        check_ours(db, path)
    except sqlite3.OperationalError:  # in a folder that cannot be written; nobody writes the file
        if path.with_name(path.name + "-wal").exists():
            raise
        db = sqlite3.connect(f"{uri}?immutable=1", uri=True)
        check_ours(db, path)
    return db


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever made in this file."""
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return int(tables) == 0


def check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file of another program or of another version."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path} is an SQLite file of another program, not a store of paramhs")
    if version != VERSION:
        raise StoreError(
            f"{path} has version {version} of the store's format; this paramhs reads {VERSION}"
        )


def file_system(path: Path) -> str:
    """The kind of file system a path lies on, as the system calls it; '' if unknown."""
    resolved = path.absolute().resolve()
    mounts = [m for m in psutil.disk_partitions(all=True) if resolved.is_relative_to(m.mountpoint)]
    return max(mounts, key=lambda m: len(m.mountpoint)).fstype if mounts else ""


DAMAGED = "the file is damaged; `sqlite3 FILE .recover` may rescue its runs"
# No text, description or number, no value of a parameter, a status unheard of, an absurd length.
_DAMAGE = (ValueError, BadInput, KeyError, MemoryError)
_CAUSES = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk cannot be written or read",
    "SQLITE_READONLY": "it cannot be written: the file or its folder is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened: check the folder and its permissions",
    "SQLITE_NOTADB": "it is not an SQLite file",
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_BUSY": "another program is using it",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the file system or SQLite says into a message for people."""
    try:
        yield
    except (sqlite3.Error, OSError, *_DAMAGE) as error:
        raise _trouble(path, error) from error


def _trouble(path: Path, error: Exception) -> StoreError:
    if isinstance(error, OSError):
        cause = f"it cannot be used: {error.strerror or error}"
    elif isinstance(error, _DAMAGE):
        cause = f"{DAMAGED} ({error})"
    else:
        name = getattr(error, "sqlite_errorname", "")
        known = next((text for code, text in _CAUSES.items() if name.startswith(code)), "")
        cause = f"{known} ({error})" if known else str(error)
    safe = "" if DAMAGED in cause else " Runs already stored are safe."
    return StoreError(f"{path}: {cause}.{safe}")
