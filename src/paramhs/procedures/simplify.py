"""Simplification: the fewest changes that keep the gain.

The ablation's runs are on the instances of the search with new seeds, in a record of their own: no
part of the search's budget or evidence. The choice is made by them; the verdict is on the test set,
where nothing was chosen, with runs in the record of verdicts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paramhs.analysis.ablation import (
    Ablation,
    AblationStep,
    Simplified,
    changes_between,
    settings,
)
from paramhs.analysis.cases import compared_costs
from paramhs.analysis.intervals import Interval
from paramhs.analysis.verdict import verdict
from paramhs.core.costs import CostMetric, Quality, score
from paramhs.core.errors import BadInput
from paramhs.core.runs import Pair, Run, Target
from paramhs.core.scenario import Scenario, told_apart
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config, Space
from paramhs.core.test_set import TestSet
from paramhs.core.text.numbers import counted
from paramhs.execution.driver import Budget
from paramhs.execution.settings import ONE_AT_A_TIME, Running
from paramhs.execution.storage import ABLATION
from paramhs.execution.subject import subject_of
from paramhs.procedures.ablation_search import Ablating
from paramhs.procedures.validate import make_runs, meet
from paramhs.search.history import History

KEPT_SHARE = 0.95
USUAL_BUDGET = 500
_RESULT = "simplified"  # name of the note in a store
_QUALITY = Quality()


def read_simplified(
    store: str | Path, space: Space, metric: CostMetric = _QUALITY
) -> Simplified | None:
    """Read the simplification of the best of a search; None if there is none.

    It may belong to an earlier best, which its ablation names.
    """
    from paramhs.execution.storage.problems import believed
    from paramhs.execution.storage.records import read_fact  # sqlite3 only where it is needed

    path = Path(store)
    note = read_fact(path, ABLATION, _RESULT) if path.exists() else None
    with believed(path):
        return None if note is None else Simplified.from_json(note, space, metric)


def simplify(
    scenario: Scenario,
    target: Target,
    best: Config,
    *,
    budget: int = USUAL_BUDGET,
    keep: float = KEPT_SHARE,
    order: Sequence[str] = (),
    test_set: TestSet | None = None,
    seed: int = 0,
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
    accept_changed: bool = False,
) -> Simplified | None:
    """Find the fewest changes that keep the gain of the best; None if interrupted.

    Args:
        scenario: Scenario of the search.
        target: Target of the search.
        best: Configuration to simplify.
        budget: Number of runs of the ablation, excluding the verdict.
        keep: Share of the gain to keep.
        order: Parameters, those that probably matter most first.
        test_set: Instances and seeds of the verdict; None for no verdict.
        seed: Random seed of the search.
        store: Store of the search.
        running: How runs are made.
        accept_changed: Whether to accept a changed program or instances.
    """
    if isinstance(scenario.cost, Costs):
        raise BadInput("simplify keeps the gain in one cost, and this search has several")
    instances = scenario.instances if store is None else tuple(map(told_apart, scenario.instances))
    plain = replace(scenario, instances=instances, initial=(), known=())
    ablating = Ablating(History(plain, seed), best, budget, keep, order)
    if best == scenario.space.default:
        return Simplified(_empty(ablating), 0, keep)
    if store is not None:
        from paramhs.execution.storage.accepted_changes import (
            check_search,  # sqlite3 only where it is needed
        )

        subject = subject_of(target, scenario.instances, scenario.cost)
        check_search(Path(store), subject, accept_changed)
    running.watcher.announce(_announced(ablating))
    driver = make_runs(
        ABLATION,
        ablating.search(),
        ablating.history,
        target,
        Budget(runs=ablating.budget),
        store,
        running,
        accept_changed=accept_changed,
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
            store=store,
            running=running,
            accept_changed=accept_changed,
        )
        if made is None:
            return None
        found = _judged(found, made.runs, scenario, test_set)
    if store is not None:
        from paramhs.execution.storage.records import keep_fact

        keep_fact(Path(store), ABLATION, _RESULT, found.to_json())
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


# Results


def _ablation(ablating: Ablating) -> Ablation:
    """Build the ablation with its costs, all over the same pairs."""
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
    """Costs of a configuration on the pairs of an ablation."""

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
    """Estimate the difference and ratio of two means as a verdict does."""
    names = [(pair.instance.name, pair.seed) for pair in pairs]
    both = zip(first.tolist(), second.tolist(), strict=True)
    found = compared_costs(dict(zip(names, both, strict=True)), maximise)
    return found.gain, found.ratio


def _choose(ablation: Ablation, ablating: Ablating) -> Simplified:
    """Choose the fewest steps that keep the gain, or none if there is no gain.

    A loss within one standard error is tolerated if otherwise only all steps would keep it.
    """
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
    alone = found.config == ablation.best
    many = 1 if alone else 2  # two verdicts on the same runs are two chances of error
    judged = verdict(default, own, metric, test_set.text, comparisons=many)
    beside = None if alone else verdict(best, own, metric, test_set.text, comparisons=many)
    return replace(
        found,
        verdict=replace(judged, names=("default", "simplified")),
        against_best=beside and replace(beside, names=("best", "simplified")),
        verdict_runs=sum(map(len, made.values())),
    )


def _empty(ablating: Ablating) -> Ablation:
    """Empty ablation, for a search whose default is the best."""
    label, on = ablating.history.scenario.cost.label, _on(ablating.history.scenario)
    return Ablation(ablating.default, ablating.best, math.nan, 0, (), 0, 0, 0.0, on, label)
