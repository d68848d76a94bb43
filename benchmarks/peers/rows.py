"""The results: a row for each search and number of runs, in a file that can be continued."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """Result of a search after a number of runs."""

    case: str
    bench: str
    """The digest of what was run; rows of another one are not comparable."""
    tool: str
    seed: int
    runs: int
    asked: int
    """How many of them the tool made."""
    cost: float
    """The mean on the test instances."""
    default: float
    """Mean of the default on the test instances."""
    own: float
    """Milliseconds of processor time a run that the tool took itself, over the whole search."""
    config: str

    @property
    def relative(self) -> float:
        """The cost in terms of the default's."""
        return self.cost / self.default

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What it is the result of."""
        return self.case, self.bench, self.tool, self.seed, self.runs


KINDS = {"seed": int, "runs": int, "asked": int, "cost": float, "default": float, "own": float}


def read_rows(file: Path) -> Iterator[Row]:
    """All rows; none if there is no file."""
    if not file.exists():
        return
    with file.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            yield Row(**{name: KINDS.get(name, str)(text) for name, text in line.items()})


def add_rows(file: Path, rows: Iterable[Row]) -> None:
    """At the end, with a heading if the file is new."""
    new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [field.name for field in fields(Row)], lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
