"""SMAC3's output folder: runhistory.json, configspace.json, scenario.json, intensifier.json.

SMAC3 before version 2.3 writes a run as a list, later versions as an object. The status of a run is
a number: 1 success, 2 crashed, 3 time-out, 4 out of memory.

Source: `smac.runhistory.runhistory.RunHistory.save` of SMAC3 2.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Status
from paramhs.core.space import Space
from paramhs.core.text.numbers import printable
from paramhs.formats.imports.other_search import (
    OtherRun,
    OtherSearch,
    Step,
    best_so_far,
    first_usable,
)
from paramhs.formats.space_files import read_space

_FIELDS = (
    *("config_id", "instance", "seed", "budget", "cost", "time"),
    *("status", "starttime", "endtime", "additional_info"),
)
_STATUS = {1: Status.OK, 2: Status.CRASHED, 3: Status.TIMEOUT, 4: Status.CRASHED}
_DETAIL = {2: "crashed", 4: "out of memory"}
_HISTORY = "runhistory.json"


def is_smac3(path: Path) -> bool:
    """Whether it is a run history of SMAC3, or a folder with one."""
    return path.name == _HISTORY if path.is_file() else (path / _HISTORY).is_file()


def read_smac3(path: Path, space: Path | None = None) -> OtherSearch:
    """Read the output of SMAC3 2."""
    folder = path.parent if path.is_file() else path
    stored = _json(folder / _HISTORY)
    try:
        return _search(folder, stored, _space(folder, space))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{printable(str(folder / _HISTORY))} is not as SMAC3 2 writes it"
            f" ({type(error).__name__}: {error})"
        ) from error


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{printable(str(path))} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{printable(str(path))} is not as SMAC3 writes it: expected an object")
    return found


def _optional(path: Path) -> dict[str, Any]:
    return _json(path) if path.is_file() else {}


def _space(folder: Path, given: Path | None) -> Space:
    if given is not None:
        return read_space(given).space
    for name in ("configspace.json", "configspace.pcs"):
        if (folder / name).is_file():
            return read_space(folder / name).space
    raise BadInput(
        f"{printable(str(folder))} has no configspace.json; name the parameter file with space="
        " (--space on the command line)"
    )


def _search(folder: Path, stored: Mapping[str, Any], space: Space) -> OtherSearch:
    scenario, kept = _optional(folder / "scenario.json"), _optional(folder / "intensifier.json")
    place = {int(number): k for k, number in enumerate(stored["configs"])}
    configs = [dict(values) for values in stored["configs"].values()]
    rows = [_row(entry) for entry in stored["data"]]
    begin = min((row["starttime"] for row in rows if row.get("starttime")), default=None)
    runs = [_run(row, place, begin) for row in rows if row["status"] in _STATUS]
    trajectory = kept.get("trajectory") or []
    steps = [Step(place[t["config_ids"][0]], int(t["trial"])) for t in trajectory]
    instances = [str(name) for name in scenario.get("instances") or ()]
    default = {name: space.default[name] for name in space.default}
    was_run = any(configs[run.config] == default for run in runs)
    return OtherSearch(
        " ".join(["SMAC3", str((scenario.get("_meta") or {}).get("version", ""))]).strip(),
        space,
        default if was_run or not runs else configs[first_usable(runs)],
        configs,
        runs,
        steps or best_so_far(runs),
        list(dict.fromkeys([*instances, *(run.instance for run in runs)])),
        deterministic=bool(scenario.get("deterministic", _seeds(runs) <= 1)),
        seed=int(scenario.get("seed") or 0),
        notes=[]
        if was_run
        else ["the default was not run; the first configuration that did not fail takes its place"],
    )


def _seeds(runs: Sequence[OtherRun]) -> int:
    return len({run.seed for run in runs})


def _row(entry: Any) -> dict[str, Any]:
    """Fields of a run, whichever version wrote it."""
    row = dict(entry) if isinstance(entry, Mapping) else dict(zip(_FIELDS, entry, strict=False))
    if isinstance(row["cost"], list):
        if len(row["cost"]) > 1:
            raise BadInput("the search has several objectives, which cannot be imported")
        row["cost"] = row["cost"][0]
    row["status"] = int(row["status"])
    return row


def _run(row: Mapping[str, Any], place: Mapping[int, int], begin: float | None) -> OtherRun:
    name = NO_INSTANCE.name if row["instance"] is None else str(row["instance"])
    if row.get("budget") is not None:
        name = f"{name}, budget {row['budget']:g}"
    status = _STATUS[row["status"]]
    cost = row["cost"]
    if status is Status.OK and (cost is None or not math.isfinite(cost)):
        status = Status.UNREADABLE
    end = row.get("endtime")
    return OtherRun(
        place[int(row["config_id"])],
        name,
        int(row["seed"] or 0),
        status,
        float(row["time"] or 0.0),
        float(cost) if status is Status.OK else None,
        ended=end - begin if end and begin else None,
        detail=_detail(row),
    )


def _detail(row: Mapping[str, Any]) -> str:
    """Why a run failed, as far as it is stored; empty for others."""
    if row["status"] not in _DETAIL:
        return ""
    about = row.get("additional_info")
    error = about.get("error") if isinstance(about, Mapping) else None
    return str(error or _DETAIL[row["status"]])
