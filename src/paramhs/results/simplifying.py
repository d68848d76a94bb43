"""The fewest changes that keep the gain: an ablation, a choice, and a verdict on it.

The ablation's runs are on the instances of the search with seeds that nobody has used, in a file of
their own: no part of the search's budget or evidence. The choice is made by them; the verdict is on
the test set, where nothing was chosen, with runs in the verdict's own file.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paramhs.results.ablating import Ablating
from paramhs.results.ablation import (
    Ablation,
    AblationStep,
    Simplified,
    changes_between,
    settings,
)
from paramhs.results.validating import TestSet, make_runs, meet, verdict_store
from paramhs.results.verdict import LEAST_INSTANCES, Interval, verdict
from paramhs.search.history import History
from paramhs.values.costs import CostMetric, Quality, score
from paramhs.values.runs import Pair, Run, Target
from paramhs.values.scenario import Scenario, told_apart
from paramhs.values.space import Config, Space
from paramhs.values.wording import counted
from paramhs.world.driver import Budget
from paramhs.world.running import ONE_AT_A_TIME, Running

KEEP = 0.95
USUAL_BUDGET = 500
_RESULT = "simplified"  # the name under which a store keeps it
_RESAMPLES = 2_000
_QUALITY = Quality()


def ablation_store(store: str | Path) -> Path:
    """Where the runs of an ablation are kept: beside those of the search."""
    return Path(store).with_name(f"{Path(store).name.removesuffix('.sqlite')}.ablation.sqlite")


def read_simplified(
    store: str | Path, space: Space, metric: CostMetric = _QUALITY
) -> Simplified | None:
    """What was made of the best of the search in this store; None if that was not done.

    It may be of an earlier best: its ablation says of which.
    """
    from paramhs.world.store.notes import read_note  # sqlite3 only where it is needed

    path = ablation_store(store)
    note = read_note(path, _RESULT) if path.exists() else None
    return Simplified.from_json(note, space, metric) if isinstance(note, dict) else None


def simplify(
    scenario: Scenario,
    target: Target,
    best: Config,
    *,
    budget: int = USUAL_BUDGET,
    keep: float = KEEP,
    order: Sequence[str] = (),
    test_set: TestSet | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
) -> Simplified | None:
    """The fewest changes of the default that keep the gain of the best; None if interrupted.

    `budget` is the number of runs for the ablation; those of the verdict come on top. `order` names
    parameters, those first that probably matter most. `store` is that of the search.
    """
    instances = scenario.instances if store is None else tuple(map(told_apart, scenario.instances))
    plain = replace(scenario, instances=instances, initial=(), known=())
    ablating = Ablating(History(plain, seed), best, budget, keep, order)
    if best == scenario.space.default:
        return Simplified(_empty(ablating), 0, keep)
    own_store = None if store is None else ablation_store(store)
    running.watcher.notice(_announced(ablating))
    budgeted = Budget(runs=ablating.budget)
    driver = make_runs(
        "ablation", ablating.search(), ablating.history, target, budgeted, own_store, running
    )
    if driver.session.ended is None:
        return None
    found = _choose(_ablation(ablating), ablating)
    if test_set is not None and found.step:
        made = meet(
            plain,
            target,
            [scenario.space.default, best, found.config],
            test_set,
            seed=seed,
            store=verdict_store(store),
            running=running,
        )
        if made is None:
            return None
        found = _judged(found, made, scenario, test_set)
    if own_store is not None:
        from paramhs.world.store.notes import keep_note

        keep_note(own_store, _RESULT, found.to_json())
    return found


def _announced(ablating: Ablating) -> str:
    return (
        f"ablation: {counted(len(ablating.changes.units), 'change')}, at most"
        f" {counted(ablating.budget, 'run')}, on {_on(ablating.history.scenario)}"
    )


def _on(scenario: Scenario) -> str:
    if scenario.deterministic:
        return f"{counted(len(scenario.instances), 'instance')} of the search"
    return TestSet(scenario.instances, held_out=False).text


# What the runs say.


def _ablation(ablating: Ablating) -> Ablation:
    """The way with its costs, all over the same pairs."""
    configs = [ablating.default, *(stop.config for stop in ablating.stops)]
    seen = [_Seen(ablating, config) for config in configs]
    steps = [
        _step(ablating, stop.tried, seen[0], before, now)
        for stop, before, now in zip(ablating.stops, seen, seen[1:], strict=False)
    ]
    history = ablating.history
    return Ablation(
        ablating.default,
        ablating.best,
        seen[0].cost,
        seen[0].failed,
        tuple(steps),
        len(ablating.pairs),
        len(history.runs),
        math.fsum(run.runtime for run in history.runs),
        _on(history.scenario),
        history.scenario.cost.label,
    )


class _Seen:
    """A configuration on the pairs of an ablation."""

    def __init__(self, ablating: Ablating, config: Config) -> None:
        metric, known = ablating.history.scenario.cost, ablating.history.costs(config)
        costs = [known[pair] for pair in ablating.pairs]
        self.config = config
        self.cost = metric.shown(score(costs))
        self.failed = sum(math.isinf(cost[0]) for cost in costs)
        self.numbers = np.array([cost[ablating.level] for cost in costs])


def _step(
    ablating: Ablating, tried: int, default: _Seen, before: _Seen, now: _Seen
) -> AblationStep:
    maximise = ablating.history.scenario.cost.maximise
    gain, ratio = estimates(before.numbers, now.numbers, ablating.pairs, maximise)
    _, total = estimates(default.numbers, now.numbers, ablating.pairs, maximise)
    return AblationStep(
        changes_between(before.config, now.config),
        now.config,
        len(settings(changes_between(default.config, now.config))),
        now.cost,
        now.failed,
        ratio,
        gain,
        total,
        ablating.kept(now.config)[0] if ablating.has_gain else None,
        tried,
    )


Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


def estimates(
    first: Numbers, second: Numbers, pairs: Sequence[Pair], maximise: bool
) -> tuple[Interval | None, Interval | None]:
    """How much and how many times lower the second's mean is, as a verdict has it: over the runs
    that neither failed, by the bootstrap over instances, or over runs where these are few."""
    usable = np.isfinite(first) & np.isfinite(second)
    if not usable.any():
        return None, None
    names = np.unique([pair.instance.name for pair in pairs], return_inverse=True)[1][usable]
    if len(set(names.tolist())) < LEAST_INSTANCES:
        names = np.arange(len(names))
    cases = np.unique(names, return_inverse=True)[1]
    counts = np.bincount(cases)
    a, b = (np.bincount(cases, numbers[usable]) / counts for numbers in (first, second))
    drawn = np.random.default_rng(0).integers(len(a), size=(_RESAMPLES, len(a)))
    means = [np.array([x.mean(), *x[drawn].mean(axis=1)]) for x in (a, b)]
    gain = _interval(means[0] - means[1], len(a))
    sign = -1.0 if maximise else 1.0
    if min(a.min() * sign, b.min() * sign) <= 0:
        return gain, None
    return gain, _interval(means[1] / means[0] if maximise else means[0] / means[1], len(a))


def _interval(numbers: Numbers, cases: int) -> Interval:
    """The first is the estimate, the others are resampled; one case says nothing of others."""
    if cases == 1:
        return Interval(float(numbers[0]), -math.inf, math.inf)
    low, high = np.quantile(numbers[1:], (0.025, 0.975))
    return Interval(float(numbers[0]), float(low), float(high))


def _choose(ablation: Ablation, ablating: Ablating) -> Simplified:
    """The fewest steps that keep the gain; up to a standard error, where otherwise only all of them
    would; none where there is no gain."""
    if not ablating.has_gain:
        return Simplified(ablation, 0, ablating.keep)
    shares = [ablating.kept(step.config)[0] for step in ablation.steps[:-1]]
    enough = [share >= ablating.keep for share in shares]
    if not any(enough):
        enough = [ablating.keeps(step.config) for step in ablation.steps[:-1]]
    return Simplified(ablation, [*enough, True].index(True) + 1, ablating.keep)


def _judged(
    found: Simplified,
    made: Mapping[Config, Sequence[Run]],
    scenario: Scenario,
    test_set: TestSet,
) -> Simplified:
    ablation, metric = found.ablation, scenario.cost
    default, best, own = (made[c] for c in (ablation.default, ablation.best, found.config))
    judged = verdict(default, own, metric, test_set.text)
    beside = verdict(best, own, metric, test_set.text)
    return replace(
        found,
        verdict=replace(judged, names=("default", "simplified")),
        against_best=None
        if found.config == ablation.best
        else replace(beside, names=("best", "simplified")),
        verdict_runs=sum(map(len, made.values())),
    )


def _empty(ablating: Ablating) -> Ablation:
    """Where the default is the best."""
    label, on = ablating.history.scenario.cost.label, _on(ablating.history.scenario)
    return Ablation(ablating.default, ablating.best, math.nan, 0, (), 0, 0, 0.0, on, label)
