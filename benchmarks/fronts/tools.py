"""Searches for a front with a number of runs: paramhs, Optuna, SMAC3 and random configurations.

Optuna and random configurations run each configuration on every training instance, with the mean of
the logarithm of each cost; paramhs and SMAC3 choose instances and seeds themselves.
"""

import json
import math
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import paramhs
from benchmarks.fronts.cases import Case
from paramhs.analysis.front import MAX_POINTS, front_configs
from paramhs.core.random_streams import stream
from paramhs.core.space import Categorical, Integer, Real, Space
from paramhs.search.front import is_dominated

Found = list[dict[str, Any]]
"""Configurations of a front."""


def by_paramhs(case: Case, seed: int, runs: int, python: Path, most: int = MAX_POINTS) -> Found:
    """The front of `paramhs.tune`: at most eight points."""
    costs = [f"minimise {name}" for name in case.costs]

    def function(config: Mapping[str, Any], instance: Any, seed: int) -> tuple[float, float]:
        return case.function(config, instance, seed)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = paramhs.tune(
            function,
            case.space,
            instances={str(value): value for value in case.training},
            cost=costs,
            budget=runs,
            seed=seed,
        )
    configs = [*front_configs(found.history, most)[0], found.default]
    return [config.as_dict() for config in configs]


def by_paramhs_whole(case: Case, seed: int, runs: int, python: Path) -> Found:
    """All configurations of the same search that no other dominates, however many."""
    return by_paramhs(case, seed, runs, python, most=runs)


def described(space: Space) -> list[dict[str, Any]]:
    """Parameters as plain values."""
    entries: list[dict[str, Any]] = []
    for name, one in space.parameters.items():
        entry: dict[str, Any] = {"name": name, "default": one.default}
        if isinstance(one, Categorical):
            entry["choices"] = list(one.values)
        elif isinstance(one, Integer | Real):
            entry |= {"low": one.low, "high": one.high, "log": one.log}
            entry["whole"] = isinstance(one, Integer)
        entries.append(entry)
    return entries


def _on_all(case: Case, config: Mapping[str, Any], seed: int) -> tuple[float, ...]:
    rows = [case.function(config, instance, seed + k) for k, instance in enumerate(case.training)]
    return tuple(sum(map(math.log, column)) / len(column) for column in zip(*rows, strict=True))


def by_random(case: Case, seed: int, runs: int, python: Path) -> Found:
    """Of random configurations and the default, those that no other dominates."""
    rng = stream(seed, "random")
    count = runs // len(case.training)
    configs = [case.space.default, *(case.space.sample(rng) for _ in range(count - 1))]
    costs = [_on_all(case, config.as_dict(), 1000 * k) for k, config in enumerate(configs)]
    both = zip(configs, costs, strict=True)
    return [config.as_dict() for config, own in both if not is_dominated(own, costs)]


def _by_optuna(case: Case, seed: int, runs: int, sampler: Callable[[int], Any]) -> Found:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    distributions = {
        entry["name"]: optuna.distributions.CategoricalDistribution(entry["choices"])
        if "choices" in entry
        else optuna.distributions.IntDistribution(entry["low"], entry["high"], log=entry["log"])
        if entry["whole"]
        else optuna.distributions.FloatDistribution(entry["low"], entry["high"], log=entry["log"])
        for entry in described(case.space)
    }
    study = optuna.create_study(directions=["minimize"] * 2, sampler=sampler(seed))
    study.enqueue_trial(case.space.default.as_dict())
    for number in range(runs // len(case.training)):
        trial = study.ask(distributions)
        study.tell(trial, _on_all(case, trial.params, 1000 * number))
    return [dict(trial.params) for trial in study.best_trials]


def by_tpe(case: Case, seed: int, runs: int, python: Path) -> Found:
    """Optuna's tree-structured Parzen estimator."""
    import optuna

    return _by_optuna(case, seed, runs, lambda seed: optuna.samplers.TPESampler(seed=seed))


def by_nsga(case: Case, seed: int, runs: int, python: Path) -> Found:
    """Optuna's NSGA-II."""
    import optuna

    return _by_optuna(case, seed, runs, lambda seed: optuna.samplers.NSGAIISampler(seed=seed))


def by_smac(case: Case, seed: int, runs: int, python: Path) -> Found:
    """SMAC3's facade for algorithm configuration, with ParEGO."""
    script = Path(__file__).with_name("smac_search.py").absolute()
    with tempfile.TemporaryDirectory() as folder:
        job: dict[str, Any] = {"runs": runs, "seed": seed, "instances": len(case.training)}
        job["space"] = described(case.space)
        Path(folder, "job.json").write_text(json.dumps(job), encoding="utf-8")
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [python, script], cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        ) as process:
            return _served(process, case)


def _served(process: "subprocess.Popen[str]", case: Case) -> Found:
    assert process.stdin
    assert process.stdout
    assert process.stderr
    for line in process.stdout:
        asked = json.loads(line)
        if "front" in asked:
            found: Found = asked["front"]
            return found
        instance = case.training[asked["instance"]]
        made = case.function(asked["config"], instance, asked["seed"])
        process.stdin.write(json.dumps(made) + "\n")
        process.stdin.flush()
    raise RuntimeError(process.stderr.read()[-2000:])


TOOLS: dict[str, Callable[[Case, int, int, Path], Found]] = {
    "paramhs": by_paramhs,
    "paramhs, all points": by_paramhs_whole,
    "Optuna TPE": by_tpe,
    "Optuna NSGA-II": by_nsga,
    "SMAC3 ParEGO": by_smac,
    "random": by_random,
}


def held_out(case: Case, found: Sequence[Mapping[str, Any]]) -> list[tuple[float, ...]]:
    """Mean logarithm of each cost on the test instances, relative to the default's there."""
    configs = [case.space.default.as_dict(), *found]
    rows: list[list[tuple[float, ...]]] = [[] for _ in found]
    for number, instance in enumerate(case.test):
        rounds = [
            [case.function(config, instance, number) for config in configs]
            for _ in range(case.repeats)
        ]
        own, *others = [
            tuple(map(min, zip(*made, strict=True))) for made in zip(*rounds, strict=True)
        ]
        for row, made in zip(rows, others, strict=True):
            row.append(tuple(math.log(x / y) for x, y in zip(made, own, strict=True)))
    return [tuple(map(fmean, zip(*row, strict=True))) for row in rows]
