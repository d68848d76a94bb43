"""Named parts of an identity."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Identity:
    """Named parts that define the answers of a target, each with its content."""

    parts: Mapping[str, str] = field(default_factory=dict)
    """Code, values and versions by name: a digest, or the value itself if it is short."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Paths of files by name; their content counts."""
    unknown: tuple[str, ...] = ()
    """Objects whose content cannot be identified, described in words."""
