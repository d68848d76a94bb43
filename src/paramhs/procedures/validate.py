"""Validation: configurations compared on instances with seeds that no search has used."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramhs.analysis.verdict import Verdict, verdict
from paramhs.core.description import description
from paramhs.core.errors import BadInput, ChangedMeanwhile
from paramhs.core.runs import Run, Search, Target
from paramhs.core.scenario import Scenario, told_apart
from paramhs.core.space import Config
from paramhs.core.test_set import TestSet
from paramhs.core.text.numbers import counted, time_text
from paramhs.execution.driver import Budget, Driver
from paramhs.execution.settings import ONE_AT_A_TIME, Running
from paramhs.execution.storage import VERDICT, open_store
from paramhs.execution.subject import changed_meanwhile, files_of, subject_of
from paramhs.procedures.interim_looks import Met, interim_looks
from paramhs.search.history import History

_NOTE = "verdicts"
_MAX_VERDICTS = 100  # verdicts noted in a store


def validate(
    scenario: Scenario,
    target: Target,
    configs: Sequence[Config],
    test_set: TestSet,
    *,
    seed: int = 0,
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
    expected: float = 0.0,
    names: Sequence[str] = (),
    accept_changed: bool = False,
    until_clear: bool = False,
) -> list[Verdict] | None:
    """Compare the first configuration with each of the others; None if interrupted.

    With several costs there is a verdict for each cost. Intervals and p-values are corrected for
    the number of verdicts. `names` are the display names
    of the configurations, by default "default" and "best". With `until_clear`, it ends as soon as
    every comparison is clear (`interim_looks`).
    """
    made = meet(
        scenario,
        target,
        configs,
        test_set,
        seed=seed,
        store=store,
        running=running,
        expected=expected,
        comparisons=len(set(configs)) - 1,
        accept_changed=accept_changed,
        until_clear=until_clear,
    )
    if made is None:
        return None
    verdicts = made.verdicts
    others = [name for name in names[1:] for _ in scenario.cost.by_name]
    called = zip(others, verdicts, strict=True) if names else ()
    return [replace(made, names=(names[0], name)) for name, made in called] or verdicts


def meet(
    scenario: Scenario,
    target: Target,
    configs: Sequence[Config],
    test_set: TestSet,
    *,
    seed: int = 0,
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
    expected: float = 0.0,
    comparisons: int = 1,
    accept_changed: bool = False,
    until_clear: bool = False,
) -> Met | None:
    """Run each configuration on the same pairs; None if interrupted.

    `expected` is the estimated wall time in seconds, for the announcement. `comparisons` is the
    number that verdicts on these runs are corrected for when they are read again.
    """
    different = list(dict.fromkeys(configs))
    if len(different) < 2:
        raise BadInput("a verdict needs two different configurations")
    if store is not None:
        test_set = replace(test_set, instances=tuple(map(told_apart, test_set.instances)))
    pairs = test_set.pairs(scenario.deterministic, seed)
    stages = interim_looks(pairs, seed) if until_clear else [pairs]
    soon = f", about {time_text(expected)}" if expected else ""
    most = "up to " if len(stages) > 1 else ""
    each = f"{most}{counted(len(pairs), 'run')} of each of {len(different)} configurations"
    running.watcher.announce(f"verdict: {each}, on {test_set.text}{soon}")
    tests = replace(scenario, instances=test_set.instances, initial=(), known=())
    history = History(tests, seed, baseline=different[0])
    met = Met(different, scenario.cost, test_set.text, stages, comparisons)
    make_runs(
        VERDICT,
        met.asked_for(history),
        history,
        target,
        Budget(runs=len(pairs) * len(different)),
        store,
        running,
        accept_changed=accept_changed,
    )
    if not met.is_over:
        return None
    if store is not None:
        _note(Path(store), met)
    return met


def _note(store: Path, met: Met) -> None:
    """Note which configurations were compared on which pairs; runs alone do not show that."""
    from paramhs.execution.storage.records import keep_fact  # sqlite3 only where it is needed

    first, *others = [config.key for config in met.configs]
    pairs = [[pair.instance.name, pair.seed] for pair in met.pairs]
    noted = [one for one in _noted(store) if one["second"] not in others or one["pairs"] != pairs]
    both = {"first": first, "comparisons": met.comparisons, "on": met.on, "pairs": pairs}
    if len(met.looks) > 1:
        both |= {"looks": len(met.looks), "early": met.early}
    made = [{**both, "second": other} for other in others]
    keep_fact(store, VERDICT, _NOTE, [*noted[-_MAX_VERDICTS:], *made])


def _noted(store: Path) -> list[dict[str, Any]]:
    """The notes in a store, each of the kind that `_note` keeps."""
    from paramhs.execution.storage.problems import believed
    from paramhs.execution.storage.records import read_fact  # sqlite3 only where it is needed

    with believed(store):
        noted: list[dict[str, Any]] = read_fact(store, VERDICT, _NOTE) or []
        for one in noted:
            words = (one["first"], one["second"], one["on"])
            names = [name for name, seed in one["pairs"] if type(seed) is int]
            whole = len(names) == len(one["pairs"]) > 0
            if not whole or not all(isinstance(word, str) for word in (*words, *names)):
                raise ValueError("a verdict was noted in another way")
        return noted


def read_verdict_of(
    store: Path, scenario: Scenario, first: Config, second: Config
) -> Verdict | None:
    """The last verdict in a store for which both of these were run on the same pairs."""
    if not store.exists() or first == second:
        return None
    sides = [first.key, second.key]
    last = _last_noted(_noted(store), sides)
    if last is None:
        return None
    runs = _runs_of(store, scenario, (first, second))
    pairs = [(name, seed) for name, seed in last["pairs"]]
    try:
        mine, other = ([runs[key, pair] for pair in pairs] for key in sides)
    except KeyError:
        return None
    return verdict(
        mine,
        other,
        scenario.cost.leading,
        last["on"],
        comparisons=last.get("comparisons", 1),
        looks=last.get("looks", 1),
        early=last.get("early", ""),
    )


def read_runs_of(
    store: Path, scenario: Scenario, configs: Sequence[Config]
) -> tuple[dict[Config, list[Run]], str] | None:
    """Runs of all of these on the same pairs, in a store, and where they are, in words."""
    if not store.exists() or len(configs) < 2:
        return None
    last = _last_noted(_noted(store), [config.key for config in configs])
    if last is None:
        return None
    runs = _runs_of(store, scenario, configs)
    pairs = [(name, seed) for name, seed in last["pairs"]]
    try:
        return {c: [runs[c.key, pair] for pair in pairs] for c in configs}, last["on"]
    except KeyError:
        return None


def _last_noted(noted: Sequence[dict[str, Any]], keys: Sequence[str]) -> dict[str, Any] | None:
    """Last note whose pairs all configurations were run on, possibly in several notes."""
    for last in noted[::-1]:
        same = [one for one in noted if (one["on"], one["pairs"]) == (last["on"], last["pairs"])]
        if {*keys} <= {key for one in same for key in (one["first"], one["second"])}:
            return last
    return None


def _runs_of(
    path: Path, scenario: Scenario, configs: Sequence[Config]
) -> dict[tuple[str, tuple[str, int]], Run]:
    """Runs of these configurations, by pair."""
    from paramhs.execution.storage.sqlite import read_runs

    return {
        (run.task.config.key, (run.task.instance.name, run.task.seed)): run
        for run in read_runs(path, scenario.space, VERDICT)
        if run.task.config in configs and run.task.cutoff == scenario.cutoff
    }


def make_runs(
    purpose: str,
    search: Search,
    history: History,
    target: Target,
    budget: Budget,
    store: str | Path | None,
    running: Running,
    *,
    accept_changed: bool = False,
) -> Driver:
    """Make runs that are no part of a search: a record of their own in the store, named by their
    purpose, from which those that were made before are taken.

    Raises:
        ChangedMeanwhile: Files that the runs depend on changed before the last run.
    """
    scenario = history.scenario
    described = {} if store is None else _described(purpose, scenario, target)
    if store is None:
        subject = files_of(target, scenario.instances)
    else:
        subject = subject_of(target, scenario.instances, scenario.cost)
    opened = open_store(
        store, scenario.space, described, subject, accept_changed=accept_changed, record=purpose
    )
    try:
        driver = running.drive(search, history, target, opened, budget, purpose=purpose)
        mixed = changed_meanwhile(opened.sight)
    finally:
        opened.close()
    if mixed:
        raise ChangedMeanwhile(f"No {purpose}: {mixed}")
    return driver


def _described(purpose: str, scenario: Scenario, target: Target) -> dict[str, object]:
    """Describe everything that defines the runs except the instances, which may be extended."""
    cost = description(scenario.cost, "the cost")
    space = scenario.space.describe()
    cutoff = None if math.isinf(scenario.cutoff) else scenario.cutoff
    limits = {"cutoff": cutoff, "answer_tolerance": scenario.answer_tolerance}
    return {purpose: {"space": space, "cost": cost, **limits}, "target": target.describe()}
