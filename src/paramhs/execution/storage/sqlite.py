"""Store in a SQLite file: every run is committed before the search sees it.

The file can be read while it grows, with the sqlite3 shell too (the view `readable` joins all
tables). One process writes. In write-ahead mode a killed process loses nothing; a power failure may
cost the last few runs, never the file.
"""

import json
import os
import sqlite3
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from paramhs.core.errors import StoreError
from paramhs.core.runs import Instance, Point, Run, Status, Task, answer
from paramhs.core.space import Config, Space
from paramhs.core.version import __version__
from paramhs.execution.safe_files import create
from paramhs.execution.storage import SEARCH
from paramhs.execution.storage.connections import connect_to_read, limit, reading
from paramhs.execution.storage.diff import differences
from paramhs.execution.storage.identities import check, note_instance
from paramhs.execution.storage.lock import WriterLock
from paramhs.execution.storage.problems import DAMAGE, believed, explained, trouble
from paramhs.execution.storage.records import (
    ENDED,
    UNFINISHED,
    description_of,
    fact,
    forget_fact,
    put_fact,
    record_id,
    run_counts,
    target_time_of,
    times_of,
)
from paramhs.execution.storage.row_checks import (
    RESULT,
    instance_of,
    is_count,
    key_of,
    result_of,
    run_of,
    storable,
)
from paramhs.execution.storage.schema import MARK, SCHEMA, check_ours, check_pages, is_empty
from paramhs.execution.subject import INSTANCE, Sight, Subject
from paramhs.search.history import Race

# Seconds between looks whether the file is still there: a look may cost as much as a run.
_CHECK_SECONDS = 0.2

