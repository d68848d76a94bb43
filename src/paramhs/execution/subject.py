"""The subject of stored runs: the target, the cost and the instances, identified by content.

A store compares the current subject with the one that its runs were made with. Code and values are
identified when the subject is created, files when it is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from paramhs.core.identity import Identity, identity_of
from paramhs.core.identity.origin import is_own, module_of
from paramhs.core.identity.walk import said
from paramhs.core.runs import NO_INSTANCE, Instance, Target
from paramhs.execution.file_digests import Content, Stamp, TooMany, content_of, stamp_of

_DESCRIBED = (str, PurePath, int, float, type(None))
TARGET, INSTANCE = "target", "instance"
_MAX_NAMED = 5  # files named in a message


@dataclass(frozen=True)
class Subject:
    """Parts of a target and its instances."""

    parts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Digests by (kind, name), where kind is "target" or "instance"."""
    files: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Paths of relevant files and folders, by (kind, name)."""
    unknown: tuple[str, ...] = ()
    """Things that cannot be identified, in words."""


def subject_of(target: Target, instances: Sequence[Instance], *more: object) -> Subject:
    """Identify a target, instances, and `more` objects that define their runs."""
    identities = [target.identity(), *map(_more, more)]
    own = [_value_identity(instance) for instance in instances]
    parts = {(TARGET, name): text for one in identities for name, text in one.parts.items()}
    parts |= {
        (INSTANCE, instance.name): text
        for instance, one in zip(instances, own, strict=True)
        if one and (text := _joined(one))
    }
    files = {(TARGET, name): path for one in identities for name, path in one.files.items()}
    files |= _of(target, instances)
    unknown = (text for one in (*identities, *filter(None, own)) for text in one.unknown)
    return Subject(parts, files, tuple(dict.fromkeys(unknown)))


def files_of(target: Target, instances: Sequence[Instance]) -> Subject:
    """Subject with only the files, to notice a change during a search without a store."""
    own = target.identity().files if target.runs_on_files else {}
    return Subject(
        files={**{(TARGET, name): p for name, p in own.items()}, **_of(target, instances)}
    )


def _of(target: Target, instances: Sequence[Instance]) -> dict[tuple[str, str], str]:
    return {
        (INSTANCE, instance.name): path
        for instance in instances
        if instance is not NO_INSTANCE and (path := target.instance_file(instance))
    }


def _more(thing: object) -> Identity:
    """Identity of the user's code in an object; our own objects describe themselves fully."""
    what = type(thing).__qualname__
    found = identity_of(thing, what)
    if is_own(module_of(type(thing))):
        return found
    return replace(found, parts={n: text for n, text in found.parts.items() if n != what})


def _value_identity(instance: Instance) -> Identity | None:
    """Identity of a value; None for plain values and those that describe themselves."""
    if isinstance(instance.value, _DESCRIBED) or said(instance.value) is not None:
        return None
    return identity_of(instance.value, f"instance {instance.name}")


def _joined(one: Identity) -> str:
    parts = [f"{name}={text}" for name, text in one.parts.items()]
    return "; ".join(parts) if len(parts) > 1 else next(iter(one.parts.values()), "")


class Sight:
    """Contents of a subject's files at one moment, to detect later changes."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.contents: dict[tuple[str, str], Content] = {}
        """Content of each file that exists."""
        self.unknown: list[str] = []
        self._stamps: dict[tuple[str, str], Stamp | None] = {}

    def look(self, known: Mapping[tuple[str, str], Content]) -> None:
        """Read all files whose metadata differs from the known content."""
        for key, path in self.subject.files.items():
            try:
                found = content_of(path, known.get(key))
            except TooMany:
                self.unknown.append(f"{' '.join(key)}: a folder with too many files to read")
                continue
            if found is not None:
                self.contents[key] = found

    def glance(self) -> None:
        """Record only metadata, where no content will be needed."""
        self._stamps = {key: stamp_of(path) for key, path in self.subject.files.items()}

    def changed(self) -> list[tuple[str, str]]:
        """Files that have changed, by (kind, name)."""
        if self._stamps:
            files = self.subject.files
            return [key for key, stamp in self._stamps.items() if stamp_of(files[key]) != stamp]
        return [
            key
            for key, content in self.contents.items()
            if (now := content_of(self.subject.files[key], content)) is None
            or now.digest != content.digest
        ]


def changed_meanwhile(sight: Sight | None) -> str:
    """Describe the files that changed since a search began; empty if none did."""
    changed = [] if sight is None else sight.changed()
    if not changed:
        return ""
    names = [name if kind == TARGET else f"instance {name}" for kind, name in changed]
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    which = f"{', '.join(names[:_MAX_NAMED])}{more}"
    return f"{which} changed during the runs, so old and new versions are mixed."
