"""The page of results, README.md: text from page.md, numbers from the tables beside it."""

import csv
import math
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from string import Template

import numpy as np

from paramhs_paper import summary
from paramhs_paper.landscapes import FitnessPoint
from paramhs_paper.points import Delta, Point
from paramhs_paper.random_landscapes import Row
from paramhs_paper.saps.summary import landscape_summary
from paramhs_paper.saps.table import kept
from paramhs_paper.scenarios import HEURISTICS, SAPS, SapsScenario
from paramhs_paper.theorems import Growth, SeveralParameters, theorems_summary
from paramhs_paper.writing import read_rows

WIDTH = 100  # columns of a line of prose


def page(folder: Path) -> str:
    """Build the page from the tables in a folder."""
    fitness = [
        p for name in HEURISTICS for p in read_rows(folder / f"figure1_{name}.csv", FitnessPoint)
    ]
    points = read_rows(folder / "figure2.csv", Point)
    words = {
        "figure1": summary.fitness_summary(fitness),
        "figure1_saps": "\n".join(_settings(folder, scenario) for scenario in SAPS.values()),
        "figure2": summary.calls_summary(points, read_rows(folder / "figure2_deltas.csv", Delta)),
        "ties": summary.ties_summary(points),
        "readings": summary.readings_summary(points),
        "theorems": _theorems(folder),
    }
    text = resources.files("paramhs_paper").joinpath("page.md").read_text("utf-8")
    filled = Template(text).substitute({name: part.rstrip() for name, part in words.items()})
    return "\n".join(_wrapped(filled.split("\n")))


def _wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Wrap long lines of prose; tables, headings and code stay as they are."""
    code = False
    for line in lines:
        code ^= line.startswith("```")
        item = re.match(r" *(?:[-*] |\d+\. )?", line)
        if code or len(line) <= WIDTH or line.startswith(("|", "#", "    ", "<", "!")):
            yield line
        else:
            indent = " " * len(item[0] if item else "")
            yield from textwrap.wrap(
                line,
                WIDTH,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )


def _settings(folder: Path, scenario: SapsScenario) -> str:
    landscape = kept(scenario.smoothing)
    with (folder / f"figure1_{scenario.name}.csv").open(newline="", encoding="utf-8") as file:
        chance = [float(row["chance_of_five"]) for row in csv.DictReader(file)]
    return landscape_summary(landscape, np.array(chance).reshape(len(landscape.alphas), -1))


def _theorems(folder: Path) -> str:
    """Read the theorems' table; a cell without a number means that the search may get stuck."""
    rows = [
        replace(row, l_step=math.inf if row.l_step is None else row.l_step)
        for row in read_rows(folder / "theorems_study.csv", Row)
    ]
    several = read_rows(folder / "theorems_several.csv", SeveralParameters)
    return theorems_summary(rows, several, read_rows(folder / "theorems_growth.csv", Growth))
