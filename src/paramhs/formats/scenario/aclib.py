"""Scenario files of AClib, ParamILS and SMAC: `key = value`, with the key names of each tool.

Paths are relative to the folder in which those tools are started, the root of AClib. It is found as
the first folder that contains the parameter file: the current folder, the scenario's own, or one of
its parents.

Source: the scenario files of AClib 2.0; the manuals of ParamILS 2.3, SMAC 2.08 and SMAC3.
"""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from paramhs.core.errors import BadInput
from paramhs.formats.scenario.build import Parsed
from paramhs.formats.scenario.source_map import Key, Source, read_text

_NAMES = {
    "algo": "algo algoexec algoexecstring exec algorithm ta targetalgorithm",
    "execdir": "execdir algoexecdir executiondir algoexecdirectory",
    "deterministic": "deterministic algodeterministic",
    "run_obj": "runobj runobjective algorunobj",
    "overall_obj": "overallobj intraobj intrainstanceobj overallobjective intrainstanceobjective",
    "cutoff_time": "cutofftime cutoff targetruncputimelimit algocutofftime runtimelimitperrun",
    "cutoff_length": "cutofflength algocutofflength",
    "tuner_timeout": "tunertimeout cputimelimit tunertime tunertimelimit algorunstimelimit",
    "wallclock": "wallclocklimit runtimelimit wallclocktimelimit",
    "runs": "runcountlimit totalnumrunslimit numrunslimit numberofrunslimit tarunlimit maxevals"
    " runcount",
    "memory": "memorylimit",
    "paramfile": "paramfile pcsfile parameterfile pcs pcsfn",
    "instances": "instancefile instances instanceseedfile i instancelist traininstances"
    " traininstfn",
    "test_instances": "testinstancefile testinstances testinstanceseedfile testinstfn",
    "outdir": "outdir outputdir outputdirectory",
    "tae": "tae",
}
_KNOWN = {alias: name for name, aliases in _NAMES.items() for alias in aliases.split()}
_LISTS = ("instances", "test_instances")
_OBJECTIVES = {"runtime": True, "quality": False, "qual": False, "approx": False}
_TRUTHS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_MEANS = "there are mean, mean10 (PAR10) and so on"
_INSTEAD = {
    "geomean": "let the wrapper print the logarithm of the cost as its quality, and set run_obj ="
    " quality and overall_obj = mean: its mean ranks configurations in the same order",
    "median": "costs are compared by their means; use mean with a cutoff close to the longest"
    " acceptable runtime, which bounds the weight of a long run",
    "q90": "costs are compared by their means; use mean10, in which runs that reach the cutoff"
    " dominate, as they do in a quantile of 90 %",
}
_ENDLESS = ("", "max", "inf", "infinity")
_KEYS: dict[str, Key] = {
    "algo": ("command",),
    "paramfile": ("space",),
    "cutoff_time": ("cutoff",),
    "run_obj": ("run_obj",),
    "overall_obj": ("cost",),
    "execdir": ("folder",),
    "tuner_timeout": ("budget",),
    "outdir": ("store",),
}
"""The equivalent settings of a paramhs scenario."""


class _Setting(NamedTuple):
    value: str
    line: int
    name: str
    """The key as written in the file."""


def read_aclib(path: Path, text: str) -> Parsed:
    """Translate the file into the settings of a paramhs scenario, with its search folders."""
    given, unused = _read_settings(path, text)
    lines = {_KEYS.get(name, (name,)): setting.line for name, setting in given.items()}
    names = {_KEYS.get(name, (name,)): setting.name for name, setting in given.items()}
    source = Source(path, lines, names)
    if unused:
        source.notes.append(f"{path}: ignored by paramhs: {', '.join(unused)}")
    missing = [name for name in ("algo", "paramfile") if name not in given or not given[name].value]
    if missing:
        others = f"; ignored by paramhs: {', '.join(unused)}" if unused else ""
        raise BadInput(
            f"{path}: {', '.join(missing)}: missing (expected lines such as algo = ...){others}"
        )
    root = _find_root(path, given["paramfile"].value)
    values = {name: setting.value for name, setting in given.items()}
    settings = _Translation(values, source, root).whole()
    seeded = [name for name in _LISTS if name in given and "seed" in given[name].name.lower()]
    folders = [root, *path.absolute().parents]
    return Parsed(settings, source, folders, {name: {"seeded": True} for name in seeded})


def _find_root(path: Path, parameter_file: str) -> Path:
    around = [Path(), path.parent, *path.absolute().parents]
    found = (folder for folder in around if os.path.exists(folder / parameter_file))
    return next(found, path.parent).absolute()


def _read_settings(path: Path, text: str) -> tuple[dict[str, _Setting], list[str]]:
    """Settings that are used here, and the names of all others."""
    known: dict[str, _Setting] = {}
    unused: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.split("#", 1)[0].strip()
        if not bare:
            continue
        match = re.fullmatch(r"(?:--?)?([\w-]+)\s*(?:[=:]|\s|$)\s*(.*)", bare)
        name = match and _KNOWN.get(re.sub("[-_]", "", match[1]).lower())
        if not match or (name is None and not re.search(r"[=:\s]", bare)):
            raise BadInput(f"{path}, line {number}: expected key = value, found {bare[:80]!r}")
        if name is None:
            unused.append(f"{match[1]} (line {number})")
        else:
            known[name] = _Setting(_unquoted(match[2].strip()), number, match[1])
    return known, unused


