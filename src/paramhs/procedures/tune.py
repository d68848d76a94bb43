"""Search for a better configuration, and compare it with the default on the test set."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paramhs.analysis.capping_savings import Saved, saved_in
from paramhs.analysis.front import front_configs
from paramhs.analysis.verdict import NoVerdict, Verdict, verdict
from paramhs.core.arguments import check_seed, path_of
from paramhs.core.description import description
from paramhs.core.errors import BadInput, CannotRun, ChangedMeanwhile
from paramhs.core.runs import Target
from paramhs.core.scenario import Scenario
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config
from paramhs.core.test_set import TestSet
from paramhs.core.text.numbers import counted, time_text
from paramhs.execution.driver import INTERRUPTED, Budget, Watcher
from paramhs.execution.settings import ONE_AT_A_TIME, Running
from paramhs.execution.storage import NOTHING_KNOWN, Known, open_store
from paramhs.execution.subject import Subject, changed_meanwhile, files_of, subject_of
from paramhs.execution.targets.command import CommandTarget
from paramhs.procedures.recommendation import (
    accepted_in,
    front_verdict,
    keep_ending,
    keep_families,
    outcome,
)
from paramhs.procedures.validate import meet
from paramhs.procedures.verdict_length import Later, as_noted
from paramhs.search.configurators import Configurator, check_configurator, front_search
from paramhs.search.history import History
from paramhs.search.proposal_law import proposal_law
from paramhs.search.record import Ending, Record

RESERVE = 0.05
"""Share of a budget reserved to finish a race that the challenger is winning (see `Account`)."""
MIN_LONG_SECONDS = 2.0
"""Seconds below which no verdict counts as long."""


@dataclass(frozen=True)
class Tuned:
    """Outcome of a search and its verdict."""

    record: Record
    verdict: Verdict | NoVerdict
    store: Path | None
    capped: Saved | None
    """Time saved by capping; None if no run was cut short."""


def tune(
    scenario: Scenario,
    target: Target,
    configurator: Configurator,
    *,
    budget: Budget,
    seed: int = 0,
    store: str | Path | None = None,
    running: Running = ONE_AT_A_TIME,
    test_set: TestSet | None = None,
    warm_start: Iterable[str | Path] = (),
    verdict_in_budget: bool = False,
    no_test_set: str = "there are no test instances to compare on.",
    accept_changed: bool = False,
) -> Tuned:
    """Search, then make the verdict.

    Args:
        scenario: Space, instances, cost and cutoff.
        target: The program to tune.
        configurator: The search algorithm.
        budget: When the search ends.
        seed: Random seed of the search.
        store: File that keeps all runs; None to keep none.
        running: How runs are made.
        test_set: Instances and seeds of the verdict; None for no verdict.
        warm_start: Stores of earlier searches whose runs are used.
        verdict_in_budget: Whether runs of the verdict count against the budget.
        no_test_set: Why there is no test set, as a sentence.
        accept_changed: Whether to accept a changed program or instances.
    """
    check_seed(seed)
    check_configurator(configurator)
    if isinstance(scenario.cost, Costs):
        configurator = _for_front(configurator, budget)
    store = None if store is None else path_of(store, "store")
    kept = None if store is None else Path(store).absolute()  # a function may change the folder
    earlier = [path_of(path, "warm_start") for path in warm_start]
    subject = (
        subject_of(target, scenario.instances, scenario.cost)
        if store is not None or earlier
        else files_of(target, scenario.instances)
    )
    known = _known(store, earlier, scenario, target, subject, running.watcher)
    initial = tuple(dict.fromkeys((*scenario.initial, *known.initial)))
    scenario = replace(scenario, initial=initial, known=known.runs)
    described: dict[str, Any] = (
        {} if store is None else _described(scenario, target, configurator, seed)
    )
    history = History(scenario, seed)
    later = Later(history, test_set, budget, verdict_in_budget)
    opened = open_store(store, scenario.space, described, subject, known, accept_changed)
    try:
        driver = running.drive(
            configurator.search(history),
            history,
            target,
            opened,
            budget,
            default=scenario.space.default,
            later=later,
            reserve=RESERVE if history.pair_count > 1 else 0.0,  # else a race is a single run
            proposals=proposal_law(configurator),
        )
        record, capped = driver.record, saved_in(history, opened)
        mixed = changed_meanwhile(opened.sight)
    except CannotRun as error:
        if store is None:
            raise
        raise CannotRun(f"{error} Stored runs are safe; run the same command to resume.") from error
    finally:
        opened.close()
    record.target = _described_target(target) if store is None else described["target"]
    record.ending = Ending(driver.stopped, "" if test_set else no_test_set, mixed)
    if kept is not None:
        keep_ending(kept, record.ending)
        keep_families(kept, scenario.families)
    several = isinstance(scenario.cost, Costs)
    others = front_configs(history)[0] if several else [record.best]
    others = [config for config in others if config != record.default]
    sized = later.test_set(record.best, driver.pace, 1 + len(others)) if others else None
    made: Verdict | NoVerdict | None = None
    if sized is not None and driver.stopped != INTERRUPTED and not mixed:
        sized = as_noted(kept, sized, {"budget": vars(budget), "best": record.best.key})
        expected = driver.pace * later.seconds(sized, record.best) * (1 + len(others)) / 2
        made = _verdict(record, target, others, sized, expected, kept, running, accept_changed)
    if record.ending.mixed:
        running.watcher.notice(record.ending.mixed)
    told = outcome(record, kept) if made is None else made
    return Tuned(record, told, None if store is None else Path(store), capped)


def _for_front(configurator: Configurator, budget: Budget) -> Configurator:
    if budget.stop is not None:
        raise BadInput("budget.stop predicts the gain in one cost, and this search has several")
    return front_search(configurator)


def _verdict(
    record: Record,
    target: Target,
    others: Sequence[Config],
    sized: TestSet,
    seconds: float,
    store: Path | None,
    running: Running,
    accept_changed: bool,
) -> Verdict | NoVerdict | None:
    """The verdict that follows a search; None, with the reason in the record, if there is none."""
    if seconds > max(record.wall_time, MIN_LONG_SECONDS):
        running.watcher.notice(
            f"warning: the verdict takes longer (about {time_text(seconds)}) than the search"
            f" ({time_text(record.wall_time)}); verdict.runs makes it shorter"
        )
    try:
        made = meet(
            record.scenario,
            target,
            [record.default, *others],
            sized,
            seed=record.history.seed,
            store=store,
            running=running,
            expected=seconds,
            comparisons=len(others),
            accept_changed=accept_changed,
        )
    except ChangedMeanwhile as error:
        record.ending = replace(record.ending, mixed=str(error))
    else:
        if made is not None:
            if isinstance(record.scenario.cost, Costs):
                return front_verdict(record, made.runs, sized.text)
            first, second = made.runs.values()
            told = verdict(first, second, record.scenario.cost, sized.text)
            return replace(told, accepted=accepted_in(store))
        record.ending = replace(record.ending, stopped=INTERRUPTED)
    if store is not None:
        keep_ending(store, record.ending)
    return None


def _described_target(target: Target) -> dict[str, object]:
    """The description of a target that results show: of a command all, else its name."""
    return target.describe() if isinstance(target, CommandTarget) else {"function": target.name}


def _known(
    store: str | Path | None,
    warm_start: Sequence[Path],
    scenario: Scenario,
    target: Target,
    subject: Subject,
    watcher: Watcher,
) -> Known:
    """Runs and configurations known before the search: from its store, or from earlier ones."""
    if store is None and not warm_start:
        return NOTHING_KNOWN
    from paramhs.execution.storage.warm_start import (  # sqlite3 only where it is needed
        collect,
        read_known,
    )

    begun = None if store is None else read_known(Path(store), scenario)
    if begun is None:
        begun, lines = collect(warm_start, scenario, target, subject)
        for line, whole in lines:
            (watcher.announce if whole else watcher.notice)(line)
    elif warm_start:
        watcher.announce(
            f"{store} is resumed as it was started, with {counted(len(begun.runs), 'run')}"
        )
    return begun


def _described(
    scenario: Scenario, target: Target, configurator: Configurator, seed: int
) -> dict[str, object]:
    """Describe in JSON types what defines a search and its answers."""
    return {
        "scenario": scenario.describe(),
        "target": target.describe(),
        "configurator": description(configurator, "the configurator"),
        "seed": seed,
    }