_MARKS = ", ".join("?" * 15)

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "afs", "lustre", "gpfs"}
_NETWORK |= {"beegfs", "ceph", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs"}


class SqliteStore:
    """One record in a file; a file with another `description` of its runs is rejected."""

    def __init__(
        self,
        path: str | Path,
        space: Space,
        description: Mapping[str, object],
        subject: Subject | None = None,
        known: Sequence[Run] = (),
        initial: Sequence[Config] = (),
        *,
        record: str = SEARCH,
        accept_changed: bool = False,
    ) -> None:
        self.path = Path(path)
        self._file = self.path.absolute()  # a target may change the folder
        self.space = space
        self._name = record
        self.notices: list[str] = []
        self.sight: Sight | None = None
        self._noted: set[str] = set()
        """Names of the instances whose content is stored."""
        self._open = False
        self._session: int | None = None
        if os.path.isdir(self.path):
            raise StoreError(f"{self.path} is a folder; a store is a file")
        if not os.path.isdir(self.path.parent):
            raise StoreError(f"cannot make {self.path}: there is no folder {self.path.parent}")
        with explained(self.path):
            self._lock = WriterLock(self.path)
        try:
            with believed(self.path):
                self._connect()
                new = self._is_new(description)
                if new:
                    self._keep_known(known, initial)
                if subject is not None:
                    self._check_subject(subject, accept_changed, new)
                for run in known if new else ():
                    self._note(run.task.instance)
                self._load()
                self._identity, self._next_look = _identity(self._file), 0.0
        except BaseException:
            self.close()
            raise

    def _make_file(self) -> None:
        """Create the file unless a store exists; only a link to a store is followed."""
        if not os.path.lexists(self.path):
            create(self.path)
        elif not os.path.isfile(self.path):
            raise StoreError(f"{self.path} is neither a file nor a link to one")
        elif os.path.islink(self.path) and os.path.getsize(self.path) == 0:
            raise StoreError(f"{self.path} is a symbolic link to an empty file; remove it")

    def _connect(self) -> None:
        self._make_file()
        self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10)
        self._open = True
        limit(self._db)
        if is_empty(self._db):
            self._db.executescript(f"BEGIN; {SCHEMA} {MARK} COMMIT;")
        check_ours(self._db, self.path)
        check_pages(self._db, self.path)
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
        """Whether the record is new; an existing one must have the same description."""
        now = json.loads(json.dumps(description))
        then = description_of(self._db, self._name)
        if then is None:
            self._db.execute(
                "INSERT INTO records (name, description, version) VALUES (?, ?, ?)",
                (self._name, json.dumps(now), __version__),
            )
        self._record = record_id(self._db, self._name)
        if then is None:
            return True
        changed = differences(then, now)
        if changed:
            lines = "\n  ".join(changed)
            raise StoreError(
                f"{self.path} holds runs of another scenario; the difference is\n  {lines}\n"
                f"Use another store (--warm-start {self.path} takes the runs that still mean the"
                " same), or change the scenario back."
            )
        return False

    def _keep_known(self, runs: Sequence[Run], initial: Sequence[Config]) -> None:
        """Store the runs and configurations known before the search."""
        rows = [
            (
                *(self._record, position),
                *(run.task.config.key, run.task.instance.name, run.task.seed, run.task.cutoff),
                *result_of(run),
            )
            for position, run in enumerate(runs)
        ]
        self._db.execute("BEGIN")
        put_fact(self._db, self._name, "initial", [config.key for config in initial])
        self._db.executemany("INSERT INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def _check_subject(self, subject: Subject, accept: bool, new: bool) -> None:
        """Reject a store whose runs were made with another program or other instances."""
        self.sight, notices = check(
            self._db, self.path, self._name, subject, accept=accept, new=new
        )
        self.notices += notices
        rows = self._db.execute(
            "SELECT name FROM identities WHERE record = ? AND kind = ?", (self._record, INSTANCE)
        )
        self._noted = {name for (name,) in rows}

    def _note(self, instance: Instance) -> None:
        """Store the content of an instance before its first run."""
        if self.sight is None or instance.name in self._noted:
            return
        self._noted.add(instance.name)
        unknown = len(self.sight.unknown)
        (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM sessions").fetchone()
        session = int(last) + (self._session is None)
        note_instance(self._db, self._name, self.sight, instance, session)
        self.notices += map(self._cannot_notice, self.sight.unknown[unknown:])

    def _cannot_notice(self, what: str) -> str:
        return f"{self.path} cannot notice changes of what has no content to compare: {what}"

    def _load(self) -> None:
        self._configs = dict(self._db.execute("SELECT key, id FROM configs"))
        self._instances = dict(self._db.execute("SELECT name, id FROM instances"))
        times = times_of(self._db, self._record)
        self._last_asked = times.asked[-1] if times.asked else -1
        # Indexed by request. A request that the run of another one has answered has no row, and 0
        # here.
        elapsed = array("d", bytes(8 * (self._last_asked + 1)))
        for number, seconds in zip(times.asked, times.elapsed, strict=True):
            elapsed[number] = seconds
        self.elapsed: Sequence[float] = elapsed
        self.wall_time, self._sessions = times.wall_time, times.sessions
        self._sum_target_time()
        self._began = time.monotonic()
        self._started = time.time()

    def _sum_target_time(self) -> None:
        self.target_time = target_time_of(self._db, self._name)

    def add_time(self, seconds: float) -> None:
        """Add to the target time that of a run ended without a result."""
        with explained(self.path):
            before = fact(self._db, self._name, UNFINISHED) or 0.0
            put_fact(self._db, self._name, UNFINISHED, before + seconds)
            self.target_time += seconds

    @property
    def sessions(self) -> int:
        """Number of sessions that stored runs, at least one."""
        return max(1, self._sessions + (self._session is not None))

    @property
    def unasked(self) -> int:
        """Number of stored runs that were never requested."""
        with explained(self.path):
            (count,) = self._db.execute(
                "SELECT count(*) FROM runs WHERE record = ? AND asked IS NULL", (self._record,)
            ).fetchone()
        return int(count)

    def get(self, task: Task, asked: int | None = None) -> Run | None:
        """Stored answer to a task.

        It is the run with the smallest sufficient cutoff. A search repeats a request only with
        larger cutoffs, and only until the run is not capped. So later runs with larger cutoffs
        change no answer, and a replay gives the same.
        """
        # On a replay the search asks again in the same order, and each row remembers at which
        # request it was used (`asked`). If the row found was used elsewhere, or never, the request
        # at this position must not have been another one: `_check_way` raises if it was. A run that
        # idle workers made ahead of time gets its position when the search first requests it.
        key = self._key(task)
        try:
            if task.instance.name not in self._noted:
                self._note(task.instance)
            found, row = self._answer(task, key) if None not in key else (None, None)
            if asked is not None and (row is None or row[1] != asked):
                self._check_way(task, asked)
                if row is not None and row[1] is None:
                    self._db.execute(
                        "UPDATE runs SET asked = ?"
                        " WHERE record = ? AND config = ? AND instance = ? AND seed = ?"
                        " AND cutoff = ?",
                        (asked, self._record, *key[:3], row[0]),
                    )
            return found
        except (sqlite3.Error, *DAMAGE) as error:
            raise trouble(self.path, error) from error

    def _answer(
        self, task: Task, key: tuple[object, ...]
    ) -> tuple[Run, tuple[Any, ...]] | tuple[None, None]:
        rows = self._db.execute(
            f"SELECT cutoff, asked, {RESULT} FROM runs"  # noqa: S608
            " WHERE record = ? AND config = ? AND instance = ? AND seed = ? ORDER BY cutoff",
            (self._record, *key[:3]),
        ).fetchall()
        for row in rows:
            made = run_of(task.config, task.instance, task.seed, row[0], row[2:])
            found = answer(made, task)
            if found is not None:
                return found, row
        return None, None

    def _key(self, task: Task) -> tuple[int | None, int | None, int, float]:
        config = self._configs.get(storable(task.config.key))
        return config, self._instances.get(storable(task.instance.name)), task.seed, task.cutoff

    def _check_way(self, task: Task, asked: int) -> None:
        """Reject a search that requests another run than it did before."""
        if asked > self._last_asked:
            return
        then = self._db.execute(
            "SELECT config, instance, seed FROM readable WHERE record = ? AND asked = ?",
            (self._name, asked),
        ).fetchone()
        if then is not None:
            now = (task.config.key, task.instance.name, task.seed)
            raise self._diverged(f"run {asked + 1:,}", _worded(*then), _worded(*now))

    def _diverged(self, where: str, then: str, now: str) -> StoreError:
        (version,) = self._db.execute(
            "SELECT version FROM records WHERE id = ?", (self._record,)
        ).fetchone()
        other = f" with paramhs {version} (this is {__version__})" if version != __version__ else ""
        return StoreError(
            f"{self.path} was made by a different search{other}: at {where} it had\n"
            f"  {then}\nand now it has\n  {now}\n"
            "Something that determines the search has changed and is not part of its description."
            " Continue with the program that made the store, or start another store with"
            " warm_start = [this one], which reuses its runs."
        )

    def put(self, run: Run, asked: int | None = None) -> float:
        """Keep a run; the first answer to a task stays. One statement, so it is there or not."""
        with explained(self.path):
            elapsed = time.monotonic() - self._began
            # A file that was deleted or replaced can still be written while it is open, and all of
            # it would be lost at the end. So its name is checked now and then.
            if elapsed >= self._next_look:
                self._next_look = elapsed + _CHECK_SECONDS
                if _identity(self._file) != self._identity:
                    raise self._rescue()
            self._insert(run, asked, elapsed)
        return self.wall_time + elapsed

    def put_past(self, run: Run, asked: int, elapsed: float) -> None:
        """Keep a run that another program made, with the seconds from the beginning to its end."""
        with explained(self.path):
            self._insert(run, asked, elapsed)

    def _insert(self, run: Run, asked: int | None, elapsed: float) -> None:
        task = run.task
        row = (
            self._record,
            self._id(self._configs, "configs (key)", task.config.key),
            self._id(self._instances, "instances (name)", task.instance.name),
            *(task.seed, task.cutoff),
            *result_of(run),
            *(asked, self._session_id(), time.time(), elapsed),
        )
        insert = f"INSERT OR IGNORE INTO runs VALUES ({_MARKS})"  # noqa: S608
        if self._db.execute(insert, row).rowcount:
            self.target_time += run.runtime

    def relabel(self, run: Run, limit: float) -> None:
        """Replace the status of a stored run by the one that follows from its answer."""
        config, instance, seed, _ = self._key(run.task)
        status, _, _, detail, answer, _ = result_of(run)
        late = ("capped", "timeout") if run.status in (Status.TIMEOUT, Status.CAPPED) else ()
        # The rows of a call may have several cutoffs. What reached one below the scenario's was
        # capped.
        below, else_ = late or (status, status)
        with explained(self.path):
            self._db.execute(
                "UPDATE runs SET status = iif(cutoff < ?, ?, ?), detail = ? WHERE record = ?"
                " AND config = ? AND instance = ? AND seed = ? AND status = 'ok' AND answer IS ?",
                (limit, below, else_, detail, self._record, config, instance, seed, answer),
            )

    def _rescue(self) -> StoreError:
        """Save the runs of a store whose file is gone but still open here; name the new file."""
        names = (self._file.with_name(f"{self.path.stem}.rescued{k or ''}.sqlite") for k in count())
        rescue = next(path for path in names if not os.path.lexists(path))
        create(rescue)
        with closing(sqlite3.connect(rescue)) as copy:
            self._db.backup(copy)
        return StoreError(
            f"{self.path} was deleted or replaced while the search was writing it. All its runs"
            f" were saved as {rescue}: put that in its place to resume."
        )

    def _id(self, known: dict[str, int], column: str, name: str) -> int:
        name = storable(name)
        found = known.get(name)
        if found is None:
            cursor = self._db.execute(f"INSERT INTO {column} VALUES (?)", (name,))  # noqa: S608
            found = known[name] = int(cursor.lastrowid or 0)
        return found

    def _session_id(self) -> int:
        if self._session is None:
            # A session begins with its first stored run, so a search that only replays adds none.
            # From here on the search goes further than where it had ended.
            forget_fact(self._db, self._name, ENDED)
            cursor = self._db.execute(
                "INSERT INTO sessions (record, started) VALUES (?, ?)",
                (self._record, self._started),
            )
            self._session = int(cursor.lastrowid or 0)
        return self._session

    def forget(self, tasks: Iterable[Task]) -> None:
        """Remove the runs of tasks."""
        with explained(self.path):
            self._db.executemany(
                "DELETE FROM runs WHERE record = ? AND config = ? AND instance = ? AND seed = ?"
                " AND cutoff = ?",
                [(self._record, *self._key(task)) for task in tasks],
            )
            self._sum_target_time()

    def record(self, position: int, point: Point) -> None:
        """Store a step of the trajectory; an existing one must be the same."""
        with explained(self.path):
            config = self._id(self._configs, "configs (key)", point.config.key)
            then = self._db.execute(
                "SELECT key, runs FROM trajectory JOIN configs ON configs.id = config"
                " WHERE record = ? AND position = ?",
                (self._record, position),
            ).fetchone()
            now = (storable(point.config.key), point.runs)
            if then not in (None, now):
                words = [f"{key} after {runs:,} runs" for key, runs in (then, now)]
                raise self._diverged(f"incumbent {position + 1}", *words)
            self._db.execute(
                "INSERT OR REPLACE INTO trajectory VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self._record, position, config, *point[1:]),
            )

    def record_references(self, count: int) -> None:
        """Store the number of reference runs; a repeated search counts from 0 again."""
        with explained(self.path):
            self._db.execute(
                "INSERT INTO facts VALUES (?, 'references', ?) ON CONFLICT (record, name) DO UPDATE"
                " SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
                (self._record, str(count)),
            )

    def record_race(self, position: int, race: Race) -> None:
        """Store a decided race; an existing one must be the same."""
        with explained(self.path):
            row = (
                self._id(self._configs, "configs (key)", race.challenger.key),
                self._id(self._configs, "configs (key)", race.incumbent.key),
                int(race.won),
                race.asked,
            )
            then = self._db.execute(
                "SELECT challenger, incumbent, won, asked FROM races"
                " WHERE record = ? AND position = ?",
                (self._record, position),
            ).fetchone()
            if then is None:
                self._db.execute(
                    "INSERT INTO races VALUES (?, ?, ?, ?, ?, ?)", (self._record, position, *row)
                )
            elif then != row:
                words = (
                    f"{'a win' if w else 'a loss'} after {n:,} runs" for *_, w, n in (then, row)
                )
                raise self._diverged(f"race {position + 1:,}", *words)

    def __len__(self) -> int:
        with explained(self.path), closing(connect_to_read(self._file)) as db:
            return run_counts(db)[self._name]

    def __iter__(self) -> Iterator[Run]:
        """All runs, in no particular order; also after the store was closed."""
        yield from read_runs(self._file, self.space, self._name)

    def close(self) -> None:
        """Release the store for the next writer; a second call does nothing."""
        if self._open:
            self._open = False
            # The journal mode stays if another process reads the file, or if it is not ours.
            with suppress(sqlite3.Error, *DAMAGE):
                self._db.execute("PRAGMA journal_mode = DELETE")  # one file, easy to copy
            with suppress(sqlite3.Error, *DAMAGE):
                self._db.close()
        self._lock.release()


def _identity(path: Path) -> tuple[int, int]:
    """Device and inode of a file; zeros if it is gone."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def _worded(config: str, instance: str, seed: int) -> str:
    return f"{config} on {instance}, seed {seed}"


def read_runs(path: Path, space: Space, record: str = SEARCH) -> Iterator[Run]:
    """Read the runs of a record in a file, given their space."""
    with reading(path) as db:
        yield from (run for _, run in rows(db, record, space))


def rows(db: sqlite3.Connection, record: str, space: Space) -> Iterator[tuple[int | None, Run]]:
    """Yield every run of a record with the position at which it was requested."""
    configs: dict[str, Config] = {}
    for asked, key, name, seed, cutoff, *result in db.execute(
        f"SELECT asked, key, name, seed, cutoff, {RESULT} FROM runs"  # noqa: S608
        " JOIN configs ON configs.id = config JOIN instances ON instances.id = instance"
        " WHERE record = ?",
        (record_id(db, record),),
    ):
        if asked is not None and not is_count(asked):
            raise ValueError(f"no run is the {asked!r}th")
        if key not in configs:
            configs[key] = space.from_key(key_of(key))
        yield asked, run_of(configs[key], instance_of(name), seed, cutoff, result)


def file_system(path: Path) -> str:
    """Type of the file system of a path, as the system names it; '' if unknown."""
    resolved = path.absolute().resolve()
    mounts = [m for m in psutil.disk_partitions(all=True) if resolved.is_relative_to(m.mountpoint)]
    return max(mounts, key=lambda m: len(m.mountpoint)).fstype if mounts else ""
