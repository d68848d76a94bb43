"""Another program's search as a scenario, runs and incumbents of paramhs."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paramhs.core.costs import score
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Point, Run, Status, Task
from paramhs.core.scenario import FIXED_SEED, Scenario
from paramhs.core.space import Config, Integer, Parameter, Real, Space
from paramhs.core.space.literals import Value, is_number
from paramhs.core.space.number_list import NumberList
from paramhs.core.space.objects import plain
from paramhs.core.text.numbers import counted
from paramhs.core.text.quoting import short
from paramhs.formats.imports.other_search import OtherRun, OtherSearch, Values


class Translated(NamedTuple):
    """A search in our own terms."""

    scenario: Scenario
    runs: Sequence[Run]
    ended: Sequence[float]
    """For each run, seconds from the beginning of the search."""
    trajectory: Sequence[Point]
    notes: Sequence[str]


def translated(search: OtherSearch) -> Translated:
    """Translate a search; every configuration keeps exactly its values."""
    space = _exact_space(search)
    configs = [_config(space, values) for values in search.configs]
    names = [instance for instance in search.instances if instance]
    instances = {name: Instance(name) for name in names}
    scenario = Scenario(
        space,
        tuple(instances.values()),
        search.metric,
        search.cutoff,
        deterministic=search.deterministic,
    )
    runs: dict[tuple[Config, str, int, float], tuple[Run, float]] = {}
    repeated, passed, spent = 0, 0.0, 0.0
    places: list[int] = []
    for run in search.runs:
        made = _run(run, configs[run.config], instances[run.instance], search.deterministic)
        spent += made.runtime
        passed = max(passed, spent if run.ended is None else run.ended)
        call = made.task.config, made.task.instance.name, made.task.seed, made.task.cutoff
        if call in runs:
            repeated += 1
        else:
            runs[call] = made, passed
        places.append(len(runs))
    kept = list(runs.values())
    notes = [*search.notes]
    if repeated:
        notes.append(
            f"{counted(repeated, 'run')} left out: the same configuration, instance and seed again"
        )
    made_runs = [run for run, _ in kept]
    points = _trajectory(search, configs, made_runs, places, scenario)
    return Translated(scenario, made_runs, [at for _, at in kept], points, notes)


def _exact_space(search: OtherSearch) -> Space:
    """The space with the numbers that were tried in place of ranges that lack some of them."""
    configs = [*search.configs, search.default]
    found: dict[str, Parameter] = {}
    for name, parameter in search.space.parameters.items():
        values = [_plain(values[name]) for values in configs if name in values]
        default = _plain(search.default[name]) if name in search.default else parameter.default
        found[name] = _with_default(parameter, [*values, default], default)
    try:
        return Space(found, conditions=search.space.conditions, forbidden=search.space.forbidden)
    except BadInput as error:
        raise BadInput(f"the parameters of the imported search: {error}") from None


def _plain(value: object) -> Value:
    return plain(value)  # type: ignore[return-value]  # numbers, texts, booleans, or an object


def _with_default(parameter: Parameter, values: Sequence[Value], default: Value) -> Parameter:
    """The parameter with this default, and exactly these values where it is a range."""
    if not isinstance(parameter, Real | Integer):
        return _listed_with_default(parameter, default)
    numbers: list[float] = [value for value in values if is_number(value)]  # type: ignore[misc]
    if isinstance(parameter, Integer) and _has_all(parameter, numbers):
        return Integer(parameter.low, parameter.high, default=int(default))
    kind = int if isinstance(parameter, Integer) else float
    ends = (parameter.low, parameter.high)
    return NumberList(map(kind, (*numbers, *ends)), log=parameter.is_log, default=kind(default))


def _has_all(parameter: Integer, numbers: Sequence[float]) -> bool:
    """Whether it has every integer of its range, and these are among them."""
    if parameter.log or parameter.step != 1:
        return False
    return all(float(n).is_integer() and parameter.low <= n <= parameter.high for n in numbers)


def _listed_with_default(parameter: Parameter, default: Value) -> Parameter:
    index = _index(parameter, default)
    if index == parameter.default_index:
        return parameter
    objects = getattr(parameter, "objects", ())
    values = dict(zip(parameter.choices, objects, strict=True)) if objects else parameter.choices
    return type(parameter)(values, default=parameter.value(index))  # type: ignore[call-arg]


def _config(space: Space, values: Values) -> Config:
    """The configuration with these values; missing ones are defaults if they are active."""
    indices = [p.default_index for p in space.listed]
    for name, value in values.items():
        if name not in space.position:
            raise BadInput(f"a run has a value of {short(name)}, which is not a parameter")
        try:
            indices[space.position[name]] = _index(space.parameters[name], value)
        except BadInput as error:
            raise BadInput(f"a run has a value of {name} outside the space: {error}") from None
    return space.configured(indices)


def _index(parameter: Parameter, value: object) -> int:
    """Index of a value, which may be written as text, or a number where texts are listed."""
    value = plain(value)
    try:
        return parameter.index(value)
    except BadInput:
        for index, choice in enumerate(parameter.choices):
            if str(choice) == str(value):
                return index
        raise


def _run(run: OtherRun, config: Config, instance: Instance, deterministic: bool) -> Run:
    seed = FIXED_SEED if deterministic else run.seed
    usable = run.quality is not None and math.isfinite(run.quality)
    quality = run.quality if usable else None
    task = Task(config, instance, seed, run.cutoff)
    return Run(task, run.status, run.seconds, quality, run.detail)


def _trajectory(
    search: OtherSearch,
    configs: Sequence[Config],
    runs: Sequence[Run],
    places: Sequence[int],
    scenario: Scenario,
) -> list[Point]:
    """Incumbents with their mean costs at the time; the default comes first if it was run."""
    points: list[Point] = []
    for step in search.steps:
        config = configs[step.config]
        if points and points[-1].config == config:
            continue
        count = places[min(step.runs, len(places)) - 1] if places and step.runs else 0
        points.append(_point(config, runs[:count], scenario))
    return points


def _point(config: Config, runs: Sequence[Run], scenario: Scenario) -> Point:
    own = [run for run in runs if run.task.config == config and run.status is not Status.CAPPED]
    cost = scenario.cost.shown(score([scenario.cost_of(run) for run in own])) if own else None
    return Point(config, len(runs), math.fsum(run.runtime for run in runs), cost, len(own))


def most_run(runs: Iterable[OtherRun]) -> list[tuple[int, int]]:
    """Configuration with the most runs after each number of runs, where it changes."""
    counts: Counter[int] = Counter()
    found: list[tuple[int, int]] = []
    best = -1
    for number, run in enumerate(runs, 1):
        counts[run.config] += 1
        if best < 0 or counts[run.config] > counts[best]:
            if run.config != best:
                found.append((run.config, number))
            best = run.config
    return found
