"""The subject of stored runs: the target, the cost and the instances, identified by content.

A store compares the current subject with the one that its runs were made with. Code and values are
identified when the subject is created, files of the target when it is compared, and the file of an
instance before its first run: a search over 10,000 files that starts does not look at each of them.
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
Key = tuple[str, str]
"""Kind and name of a part."""
_MAX_NAMES = 5  # files named in a message


@dataclass(frozen=True)
class Subject:
    """Parts of a target and its instances."""

    parts: Mapping[str, str] = field(default_factory=dict)
    """Digests of the target's parts, by name."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Paths of the target's files and folders, by name."""
    unknown: tuple[str, ...] = ()
    """Things that cannot be identified, in words."""
    instances: Sequence[Instance] = ()
    """The instances; one is identified when it is first used."""
    target: Target | None = None
    """The target, which knows the files of instances; None if no file is watched."""

    def file_of(self, instance: Instance) -> str:
        """Path of the file of an instance; empty if it has none."""
        if self.target is None or instance is NO_INSTANCE:
            return ""
        return self.target.instance_file(instance)

    def value_of(self, instance: Instance) -> Identity | None:
        """Identity of the value of an instance; None if its name or its file says all."""
        if isinstance(instance.value, _DESCRIBED) or said(instance.value) is not None:
            return None
        return identity_of(instance.value, f"instance {instance.name}")


def subject_of(target: Target, instances: Sequence[Instance], *more: object) -> Subject:
    """Identify a target, instances, and `more` objects that define their runs."""
    identities = [target.identity(), *map(_more, more)]
    parts = {name: text for one in identities for name, text in one.parts.items()}
    files = {name: path for one in identities for name, path in one.files.items()}
    unknown = (text for one in identities for text in one.unknown)
    return Subject(parts, files, tuple(dict.fromkeys(unknown)), instances, target)


def files_of(target: Target, instances: Sequence[Instance]) -> Subject:
    """Subject with only the files, to notice a change during a search without a store."""
    own = target.identity().files if target.runs_on_files else {}
    return Subject(files=own, instances=instances, target=target)


def _more(thing: object) -> Identity:
    """Identity of the user's code in an object; our own objects describe themselves fully."""
    what = type(thing).__qualname__
    found = identity_of(thing, what)
    if is_own(module_of(type(thing))):
        return found
    return replace(found, parts={n: text for n, text in found.parts.items() if n != what})


def _joined(one: Identity) -> str:
    parts = [f"{name}={text}" for name, text in one.parts.items()]
    return "; ".join(parts) if len(parts) > 1 else next(iter(one.parts.values()), "")


class Sight:
    """Contents of a subject's files when they were first used, to detect later changes."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.contents: dict[Key, Content] = {}
        """Content of each examined file that exists."""
        self.values: dict[Key, str] = {}
        """Digest of the value of each examined instance that has one."""
        self.unknown: list[str] = []
        """Descriptions of what cannot be identified."""
        self._paths: dict[Key, str] = {}
        self._stamps: dict[Key, Stamp | None] = {}

    def look(self, known: Mapping[Key, Content], used: Sequence[Instance]) -> None:
        """Read the target's files, and those of `used` instances, unless they are as known."""
        for name, path in self.subject.files.items():
            self._look_at((TARGET, name), path, known.get((TARGET, name)))
        for instance in used:
            key = INSTANCE, instance.name
            self.look_at_instance(instance, known.get(key))

    def look_at_instance(self, instance: Instance, known: Content | None = None) -> None:
        """Identify an instance, reading its file, if it has one, unless it is as known."""
        key, path = (INSTANCE, instance.name), self.subject.file_of(instance)
        if path:
            self._look_at(key, path, known)
        value = self.subject.value_of(instance)
        if value is None:
            return
        self.unknown += value.unknown
        if text := _joined(value):
            self.values[key] = text

    def _look_at(self, key: Key, path: str, known: Content | None) -> None:
        try:
            found = content_of(path, known)
        except TooMany:
            self.unknown.append(f"{' '.join(key)}: a folder with too many files to read")
            return
        if found is not None:
            self.contents[key], self._paths[key] = found, path

    def glance(self) -> None:
        """Record only metadata of the target's files, where no content will be needed."""
        for name, path in self.subject.files.items():
            self._glance_at((TARGET, name), path)

    def glance_at_instance(self, instance: Instance) -> None:
        """Record only metadata of the file of an instance, if it has one."""
        path = self.subject.file_of(instance)
        if path:
            self._glance_at((INSTANCE, instance.name), path)

    def _glance_at(self, key: Key, path: str) -> None:
        self._stamps[key], self._paths[key] = stamp_of(path), path

    def changed(self) -> list[Key]:
        """Files that have changed, by (kind, name)."""
        stamps = [k for k, stamp in self._stamps.items() if stamp_of(self._paths[k]) != stamp]
        contents = [
            key
            for key, content in self.contents.items()
            if (now := content_of(self._paths[key], content)) is None
            or now.digest != content.digest
        ]
        return stamps + contents


def changed_meanwhile(sight: Sight | None) -> str:
    """Describe the files that changed since a search began; empty if none did."""
    changed = [] if sight is None else sight.changed()
    if not changed:
        return ""
    names = [name if kind == TARGET else f"instance {name}" for kind, name in changed]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    which = f"{', '.join(names[:_MAX_NAMES])}{more}"
    return f"{which} changed during the runs, so old and new versions are mixed."
