"""A study in a database of Optuna.

Optuna knows no space: each trial has its own distributions. The space has every parameter with the
widest of them. A parameter that only some trials have is active under the values of another
parameter that explain it, as they do where a branch of the objective suggests it; where none does,
it is always active, and counts as being at its default in trials without it.

A pruned trial ended before its value was known, and did not fail, so it is left out and counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from paramhs.core.costs import Quality
from paramhs.core.errors import BadInput
from paramhs.core.runs import NO_INSTANCE, Status
from paramhs.core.scenario import FIXED_SEED
from paramhs.core.space import Integer, Parameter, Real, Space
from paramhs.core.space.conditions.expressions import Member
from paramhs.core.text.numbers import printable
from paramhs.formats.imports.other_search import (
    OtherRun,
    OtherSearch,
    best_so_far,
    first_usable,
)
from paramhs.formats.space_objects import parameter_of

_STATUS = {"COMPLETE": Status.OK, "FAIL": Status.CRASHED}


def is_sqlite(path: Path) -> bool:
    """Whether a file is a database of SQLite."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def read_optuna(path: Path, name: str | None = None) -> OtherSearch:
    """Read one study of a database."""
    _check_tables(path)
    try:
        import optuna
    except ModuleNotFoundError:
        raise BadInput("optuna is not installed: pip install 'paramhs[optuna]'") from None
    storage = f"sqlite:///{path.absolute()}"
    try:
        names = optuna.get_all_study_names(storage)
        if name is None and len(names) != 1:
            raise BadInput(
                f"{printable(str(path))} has {len(names)} studies; name one of them with study="
                f" (--study on the command line): {', '.join(map(printable, names))}"
            )
        study = optuna.load_study(study_name=name or names[0], storage=storage)
        trials = study.get_trials(deepcopy=False)
        directions = study.directions
    except KeyError:
        raise BadInput(f"{printable(str(path))} has no study {printable(str(name))!r}") from None
    except RuntimeError as error:  # made by another version of Optuna
        raise BadInput(f"{printable(str(path))}: {printable(str(error))}") from None
    if len(directions) > 1:
        raise BadInput("the study has several objectives, which cannot be imported")
    return _search(f"Optuna, study {study.study_name}", trials, directions[0].name == "MAXIMIZE")


def _check_tables(path: Path) -> None:
    import sqlite3  # only where it is needed

    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema")}
    if "trials" not in tables or "studies" not in tables:
        raise BadInput(f"{printable(str(path))} is an SQLite file, but no database of Optuna")


def _search(program: str, trials: Sequence[Any], maximise: bool) -> OtherSearch:
    pruned = sum(t.state.name == "PRUNED" for t in trials)
    trials = [t for t in trials if t.params and t.state.name in _STATUS]
    if not trials:
        raise BadInput("the study has no finished trial with a parameter")
    space = space_of_trials(trials)
    configs = [_values(trial, space) for trial in trials]
    begin = min((t.datetime_start for t in trials if t.datetime_start), default=None)
    seeds = _occurrences(trials)
    deterministic = _repeat_exactly(trials)
    runs = [
        _run(k, trial, begin, FIXED_SEED if deterministic else FIXED_SEED + seed)
        for k, (trial, seed) in enumerate(zip(trials, seeds, strict=True))
    ]
    return OtherSearch(
        program,
        space,
        configs[first_usable(runs)],
        configs,
        runs,
        best_so_far(runs, maximise),
        metric=Quality(maximise=maximise),
        deterministic=deterministic,
        notes=[
            "the default is the first trial that did not fail",
            *([f"left out, as they have no value: {pruned} pruned trials"] if pruned else []),
        ],
    )


def _key(params: Mapping[str, Any]) -> str:
    return repr(sorted(params.items(), key=lambda item: item[0]))


def _repeat_exactly(trials: Sequence[Any]) -> bool:
    """Whether trials with the same parameters ended with the same value."""
    values: dict[str, set[float]] = {}
    for trial in trials:
        if trial.state.name == "COMPLETE":
            values.setdefault(_key(trial.params), set()).add(trial.value)
    return all(len(found) == 1 for found in values.values())


def _occurrences(trials: Sequence[Any]) -> list[int]:
    """How often the parameters of each trial came before: first runs are compared with first runs.

    Optuna has no seeds. The noise of two trials is independent, whichever of them are compared.
    """
    counts: Counter[str] = Counter()
    found = []
    for trial in trials:
        found.append(counts[_key(trial.params)])
        counts[_key(trial.params)] += 1
    return found


def _run(number: int, trial: Any, begin: datetime | None, seed: int) -> OtherRun:
    end = trial.datetime_complete
    status = _STATUS[trial.state.name]
    return OtherRun(
        number,
        NO_INSTANCE.name,
        seed,
        status,
        trial.duration.total_seconds() if trial.duration else 0.0,
        trial.value if status is Status.OK else None,
        ended=(end - begin).total_seconds() if end and begin else None,
        detail="" if status is Status.OK else trial.state.name.lower(),
    )


def _values(trial: Any, space: Space) -> dict[str, object]:
    """Values of a trial, as names where a category is an object."""
    found: dict[str, object] = {}
    for name, value in trial.params.items():
        parameter = space.parameters[name]
        numeric = isinstance(parameter, Integer | Real)
        found[name] = value if numeric else parameter.value(parameter.index(value))
    return found


def space_of_trials(trials: Sequence[Any]) -> Space:
    """All parameters, in the order in which they were first suggested, with their conditions."""
    distributions: dict[str, list[Any]] = {}
    for trial in trials:
        for name, one in trial.distributions.items():
            distributions.setdefault(name, []).append(one)
    parameters = {name: _widest(name, found) for name, found in distributions.items()}
    conditions = {}
    for name, found in distributions.items():
        if len(found) < len(trials):
            condition = _condition(name, parameters, trials)
            if condition is not None:
                conditions[name] = condition
    return Space(parameters, conditions=conditions)


def _widest(name: str, found: Sequence[Any]) -> Parameter:
    """The parameter of a range that contains all of these distributions."""
    first = found[0]
    if all(one == first for one in found):
        return parameter_of(first)
    if not all(type(one) is type(first) and hasattr(one, "low") for one in found):
        raise BadInput(
            f"the trials suggest {printable(name)!r} from different lists of values or kinds of"
            " ranges, which cannot be imported"
        )
    low, high = min(one.low for one in found), max(one.high for one in found)
    log = all(one.log for one in found)
    return Integer(low, high, log=log) if isinstance(low, int) else Real(low, high, log=log)


def _condition(
    name: str, parameters: Mapping[str, Parameter], trials: Sequence[Any]
) -> Member | None:
    """Values of another parameter under which all trials have this one, and no others do."""
    for parent, parameter in parameters.items():
        if parent == name or not parameter.choices:
            continue
        having = {_choice(t, parent, parameter) for t in _having(trials, name)}
        without = {_choice(t, parent, parameter) for t in trials if name not in t.params}
        if None not in having and not having & without:
            values = tuple(v for v in parameter.choices if v in having)
            return Member(parent, values)
    return None


def _having(trials: Iterable[Any], name: str) -> list[Any]:
    return [t for t in trials if name in t.params]


def _choice(trial: Any, name: str, parameter: Parameter) -> object:
    """Name of the chosen category; None if the trial has none."""
    if name not in trial.params:
        return None
    return parameter.value(parameter.index(trial.params[name]))
