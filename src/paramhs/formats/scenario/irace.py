"""irace's scenario.txt: settings in R syntax, such as `targetRunner = "./target-runner"`.

The text is parsed, never evaluated. As in irace, relative paths are relative to the scenario file,
and missing settings have irace's defaults. Several settings decide how irace uses bounds: a run is
bounded if `boundMax` is positive, and its time is minimised if `maxTime` is also given (that is
when irace turns on its capping).

Source: Lopez-Ibanez et al., The irace package: User Guide, "List of command-line and scenario
options"; irace 4's `readScenario` and `checkScenario`.
"""

import math
import os
import re
import shutil
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from paramhs.core.errors import BadInput
from paramhs.formats.scenario.build import Parsed
from paramhs.formats.scenario.source_map import Key, Source, read_text
from paramhs.formats.space_files import SpaceFile, read_space
from paramhs.formats.space_files.irace_reader import read_irace

_KEYS: dict[str, Key] = {
    "targetRunner": ("command",),
    "parameterFile": ("space",),
    "trainInstancesDir": ("instances",),
    "trainInstancesFile": ("instances",),
    "testInstancesDir": ("test_instances",),
    "testInstancesFile": ("test_instances",),
    "maxExperiments": ("budget", "runs"),
    "maxTime": ("budget", "target_time"),
    "boundMax": ("cutoff",),
    "boundPar": ("cost",),
    "targetRunnerTimeout": ("wall_limit",),
    "parallel": ("jobs",),
    "configurationsFile": ("initial",),
    "execDir": ("folder",),
    "seed": ("seed",),
    "deterministic": ("deterministic",),
}
"""The equivalent settings of a paramhs scenario."""

_USED = {*_KEYS, "forbiddenFile", "targetRunnerLauncher", "targetRunnerLauncherArgs"}
_USED |= {"targetCmdline", "capping", "aclib", "scenarioFile"}
_REFUSED = {
    "targetEvaluator": "costs must be printed by the target runner itself",
    "targetRunnerParallel": "R functions are not supported; `parallel` is the number of parallel"
    " runs",
    "batchmode": "the target runner must wait for its run instead of submitting it to a queue",
    "repairConfiguration": "R functions are not supported; forbid the configurations that need"
    " repair",
    "instances": "R objects are not supported; use trainInstancesDir or trainInstancesFile",
    "trainInstancesText": "write the instances into a file, trainInstancesFile",
    "testInstances": "R objects are not supported; use testInstancesDir or testInstancesFile",
    "testInstancesText": "write the instances into a file, testInstancesFile",
    "parameters": "R objects are not supported; use parameterFile",
    "initConfigurations": "R objects are not supported; use configurationsFile",
    "forbiddenExps": "R objects are not supported; use forbiddenFile",
    "recoveryFile": "irace's logs are not supported; paramhs resumes a search by itself",
}
_IDLE = frozenset(
    re.findall(
        r"\w+",
        "logFile quiet debugLevel iterationCallback postselection elitist elitistNewInstances"
        " elitistLimit sampleInstances softRestart softRestartThreshold nbIterations"
        " nbExperimentsPerIteration minNbSurvival nbConfigurations mu digits targetRunnerRetries"
        " targetRunnerData loadBalancing mpi blockSize testNbElites testIterationElites"
        " minExperiments budgetEstimation minMeasurableTime testType firstTest eachTest confidence"
        " cappingAfterFirstTest cappingType boundType boundDigits boundAsTimeout sgeCluster"
        " expName expDescription timeEstimate",
    )
)
_OLD = {  # irace 1
    "hookRun": "targetRunner",
    "hookEvaluate": "targetEvaluator",
    "instanceDir": "trainInstancesDir",
    "instanceFile": "trainInstancesFile",
    "testInstanceDir": "testInstancesDir",
    "testInstanceFile": "testInstancesFile",
    "candidatesFile": "configurationsFile",
    "timeBudget": "maxTime",
}
_OPTIONS = _USED | _REFUSED.keys() | _IDLE | _OLD.keys()
_SHARED = {"seed", "deterministic", "instances", "parameterFile", "execDir"}
"""Names that scenarios of ParamILS and SMAC may also use."""

_CALL = "{configurationID} {instanceID} {seed} {instance} {bound} {targetRunnerArgs}"
_ACLIB_CALL = "--instance {instance} --cutoff {bound} --seed {seed} --config {targetRunnerArgs}"
_PLACEHOLDERS = {
    "{configurationID}": "{config_id}",
    "{instanceID}": "{instance_id}",
    "{targetRunnerArgs}": "{params}",
    "{bound}": "{cutoff}",
}

