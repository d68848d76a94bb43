"""Altair charts written as files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vl_convert  # noqa: F401 -- altair needs it to write files: better missed now than then


class _ForScript(json.JSONEncoder):
    """JSON for a script element, in which no text can end that element."""

    def encode(self, o: Any) -> str:
        return super().encode(o).replace("<", "\\u003c")


def draw(chart: Any, folder: Path, name: str, kinds: Sequence[str] = ("html", "svg")) -> list[Path]:
    """Write a chart as a page that works offline, as SVG, or as PNG."""
    how: dict[str, dict[str, Any]] = {
        "html": {"inline": True, "json_kwds": {"cls": _ForScript}},
        "png": {"scale_factor": 2},
    }
    paths = [folder / f"{name}.{kind}" for kind in kinds]
    for kind, path in zip(kinds, paths, strict=True):
        chart.save(str(path), **how.get(kind, {}))
    return paths
