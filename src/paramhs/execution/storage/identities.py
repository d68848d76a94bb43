"""Identities of stored runs: what they were made with, by content, and later changes.

Each part of a target and each instance is a row: its digest, since when it holds, and from which
session on. An instance gets its row before its first run, so one without a row has no runs to
protect. A change is rejected. If the user accepts it, it is recorded, and the row starts anew.
"""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paramhs.core.errors import StoreError
from paramhs.core.runs import Instance
from paramhs.core.text.numbers import counted, printable
from paramhs.execution.file_digests import Content, Stamp
from paramhs.execution.storage.records import fact, put_fact, record_id
from paramhs.execution.storage.row_checks import is_count, storable
from paramhs.execution.subject import INSTANCE, TARGET, Key, Sight, Subject

ACCEPTED = "accepted"
_MAX_NAMES = 5  # instances named in a message
_DIGEST_LENGTH = 32  # length from which a content is a digest, which is meaningless to people

_MAX_TIME = 1e11  # seconds since 1970; no clock shows more


class Row(NamedTuple):
    """Stored facts about one part."""

    content: Content
    since: float
    session: int


class Change(NamedTuple):
    """A part that has changed."""

    kind: str
    name: str
    how: str
    since: float

    @property
    def text(self) -> str:
        """Describe the change in words."""
        return f"{self.name} {self.how} (runs stored since {when(self.since)})"


class Comparison(NamedTuple):
    """A subject compared with the stored one."""

    rows: Mapping[Key, Row]
    now: Mapping[Key, Content]
    changes: tuple[Change, ...]

    @property
    def of_target(self) -> tuple[Change, ...]:
        """Changes of the target, which affect all runs."""
        return tuple(change for change in self.changes if change.kind == TARGET)

    @property
    def instances(self) -> frozenset[str]:
        """Names of the instances that changed."""
        return frozenset(change.name for change in self.changes if change.kind == INSTANCE)


def compare(db: sqlite3.Connection, record: str, subject: Subject) -> tuple[Comparison, Sight]:
    """Compare a subject with the stored one of a record, without writing.

    Of the instances, only those with a row are compared: no other has been run.
    """
    rows = _rows(db, record)
    sight = Sight(subject)
    used = _used(rows, subject.instances)
    sight.look({key: row.content for key, row in rows.items()}, used)
    keys = dict.fromkeys([(TARGET, n) for n in subject.parts] + [*sight.contents, *sight.values])
    now = {_key(key): content for key in keys if (content := _content(sight, key))}
    return Comparison(rows, now, tuple(_changes(rows, now, used))), sight


def _content(sight: Sight, key: Key) -> Content | None:
    """Content of the part, the value and the file of this name; None if there is none of them."""
    parts = sight.subject.parts if key[0] == TARGET else {}
    part, file = parts.get(key[1], sight.values.get(key)), sight.contents.get(key)
    if file is not None:
        return _joined(part, file)
    return None if part is None else Content(storable(part))


def _used(rows: Mapping[Key, Row], instances: Sequence[Instance]) -> Sequence[Instance]:
    """Instances with a row."""
    names = {name for kind, name in rows if kind == INSTANCE}
    return [i for i in instances if storable(i.name) in names] if names else ()


def note_instance(
    db: sqlite3.Connection, record: str, sight: Sight, instance: Instance, session: int
) -> None:
    """Store the content of an instance before its first run."""
    sight.look_at_instance(instance)
    content = _content(sight, (INSTANCE, instance.name))
    if content is None:
        return
    row = (
        INSTANCE,
        storable(instance.name),
        content.digest,
        _written(content.stamp),
        time.time(),
        session,
    )
    db.execute(
        "INSERT OR IGNORE INTO identities VALUES (?, ?, ?, ?, ?, ?, ?)",
        (record_id(db, record), *row),
    )


def _key(key: Key) -> Key:
    return key[0], storable(key[1])


def _joined(part: str | None, content: Content) -> Content:
    return content if part is None else Content(f"{part}; {content.digest}")


def _changes(
    rows: Mapping[Key, Row], now: Mapping[Key, Content], used: Sequence[Instance]
) -> list[Change]:
    present = {_key((INSTANCE, instance.name)) for instance in used}
    began = min((row.since for row in rows.values()), default=0.0)
    found = []
    for key, row in rows.items():
        if key not in now:
            if key[0] == TARGET or key in present:
                found.append(Change(*key, "is gone", row.since))
        elif now[key].digest != row.content.digest:
            how = _difference(row.content.digest, now[key].digest)
            found.append(Change(*key, how, row.since))
    if rows:
        new = (key for key in now if key[0] == TARGET and key not in rows)
        found += [Change(*key, "is new", began) for key in new]
    return found


def _difference(then: str, now: str) -> str:
    if max(len(then), len(now)) >= _DIGEST_LENGTH:
        return "changed"
    return f"was {printable(then)} and is {printable(now)}"


