"""Export of a portfolio's runs in ASlib format, for selectors that choose for each instance.

paramhs trains no selector. Maintained ones, such as the PyPI package `asf`, read these files.

Source: Bischl et al., ASlib: A benchmark library for algorithm selection (Artificial Intelligence
237, 2016), version 4.0 of the format.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence

from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import shuffled, stream
from paramhs.core.runs import FAILURES, Run, Status
from paramhs.core.scenario import plain_name
from paramhs.core.space import Config

Features = Mapping[str, Mapping[str, float]]
"""Numbers that describe each instance, by instance name and name of the number."""

_FOLDS = 10
_STEP = "given"


def aslib_files(
    name: str,
    members: Sequence[Config],
    runs: Sequence[Run],
    features: Features,
    metric: CostMetric,
    cutoff: float,
) -> dict[str, str]:
    """Write a scenario in ASlib format.

    Args:
        name: Name of the scenario.
        members: The portfolio's configurations.
        runs: Whole runs of the members.
        features: Features of each instance.
        metric: What a run costs.
        cutoff: Time limit of a run in seconds.

    Returns:
        Contents of the files by name.

    Raises:
        BadInput: An instance has no features.
    """
    names = list(dict.fromkeys(plain_name(run.task.instance.name) for run in runs))
    missing = [one for one in names if one not in features]
    if missing or not names:
        raise BadInput(f"instance {missing[0] if missing else '?'!r} has no features")
    columns = sorted(features[names[0]])
    algorithm = {config: f"member{k}" for k, config in enumerate(members)}
    measure = "runtime" if metric.needs_runtime else "quality"
    used = [run for run in runs if run.task.config in algorithm]
    return {
        "description.txt": _description(name, algorithm, columns, metric, cutoff),
        "algorithm_runs.arff": _arff(
            "ALGORITHM_RUNS",
            [
                "instance_id STRING",
                "repetition NUMERIC",
                "algorithm STRING",
                f"{measure} NUMERIC",
                "runstatus {ok, timeout, memout, not_applicable, crash, other}",
            ],
            _run_rows(used, algorithm, metric),
        ),
        "feature_values.arff": _arff(
            "FEATURE_VALUES",
            ["instance_id STRING", "repetition NUMERIC", *(f"{c} NUMERIC" for c in columns)],
            ((one, 1, *(features[one][c] for c in columns)) for one in names),
        ),
        "feature_runstatus.arff": _arff(
            "FEATURE_RUNSTATUS",
            [
                "instance_id STRING",
                "repetition NUMERIC",
                f"{_STEP} {{ok, timeout, memout, presolved, crash, other}}",
            ],
            ((one, 1, "ok") for one in names),
        ),
        "feature_costs.arff": _arff(
            "FEATURE_COSTS",
            ["instance_id STRING", "repetition NUMERIC", f"{_STEP} NUMERIC"],
            ((one, 1, 0) for one in names),
        ),
        "cv.arff": _arff(
            "CV",
            ["instance_id STRING", "repetition NUMERIC", "fold NUMERIC"],
            (
                (one, 1, k % min(_FOLDS, len(names)) + 1)
                for k, one in enumerate(shuffled(names, stream(0, "folds")))
            ),
        ),
        "configurations.json": json.dumps(
            {name: config.as_dict() for config, name in algorithm.items()}, indent=1
        )
        + "\n",
    }


def _run_rows(
    runs: Sequence[Run], algorithm: Mapping[Config, str], metric: CostMetric
) -> Iterator[tuple[object, ...]]:
    repetitions: dict[tuple[str, str], int] = {}
    for run in runs:
        key = (plain_name(run.task.instance.name), algorithm[run.task.config])
        repetitions[key] = repetitions.get(key, 0) + 1
        value = run.runtime if metric.needs_runtime else run.quality
        usable = value if value is not None and math.isfinite(value) else "?"
        yield key[0], repetitions[key], key[1], usable, _status(run)


def _status(run: Run) -> str:
    if run.status is Status.OK:
        return "ok"
    if run.status in FAILURES:
        return "crash"
    return "timeout"


def _description(
    name: str,
    algorithm: Mapping[Config, str],
    columns: Sequence[str],
    metric: CostMetric,
    cutoff: float,
) -> str:
    measure = "runtime" if metric.needs_runtime else "quality"
    limit = f"{cutoff:g}" if math.isfinite(cutoff) else "'?'"
    lines = [
        f"scenario_id: {json.dumps(name)}",
        f"performance_measures: [{measure}]",
        f"performance_type: [{'runtime' if metric.needs_runtime else 'solution_quality'}]",
        f"maximize: [{'true' if metric.maximise and not metric.needs_runtime else 'false'}]",
        f"algorithm_cutoff_time: {limit if math.isfinite(cutoff) else 1e9:}",
        "algorithm_cutoff_memory: '?'",
        "features_cutoff_time: '?'",
        "features_cutoff_memory: '?'",
        "number_of_feature_steps: 1",
        f"default_steps: [{_STEP}]",
        "feature_steps:",
        f"  {_STEP}:",
        "    provides:",
        *(f"    - {json.dumps(column)}" for column in columns),
        f"features_deterministic: [{', '.join(map(json.dumps, columns))}]",
        "features_stochastic: []",
        "metainfo_algorithms:",
        *(
            f"  {one}: {{configuration: {json.dumps(config.key)}, deterministic: true}}"
            for config, one in algorithm.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def _arff(relation: str, attributes: Sequence[str], rows: Iterator[tuple[object, ...]]) -> str:
    head = [f"@RELATION {relation}", "", *(f"@ATTRIBUTE {one}" for one in attributes)]
    body = [",".join(map(_cell, row)) for row in rows]
    return "\n".join([*head, "", "@DATA", *body]) + "\n"


def _cell(value: object) -> str:
    if not isinstance(value, str) or value in ("?", "ok", "timeout", "crash"):
        return str(value)
    quoted = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ")
    return f"'{quoted}'"
