"""Charts as files."""

from pathlib import Path
from typing import Any

import vl_convert  # noqa: F401 -- altair needs it to write files: better missed now than then


def draw(chart: Any, folder: Path, name: str) -> list[Path]:
    """Write a chart as a page and as SVG."""
    paths = [folder / f"{name}.html", folder / f"{name}.svg"]
    chart.save(str(paths[0]), inline=True)
    chart.save(str(paths[1]))
    return paths
