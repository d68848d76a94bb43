"""A command to tune, given in Python."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paramhs.values.costs import CostMetric
from paramhs.values.errors import BadInput
from paramhs.values.space import Space
from paramhs.world.targets.command import (
    CommandTarget,
    Reader,
    Style,
    Template,
    named_readers,
)
from paramhs.world.targets.supervisor import Clock


@dataclass(frozen=True)
class Command:
    """A command line with placeholders, as in a scenario file: `{instance}`, `{seed}`, `{cutoff}`,
    parameters by their names, and `{params}` for all others, written as `style` shows.

    `read` says what of the output is the quality: "last number", "aclib", "irace", or a reader,
    such as `Pattern(r"cost: (\\S+)")` or `JsonLine("result.cost")`; where only the runtime counts,
    nothing needs to be read. `solved` are the exit codes of a run that did its work. No shell
    reads it.
    """

    text: str
    read: str | Reader | None = None
    solved: Sequence[int] = (0,)
    style: str = "-name value"
    booleans: tuple[str, str] | None = None
    switches: Mapping[str, str] | None = None
    folder: str | Path = "."
    clock: Clock = "cpu"
    wall_limit: float | None = None
    grace: float = 1.0
    checker: str | None = None

    def target(self, space: Space, metric: CostMetric, memory: float | None) -> CommandTarget:
        """The target that it is with these parameters."""
        style = Style(self.style, self.booleans, self.switches)
        return CommandTarget(
            Template(self.text, space, style),
            Path(os.path.abspath(self.folder)),
            self._reader(metric),
            tuple(self.solved),
            self.clock,
            math.inf if memory is None else memory,
            self.wall_limit,
            self.grace,
            Template(self.checker, space, style, whole=False) if self.checker else None,
            needs_number=metric.needs_quality,
        )

    def _reader(self, metric: CostMetric) -> Reader:
        if self.read is None and metric.needs_quality:
            raise BadInput('a command needs to know what to read: read="last number" or others')
        read = "time" if self.read is None else self.read
        if not isinstance(read, str):
            return read
        named = named_readers(metric.needs_quality)
        if read not in named:
            known = ", ".join(map(repr, named))
            raise BadInput(f"read must be one of {known} or a reader, not {read!r}")
        return named[read]
