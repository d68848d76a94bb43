"""A measurement of the landscape in a folder: runs as they are made, and the table at the end."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from paramhs.errors import BadInput
from paramhs.paper.saps import grid
from paramhs.paper.saps.table import Landscape, landscape_of, merged, read_table, write_table
from paramhs.targets.saps import Smoothing


@dataclass(frozen=True)
class Measurement:
    """So many runs of every setting on these instances."""

    instances: Mapping[str, Path]
    smoothing: Smoothing
    runs: int
    folder: Path
    jobs: int
    steps: int = grid.STEPS

    def __post_init__(self) -> None:
        for name, least in (("runs", 2), ("jobs", 1)):
            if getattr(self, name) < least:
                raise BadInput(f"{name} must be at least {least}, not {getattr(self, name)}")

    @property
    def files(self) -> list[Path]:
        """The blocks of runs, and the table."""
        return [
            self.folder / f"saps_{self.smoothing}_blocks.csv",
            self.folder / f"{self.smoothing}.csv.xz",
        ]

    def blocks(self) -> int:
        """How many blocks of runs there will be."""
        return grid.blocks_of(len(self.instances), self.runs)

    def blocks_there(self) -> int:
        """How many of them, or of their beginnings, the folder has already."""
        file = self.files[0]
        return len({(b.cell, b.first_run) for b in self._mine(file)}) if grid.begun(file) else 0

    def measured(self, advance: Callable[[int], object] = lambda done: None) -> Landscape:
        """Make what is missing; the table of all runs."""
        blocks, table = self.files
        grid.measure(
            self.instances, self.smoothing, self.runs, blocks, self.jobs, advance, steps=self.steps
        )
        write_table(merged(self._mine(blocks), self.runs), table)
        return landscape_of(read_table(table), self.smoothing)

    def _mine(self, file: Path) -> Iterator[grid.Block]:
        """What was measured before may be more: other instances, further runs."""
        for block in grid.blocks(file):
            if block.cell.instance in self.instances and block.first_run < self.runs:
                yield block
