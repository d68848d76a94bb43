"""Scenario files of AClib, ParamILS and SMAC: `key = value`, under the names that each uses.

Source: the AClib 2.0 format documentation; the manuals of ParamILS 2.3 and SMAC 2.08.
"""

import re
from pathlib import Path
from typing import Any

from paramhs.errors import BadInput
from paramhs.scenario_file.places import Places

_NAMES = {
    "algo": "algo algoexec algoexecstring exec algorithm",
    "execdir": "execdir algoexecdir executiondir algoexecdirectory",
    "deterministic": "deterministic algodeterministic",
    "run_obj": "runobj runobjective algorunobj",
    "overall_obj": "overallobj intraobj intrainstanceobj overallobjective intrainstanceobjective",
    "cutoff_time": "cutofftime cutoff targetruncputimelimit algocutofftime runtimelimitperrun",
    "cutoff_length": "cutofflength algocutofflength",
    "tuner_timeout": "tunertimeout cputimelimit tunertime",
    "wallclock": "wallclocklimit runtimelimit wallclocktimelimit",
    "runs": "runcountlimit totalnumrunslimit numrunslimit maxevals runcount",
    "paramfile": "paramfile pcsfile parameterfile pcs",
    "instances": "instancefile instances instanceseedfile i instancelist traininstances",
    "test_instances": "testinstancefile testinstances testinstanceseedfile testinstfile",
    "outdir": "outdir outputdir outputdirectory",
}
_KNOWN = {alias: name for name, aliases in _NAMES.items() for alias in aliases.split()}
_OBJECTIVES = {"runtime": "runtime", "quality": "quality", "qual": "quality", "approx": "quality"}


class AclibPlaces(Places):
    """Lines of a scenario.txt by what they say."""

    def __init__(self, path: Path, lines: dict[str, int]) -> None:
        super().__init__(path)
        self._lines = lines

    def line(self, place: tuple[str, ...]) -> int | None:
        """The line that says it, if it stands in one."""
        meant = {
            "command": "algo",
            "space": "paramfile",
            "instances": "instances",
            "test_instances": "test_instances",
            "cutoff": "cutoff_time",
            "cost": "overall_obj",
            "deterministic": "deterministic",
            "folder": "execdir",
        }
        return self._lines.get(meant.get(place[0], "") if place else "")


def read_aclib(path: Path, text: str) -> tuple[dict[str, Any], Places, list[Path]]:
    """The same as a scenario of ours would say, and the folders where its paths are looked for."""
    said, lines, unused = _said(path, text)
    places = AclibPlaces(path, lines)
    if unused:
        places.notes = (f"{path}: without effect here: {', '.join(unused)}",)
    folders = [path.parent, Path(), *path.absolute().parents]
    missing = [name for name in ("algo", "paramfile", "instances") if name not in said]
    if missing:
        raise BadInput(f"{path}: {', '.join(missing)}: missing (expected lines such as algo = ...)")
    runtime = _runtime(said, places)
    return _translated(said, runtime, places, folders), places, folders


def _said(path: Path, text: str) -> tuple[dict[str, str], dict[str, int], list[str]]:
    said: dict[str, str] = {}
    lines: dict[str, int] = {}
    unused: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.split("#", 1)[0].strip()
        if not bare:
            continue
        match = re.fullmatch(r"(?:--?)?([\w-]+)\s*(?:[=:]|\s)\s*(.*)", bare)
        if not match:
            raise BadInput(f"{path}, line {number}: expected key = value, found {bare!r}")
        name = _KNOWN.get(re.sub("[-_]", "", match[1]).lower())
        if name is None:
            unused.append(f"{match[1]} (line {number})")
            continue
        said[name], lines[name] = match[2].strip().strip("\"'"), number
    return said, lines, unused


def _runtime(said: dict[str, str], places: Places) -> bool:
    """Whether runtime is the objective, which is the usual one."""
    objective = said.get("run_obj", "runtime").lower()
    if objective not in _OBJECTIVES:
        raise BadInput(f"{places.where(())}: run_obj = {objective}; expected runtime or quality")
    return _OBJECTIVES[objective] == "runtime"


def _translated(
    said: dict[str, str], runtime: bool, places: Places, folders: list[Path]
) -> dict[str, Any]:
    length = said.get("cutoff_length", "max")
    length = "2147483647" if length in ("max", "") else length
    budget = {
        "target_time": _number(said, "tuner_timeout", places),
        "wall_time": _number(said, "wallclock", places),
        "runs": _number(said, "runs", places),
    }
    result: dict[str, Any] = {
        "command": f"{said['algo']} {{instance}} {{info}} {{cutoff}} {length} {{seed}} {{params}}",
        "booleans": ["true", "false"],
        "folder": _folder(said.get("execdir", "."), folders),
        "read": "aclib",
        "cost": _cost(said, places) if runtime else "minimise",
        "space": said["paramfile"],
        "instances": said["instances"],
        "cutoff": _number(said, "cutoff_time", places),
        "deterministic": _truth(said.get("deterministic", "0")),
        "budget": {k: int(v) if k == "runs" else v for k, v in budget.items() if v is not None},
    }
    if said.get("test_instances"):
        result["test_instances"] = said["test_instances"]
    if said.get("outdir"):
        result["store"] = str(Path(said["outdir"]) / f"{places.path.stem}.sqlite")
    return {key: value for key, value in result.items() if value is not None}


def _cost(said: dict[str, str], places: Places) -> str:
    """ParamILS and SMAC write PAR10 as mean10."""
    name = said.get("overall_obj", "mean10").lower()
    match = re.fullmatch(r"(?:mean|par)(\d*)|q90|median|adj_mean", name)
    if not match or name in ("q90", "median", "adj_mean"):
        raise BadInput(
            f"{places.where(('cost',))}: overall_obj = {name} is not offered; there are mean,"
            " mean10 (PAR10) and the like"
        )
    return f"PAR{match[1] or '1'}"


def _number(said: dict[str, str], name: str, places: Places) -> float | None:
    text = said.get(name, "")
    if text.lower() in ("", "max", "inf", "-1"):
        return None
    try:
        return float(text)
    except ValueError:
        raise BadInput(f"{places.where(())}: {name} = {text!r}; expected a number") from None


def _truth(text: str) -> bool:
    return text.lower() in ("1", "true", "yes")


def _folder(name: str, folders: list[Path]) -> str:
    place = next((folder / name for folder in folders if (folder / name).is_dir()), None)
    if place is None:
        raise BadInput(f"execdir: there is no folder {name}")
    return str(place.absolute())
