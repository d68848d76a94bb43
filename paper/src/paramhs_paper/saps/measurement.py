"""A measurement of the landscape in a folder: runs as they are made, and the table at the end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paramhs.values.errors import BadInput
from paramhs.world.targets.saps import Smoothing
from paramhs_paper.saps import grid
from paramhs_paper.saps.table import Landscape, landscape_of, merged, read_table, write_table


@dataclass(frozen=True)
class Measurement:
    """So many runs of every setting on these instances."""

    instances: Mapping[str, Path]
    smoothing: Smoothing
    runs: int
    folder: Path
    jobs: int
    seed: int = 0
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

    def measured(self, advance: Callable[[int], object] = lambda done: None) -> Landscape:
        """Make what is missing; the table of all runs.

        `advance` is told at once how many blocks of runs the folder had, then of each that is made.
        """
        file, table = self.files
        made = grid.measure(
            self.instances,
            self.smoothing,
            self.runs,
            file,
            self.jobs,
            advance,
            seed=self.seed,
            steps=self.steps,
        )
        write_table(merged(made), table)
        return landscape_of(read_table(table), self.smoothing)