_NAME = r"[A-Za-z.][\w.]*"
_LINE = re.compile(rf"\s*({_NAME})\s*(?:=|<-)\s*(.*)")
_VALUE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^\s"'#;(){{}}]*))\s*;?\s*(?:\#.*)?""")
_WORDS = {"TRUE": True, "T": True, "FALSE": False, "F": False, "NA": None, "NULL": None}

Value = str | float | bool | None


class _Setting(NamedTuple):
    value: Value
    line: int


def is_irace(text: str) -> bool:
    """Whether a text looks like a scenario of irace."""
    names = {match[1] for match in map(_LINE.match, text.splitlines()) if match}
    if re.search(r"^\s*-{0,2}algo[-_]?(exec)?\b", text, re.MULTILINE | re.IGNORECASE):
        return False
    return bool(names & (_OPTIONS - _SHARED)) or (bool(names) and names <= _OPTIONS)


def read_irace_scenario(path: Path, text: str) -> Parsed:
    """Translate the file into the settings of a paramhs scenario."""
    source = Source(path)
    given = _read_settings(source, text)
    used = {name: setting for name, setting in given.items() if name in _KEYS}
    source.lines = {_KEYS[name]: setting.line for name, setting in used.items()}
    source.names = {_KEYS[name]: name for name in used}
    home = path.parent.absolute()
    translation = _Translation(given, source, home)
    around = [home, home / "Instances", Path().absolute()]
    return Parsed(
        translation.whole(),
        source,
        [folder for folder in around if os.path.isdir(folder)],
        translation.listings(),
        translation.read_parameters,
    )