def _unquoted(value: str) -> str:
    """Remove quotes around the whole value."""
    quoted = re.fullmatch(r"""(["'])([^"']*)\1""", value)
    return quoted[2] if quoted else value


class _Translation:
    """Translation into the settings of a paramhs scenario; problems are collected."""

    def __init__(self, given: dict[str, str], source: Source, root: Path) -> None:
        self.given = given
        self.source = source
        self.root = root

    def whole(self) -> dict[str, Any]:
        """Translate all settings."""
        given = self.given
        runtime = self.attempt("run_obj", self._runtime)
        result = {
            "command": self._command(),
            "booleans": ["true", "false"],
            "folder": self.attempt("execdir", self._folder),
            "read": "aclib",
            "cost": self.attempt("overall_obj", lambda: self._cost(bool(runtime))),
            "space": given["paramfile"],
            "instances": given.get("instances") or None,
            "test_instances": self._test_instances(),
            "cutoff": self.number("cutoff_time"),
            "memory": self.number("memory", 1e6),
            "deterministic": self.attempt("deterministic", self._truth),
            "budget": self._budget(),
            "store": self._store(),
        }
        return {key: value for key, value in result.items() if value is not None}

    def attempt(self, name: str, make: Callable[[], Any]) -> Any:
        """Call a function; on an error, report a problem and return None."""
        try:
            return make()
        except ValueError as error:
            self.source.complain(_KEYS.get(name, (name,)), error)
            return None

    def number(self, name: str, unit: float = 1.0) -> float | None:
        """Positive number, or None where there is no limit."""
        return self.attempt(name, lambda: _positive(self.given.get(name, ""), unit))  # type: ignore[no-any-return]

    def _command(self) -> str:
        algo = self.given["algo"].replace("{", "{{").replace("}", "}}")
        instance = "{instance}" if self.given.get("instances") else "no_instance"
        if self._is_aclib_2():
            return (
                f"{algo} --instance {instance} --cutoff {{cutoff}} --seed {{seed}}"
                " --config {params}"
            )
        length = self.given.get("cutoff_length", "max").lower()
        length = "2147483647" if length in _ENDLESS else length
        return f"{algo} {instance} {{info}} {{cutoff}} {length} {{seed}} {{params}}"

    def _is_aclib_2(self) -> bool:
        """Whether the target is called as in AClib 2, by the name that SMAC 3 uses."""
        return self.given.get("tae", "").lower() == "aclib"

    def _runtime(self) -> bool:
        objective = self.given.get("run_obj", "runtime").lower()
        if objective == "runlength":
            raise ValueError(
                "'runlength' is not supported; let the wrapper print it as the quality, the fourth"
                " number, and set run_obj = quality"
            )
        if objective not in _OBJECTIVES:
            raise ValueError(f"{objective!r} is not supported; expected runtime or quality")
        return _OBJECTIVES[objective]

    def _cost(self, runtime: bool) -> str:
        """Name of the cost; mean10 of ParamILS and SMAC is PAR10, or the mean of qualities."""
        name = self.given.get("overall_obj", "mean10").lower()
        match = re.fullmatch(r"(?:mean|par)(\d*)", name)
        if not match:
            raise ValueError(f"{name!r} is not supported; {_INSTEAD.get(name, _MEANS)}")
        return f"PAR{match[1] or '1'}" if runtime else "minimise"

    def _truth(self) -> bool:
        word = self.given.get("deterministic", "0").lower()
        if word not in _TRUTHS:
            raise ValueError(f"{word!r} is neither true (1) nor false (0)")
        return _TRUTHS[word]

    def _folder(self) -> str:
        folder = self.root / self.given.get("execdir", ".")
        if not os.path.isdir(folder):
            raise ValueError(f"there is no folder {folder}")
        return str(folder)

    def _test_instances(self) -> str | float:
        """Test instances from the file; an empty file, or none, holds nothing out."""
        name = self.given.get("test_instances", "")
        path = self.root / name
        empty = os.path.isfile(path) and not read_text(path).strip()
        return 0.0 if not name or empty or not self.given.get("instances") else name

    def _budget(self) -> dict[str, float]:
        runs = self.number("runs")
        limits = {
            "target_time": self.number("tuner_timeout"),
            "wall_time": self.number("wallclock"),
            "runs": None if runs is None else int(runs),
        }
        return {name: limit for name, limit in limits.items() if limit is not None}

    def _store(self) -> str | None:
        if not self.given.get("outdir"):
            return None
        return str(self.root / self.given["outdir"] / f"{self.source.path.stem}.sqlite")


def _positive(text: str, unit: float) -> float | None:
    if text.lower() in _ENDLESS:
        return None
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not 0 < number < math.inf:
        raise ValueError(f"{text!r}: expected a positive number")
    return number * unit
