"""SMAC 2's folder `state-run`: runs_and_results, paramstrings, instances and the parameter file.

Names may have an iteration, as in `runs_and_results-it12.csv`; the latest is read. Numbers of
configurations and instances begin with 1.

Source: SMAC Manual 2.10, "State Files".
"""

import csv
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paramhs.core.costs import CostMetric, Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Status
from paramhs.core.space import Space
from paramhs.core.text.numbers import printable
from paramhs.formats.imports.other_search import OtherRun, OtherSearch, Step, Values
from paramhs.formats.imports.translation import most_run
from paramhs.formats.space_files import read_space

_RUNS, _CONFIGS = "runs_and_results", "paramstrings"
_SPACES = ("param.pcs", "param-file.txt", "params.pcs", "param.txt", "pcs.txt")
_VALUE = re.compile(r"([^=,\s]+)='([^']*)'")
_SETTING = re.compile(r"\s*([\w-]+)\s*=\s*(.*?)\s*")
_STATUS = {"SAT": Status.OK, "UNSAT": Status.OK, "SUCCESS": Status.OK, "TIMEOUT": Status.TIMEOUT}
_MAX_SECONDS = 1e15  # stands for no limit


def is_smac2(path: Path) -> bool:
    """Whether it is a folder with the state of a run of SMAC 2."""
    return path.is_dir() and _latest(path, _RUNS) is not None


def _latest(folder: Path, name: str) -> Path | None:
    found = [p for p in folder.glob(f"{name}*") if p.suffix in (".csv", ".txt")]
    return max(found, key=lambda p: int((re.findall(r"\d+", p.stem) or [0])[-1]), default=None)


def read_smac2(folder: Path, space: Path | None = None) -> OtherSearch:
    """Read the state of a run of SMAC 2."""
    runs_file, configs_file = _latest(folder, _RUNS), _latest(folder, _CONFIGS)
    if runs_file is None or configs_file is None:
        raise BadInput(f"{printable(str(folder))} has no file {_RUNS} or {_CONFIGS}")
    try:
        return _search(folder, runs_file, configs_file, _space(folder, space))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{printable(str(runs_file))} is not as SMAC 2 writes it"
            f" ({type(error).__name__}: {error})"
        ) from error


def _space(folder: Path, given: Path | None) -> Space:
    for path in (given, *(folder / name for name in _SPACES)):
        if path is not None and (path == given or path.is_file()):
            return read_space(path).space
    raise BadInput(
        f"{printable(str(folder))} has no parameter file ({', '.join(_SPACES)}); name it with"
        " space= (--space on the command line)"
    )


def _search(folder: Path, runs_file: Path, configs_file: Path, space: Space) -> OtherSearch:
    settings = _settings(folder / "scenario.txt")
    cutoff = _limit(settings.get("cutofftime") or settings.get("algocutofftime"))
    metric = _metric(settings, cutoff)
    place: dict[int, int] = {}
    configs: list[Values] = []
    for line in configs_file.read_text(encoding="utf-8").splitlines():
        number, _, text = line.partition(":")
        if text.strip():
            place[int(number)] = len(configs)
            configs.append({n: v for n, v in _VALUE.findall(text) if n in space.parameters})
    configs = [_active(values, space) for values in configs]
    instances = _instances(folder)
    with runs_file.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    limit = cutoff if metric.needs_runtime else math.inf
    runs = [_run(row, place, instances, metric, limit) for row in rows]
    return OtherSearch(
        "SMAC 2",
        space,
        {name: space.default[name] for name in space.default},
        configs,
        runs,
        [Step(*step) for step in most_run(runs)],
        list(dict.fromkeys([*instances.values(), *(run.instance for run in runs)])),
        metric,
        limit,
        settings.get("deterministic", settings.get("algodeterministic", "0")) in ("1", "true"),
        notes=["the incumbent is the configuration with the most runs at each time"],
    )


def _active(values: Mapping[str, Any], space: Space) -> Values:
    """Values as the parameters have them, from their texts."""
    return {name: _number(text, space, name) for name, text in values.items()}


def _number(text: str, space: Space, name: str) -> object:
    parameter = space.parameters[name]
    if not parameter.numeric:
        return text
    number = float(text)
    return int(number) if number.is_integer() and isinstance(parameter.default, int) else number


def _settings(path: Path) -> dict[str, str]:
    """Settings of the scenario; names without signs, as SMAC has several for each."""
    if not path.is_file():
        return {}
    found = map(_SETTING.fullmatch, path.read_text(encoding="utf-8").splitlines())
    return {re.sub("[-_]", "", m[1]).lower(): m[2].lower() for m in found if m}


def _limit(text: str | None) -> float:
    seconds = float(text) if text else math.inf
    return seconds if seconds < _MAX_SECONDS else math.inf


def _metric(settings: Mapping[str, str], cutoff: float) -> CostMetric:
    if settings.get("runobj", "runtime") != "runtime" or math.isinf(cutoff):
        return Quality()
    penalty = re.search(r"\d+", settings.get("overallobj", "mean10"))
    return Runtime(float(penalty[0]) if penalty else 1.0)


def _instances(folder: Path) -> dict[int, str]:
    path = folder / "instances.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return dict(enumerate((line.split()[-1] for line in lines if line.strip()), 1))


def _run(
    row: Mapping[str, str],
    place: Mapping[int, int],
    instances: Mapping[int, str],
    metric: CostMetric,
    cutoff: float,
) -> OtherRun:
    number = int(row["Instance ID"])
    name = instances.get(number) or (NO_INSTANCE.name if not instances else f"instance {number}")
    status = _STATUS.get(row["Run Result"].strip().upper(), Status.CRASHED)
    limit, seconds = cutoff, float(row["Runtime"])
    if metric.needs_runtime and row["Censored?"].strip() in ("1", "true"):
        limit = min(_limit(row["Cutoff Time Used"]), cutoff)
        status = Status.CAPPED if limit < cutoff else Status.TIMEOUT
    quality = float(row["Run Quality"])
    return OtherRun(
        place[int(row["Run History Configuration ID"])],
        name,
        int(row["Seed"]),
        status,
        min(seconds, limit) if metric.needs_runtime else seconds,
        None if metric.needs_runtime or status is not Status.OK else quality,
        limit,
        detail="" if status is not Status.CRASHED else row["Run Result"].strip().lower(),
    )