def check(
    db: sqlite3.Connection, path: Path, record: str, subject: Subject, *, accept: bool, new: bool
) -> tuple[Sight, list[str]]:
    """Reject a record whose runs were made with something else; store new parts.

    A `new` record has no runs except those it was given. Returns the state of the files, and
    notices.
    """
    number = record_id(db, record) or 0
    compared, sight = compare(db, record, subject)
    begun = not new and _has_runs(db, number)
    if not begun:
        db.execute("DELETE FROM identities WHERE record = ?", (number,))
        compared = Comparison({}, compared.now, ())
    notices = []
    forgotten = begun and not compared.rows
    if forgotten or compared.changes:
        if not accept:
            raise StoreError(refusal(path, compared, forgotten))
        lines = _lines(compared, forgotten)
        notices.append(f"{path}: accepted, {'; '.join(lines)}")
        _note_accepted(db, record, lines)
    _keep(db, number, compared)
    unknown = (*subject.unknown, *sight.unknown)
    if unknown and not compared.rows:
        notices.append(
            f"{path} cannot notice changes of what has no content to compare: {'; '.join(unknown)}"
        )
    return sight, notices


def _has_runs(db: sqlite3.Connection, number: int) -> bool:
    return any(
        db.execute(f"SELECT 1 FROM {table} WHERE record = ? LIMIT 1", (number,)).fetchone()  # noqa: S608
        for table in ("runs", "known")
    )


def _keep(db: sqlite3.Connection, number: int, compared: Comparison) -> None:
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM sessions").fetchone()
    began = (time.time(), int(last) + 1)
    fresh, same = [], []
    for key, content in compared.now.items():
        row = compared.rows.get(key)
        if row is None or row.content.digest != content.digest:
            fresh.append((number, *key, content.digest, _written(content.stamp), *began))
        elif row.content.stamp != content.stamp:
            same.append((_written(content.stamp), number, *key))
    gone = [
        (number, change.kind, change.name) for change in compared.changes if change.how == "is gone"
    ]
    if not (fresh or same or gone):
        return
    db.execute("BEGIN")
    db.executemany("INSERT OR REPLACE INTO identities VALUES (?, ?, ?, ?, ?, ?, ?)", fresh)
    db.executemany(
        "UPDATE identities SET stamp = ? WHERE record = ? AND kind = ? AND name = ?", same
    )
    db.executemany("DELETE FROM identities WHERE record = ? AND kind = ? AND name = ?", gone)
    if gone:  # all runs up to now were made with what is gone
        db.execute(
            "UPDATE identities SET since = ?, session = ? WHERE record = ? AND kind = 'target'",
            (*began, number),
        )
    db.execute("COMMIT")


def _note_accepted(db: sqlite3.Connection, record: str, lines: Sequence[str]) -> None:
    before = fact(db, record, ACCEPTED) or []
    put_fact(db, record, ACCEPTED, [*before, {"at": time.time(), "changed": list(lines)}])


def _rows(db: sqlite3.Connection, record: str) -> dict[Key, Row]:
    rows = db.execute(
        "SELECT kind, name, digest, stamp, since, session FROM identities WHERE record = ?",
        (record_id(db, record),),
    )
    return {(kind, name): _row(*facts) for kind, name, *facts in rows}


def _row(digest: Any, stamp: Any, since: Any, session: Any) -> Row:
    """Validate the facts of a row; raise `ValueError` if they are invalid."""
    if (
        type(digest) is str
        and type(since) is float
        and 0 <= since < _MAX_TIME
        and is_count(session)
    ):
        return Row(Content(digest, _stamp(stamp)), since, session)
    raise ValueError(f"nothing has the identity {digest!r}, {since!r}, {session!r}")


def _written(stamp: Stamp | None) -> str:
    return " ".join(map(str, stamp)) if stamp else ""


def _stamp(text: str) -> Stamp | None:
    """Parse a stamp; a damaged one only means that the file is read again."""
    try:
        size, modified, changed, inode = map(int, text.split())
    except (ValueError, AttributeError):
        return None
    return Stamp(size, modified, changed, inode)


def _lines(compared: Comparison, forgotten: bool) -> list[str]:
    if forgotten:
        return ["it does not know which program and which instances its runs were made with"]
    lines = [change.text for change in compared.of_target]
    names = sorted(compared.instances)
    if names:
        whole = sum(kind == INSTANCE for kind, _ in compared.now)
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        since = min(change.since for change in compared.changes if change.kind == INSTANCE)
        lines.append(
            f"{len(names):,} of {counted(max(whole, len(names)), 'instance')} changed:"
            f" {', '.join(names[:_MAX_NAMES])}{more} (runs stored since {when(since)})"
        )
    return lines


def refusal(path: Path, compared: Comparison, forgotten: bool) -> str:
    """Message for a store that cannot be used unchanged: the changes, and the remedies."""
    lines = "\n  ".join(_lines(compared, forgotten))
    takes = "nothing" if forgotten or compared.of_target else "no run on an instance that changed"
    named = any(change.name.startswith("file ") for change in compared.of_target)
    return (
        f"{path} holds runs that may belong to another program or other instances:\n"
        f"  {lines}\nOld and new runs cannot be compared. Choose one of these:\n"
        "  use another store, which starts a new search (--store NEW);\n"
        f"  use another store with --warm-start {path}, which takes {takes};\n"
        "  use --accept-changed (in Python accept_changed=True) to mix old and new runs; this is"
        f" recorded, and shown with every result.{_HINT * named}"
    )


_HINT = "\nIf the program itself writes a file that the command names, let it write somewhere else."


def when(seconds: float) -> str:
    """Format a point in time for people."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