def _read_settings(source: Source, text: str) -> dict[str, _Setting]:
    """Settings that are used here; the others are noted or rejected."""
    given: dict[str, _Setting] = {}
    idle = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            name, value = _parsed(line)
        except ValueError as error:
            source.problems.append(f"{source.path}, line {number}: {error}")
            break  # R code may continue over many lines
        name = _OLD.get(name, name)
        if name in _REFUSED and value not in (None, "", 0):
            source.problems.append(f"{source.path}, line {number}, {name}: {_REFUSED[name]}")
        elif name in _IDLE or name.startswith("."):
            idle.append(f"{name} (line {number})")
        elif name not in _OPTIONS:
            close = get_close_matches(name, sorted(_OPTIONS), 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            source.problems.append(
                f"{source.path}, line {number}: irace has no setting {name}{hint}"
            )
        elif value not in (None, ""):
            given[name] = _Setting(value, number)
    if idle:
        source.notes.append(f"{source.path}: ignored by paramhs: {', '.join(idle)}")
    return given


def _parsed(line: str) -> tuple[str, Value]:
    match = _LINE.match(line)
    value = _VALUE.fullmatch(match[2]) if match else None
    if match is None or value is None:
        raise ValueError(
            "this is a scenario of irace, and R code is not supported: expected name = value with a"
            f" quoted text, a number, TRUE or FALSE; found {line.strip()[:60]!r}"
        )
    text = value[1] if value[1] is not None else value[2]
    return match[1], text if text is not None else _bare(match[1], value[3])


def _bare(name: str, word: str) -> Value:
    if word in _WORDS:
        return _WORDS[word]
    try:
        return float(word.removesuffix("L"))
    except ValueError:
        raise ValueError(
            f"{name}: {word[:40]!r} is R code, which is not supported: expected a quoted text,"
            " a number, TRUE or FALSE"
        ) from None


class _Translation:
    """Translation into the settings of a paramhs scenario; problems are collected."""

    def __init__(self, given: Mapping[str, _Setting], source: Source, home: Path) -> None:
        self.given = given
        self.source = source
        self.home = home

    def whole(self) -> dict[str, Any]:
        """Translate all settings."""
        bound = self._number("boundMax")
        limits = {"runs": self._whole("maxExperiments"), "target_time": self._number("maxTime")}
        settings = {
            "command": self._command(bound is not None),
            "folder": str(self.home / self._text("execDir", ".")),
            "read": "aclib2" if self._truth("aclib") else "irace",
            "cost": self._cost(bound is not None),
            "space": self._text("parameterFile", "parameters.txt"),
            "instances": self._instances("train") or self._usual_instances(),
            "test_instances": self._instances("test") or 0.0,
            "cutoff": bound,
            "wall_limit": self._number("targetRunnerTimeout"),
            "deterministic": self._truth("deterministic"),
            "initial": self._text("configurationsFile", "") or None,
            "seed": self._whole("seed"),
            "jobs": self._whole("parallel"),
            "budget": {name: limit for name, limit in limits.items() if limit is not None},
        }
        if not settings["budget"] and "budget" not in self.source.wrong:
            self._complain("maxExperiments", "set maxExperiments or maxTime as the budget")
        return {name: value for name, value in settings.items() if value is not None}

    def listings(self) -> dict[str, dict[str, Any]]:
        """How to read lists of instances: names are looked up in their folder first."""
        folders = {kind: self._text(f"{kind}InstancesDir", "") for kind in ("train", "test")}
        keys = {"train": "instances", "test": "test_instances"}
        return {
            keys[kind]: {"alone": True, "inside": self.home / folder if folder else None}
            for kind, folder in folders.items()
        }

    def read_parameters(self, path: Path) -> SpaceFile:
        """Read the space, including the clauses of the forbidden file."""
        name = self._text("forbiddenFile", "")
        if not name:
            return read_space(path, "irace")
        parameters, forbidden = read_text(path), read_text(self.home / name)
        first = parameters.count("\n") + 2  # the line of the heading between the two
        try:
            return SpaceFile(*read_irace(path, f"{parameters}\n[forbidden]\n{forbidden}"))
        except BadInput as error:
            found = re.match(rf"{re.escape(str(path))}, line (\d+)(.*)", str(error), re.DOTALL)
            if found is None or int(found[1]) <= first:
                raise
            line = int(found[1]) - first
            raise BadInput(f"{self.home / name}, line {line}{found[2]}") from None

    def _complain(self, name: str, what: object) -> None:
        line = self.given[name].line if name in self.given else None
        where = f", line {line}" if line else ""
        self.source.problems.append(f"{self.source.path}{where}, {name}: {what}")
        self.source.wrong.update(_KEYS.get(name, ())[:1])

    def _text(self, name: str, usual: str) -> str:
        value = self.given[name].value if name in self.given else usual
        if isinstance(value, str):
            return value
        self._complain(name, f"expected a quoted text, not {value!r}")
        return usual

    def _number(self, name: str) -> float | None:
        """Positive number; None for 0, which means no limit."""
        value = self.given[name].value if name in self.given else 0.0
        try:
            number = float(value)  # type: ignore[arg-type]
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            self._complain(name, f"expected a number that is not negative, not {value!r}")
        return number if 0 < number < math.inf else None

    def _whole(self, name: str) -> int | None:
        number = self._number(name)
        if number is not None and not number.is_integer():
            self._complain(name, f"expected an integer, not {number!r}")
        return None if number is None else int(number)

    def _truth(self, name: str) -> bool:
        value = self.given[name].value if name in self.given else False
        if value not in (0, 1, "0", "1"):
            self._complain(name, f"expected 0 or 1, not {value!r}")
        return value in (1, "1")

    def _cost(self, bounded: bool) -> str:
        capped = bounded and self._number("maxTime") is not None
        if "capping" in self.given:
            capped = bounded and self._truth("capping")
        elif capped:
            self.source.notes.append(
                f"{self.source.where(('cutoff',))}: with maxTime, runtimes are minimised, as in"
                " irace 4; irace 3 minimised the printed cost, as does capping = 0"
            )
        return f"PAR{self._number('boundPar') or 1:g}" if capped else "minimise"

    def _command(self, bounded: bool) -> list[str]:
        call = self._text("targetCmdline", _ACLIB_CALL if self._truth("aclib") else _CALL)
        runner = self._program(self._text("targetRunner", "target-runner"))
        words = [self._filled(word, runner, bounded) for word in call.split()]
        words = [word for word in words if word]
        launcher = self._text("targetRunnerLauncher", "")
        if not launcher or "{targetRunner}" in call:
            return [self._program(launcher) if launcher else runner, *words]
        launched = [self._program(launcher)]
        usual = "{targetRunner} {targetRunnerArgs}"
        for word in self._text("targetRunnerLauncherArgs", usual).split():
            launched += (
                words if word == "{targetRunnerArgs}" else [self._filled(word, runner, True)]
            )
        return launched

    def _filled(self, word: str, runner: str, bounded: bool) -> str:
        word = word if bounded else word.replace("{bound}", "")
        for theirs, ours in _PLACEHOLDERS.items():
            word = word.replace(theirs, ours)
        return word.replace("{targetRunner}", runner)

    def _program(self, name: str) -> str:
        """Find a program beside the scenario, or else on the system's path."""
        path = self.home / name
        found = not os.path.exists(path) and os.sep not in name and shutil.which(name)
        word = name if found else str(path)
        return word.replace("{", "{{").replace("}", "}}")

    def _instances(self, kind: str) -> str | None:
        """Path of the list of instances, or else of the folder."""
        for name in (f"{kind}InstancesFile", f"{kind}InstancesDir"):
            if self._text(name, ""):
                return str(self.home / self._text(name, ""))
        return None

    def _usual_instances(self) -> str | None:
        """Default folder of instances before irace 4."""
        folder = self.home / "Instances"
        return str(folder) if os.path.isdir(folder) else None
