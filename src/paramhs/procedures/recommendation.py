"""Verdict of a search, or the reason why there is none.

Everything that prints a recommendation (terminal, page, JSON, notebook) prints the `recommendation`
of the result of `outcome`, so no two views disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from paramhs.analysis.front import FrontVerdict, front, front_configs
from paramhs.analysis.verdict import NoVerdict, Verdict
from paramhs.core.families import Families
from paramhs.core.runs import Run
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config
from paramhs.core.text.numbers import counted
from paramhs.execution.driver import INTERRUPTED
from paramhs.execution.storage import SEARCH
from paramhs.execution.targets.command.template import command_line_of
from paramhs.procedures.validate import read_runs_of, read_verdict_of
from paramhs.search.record import Ending, Record


def keep_ending(store: Path, ending: Ending) -> None:
    """Keep in a store how its search ended; it holds until another run is stored."""
    from paramhs.execution.storage.records import ENDED, keep_fact  # sqlite3 only where needed

    keep_fact(store, SEARCH, ENDED, asdict(ending))


def keep_families(store: Path, families: Families) -> None:
    """Keep in a store the families that the user named, for its reports."""
    from paramhs.execution.storage.records import FAMILIES, keep_fact  # sqlite3 only where needed

    if families:
        keep_fact(store, SEARCH, FAMILIES, dict(families))


def is_running(store: Path) -> bool:
    """Whether a search, its verdict or its ablation is writing this store."""
    from paramhs.execution.storage.lock import is_held

    return is_held(store)


def accepted_in(store: Path | None) -> tuple[str, ...]:
    """Sentences about the changes accepted in a store."""
    if store is None:
        return ()
    from paramhs.execution.storage.accepted_changes import (
        accepted_changes,  # sqlite3 only where it is needed
    )

    return accepted_changes(store)


def front_verdict(
    record: Record, made: Mapping[Config, Sequence[Run]], on: str, why_none: str = ""
) -> FrontVerdict:
    """The front of a search, with runs on the test set or the reason why there are none."""
    configs = [record.default, *front_configs(record.history)[0]]
    commands = {config: command_line_of(record.target, config) for config in configs}
    found = replace(front(record.history, made, on, commands), why_none=why_none)
    return FrontVerdict("front", found.recommendation, found)


def outcome(
    record: Record, store: Path | None = None, *, running: bool = False
) -> Verdict | NoVerdict:
    """Verdict on the best configuration in the store, or the reason for its absence.

    `running` says whether the search still asks for runs.
    """
    scenario, best, ending = record.scenario, record.best, record.ending
    default = scenario.space.default
    if ending.mixed:
        return NoVerdict("none", ending.mixed)
    if isinstance(scenario.cost, Costs):
        return _front_outcome(record, store, running)
    made = read_verdict_of(store, scenario, default, best) if store else None
    if made is not None:
        return replace(made, accepted=accepted_in(store))
    if best == default and _has_ended(ending, running):
        return NoVerdict("kept", _kept(len({run.task.config for run in record.runs} - {default})))
    return NoVerdict("none", _why_none(ending, running))


def _front_outcome(record: Record, store: Path | None, running: bool) -> NoVerdict:
    """The front of a search with its verdict, or the reason why there is none."""
    others = front_configs(record.history)[0]
    if not others and not _has_ended(record.ending, running):
        return NoVerdict("none", _why_none(record.ending, running))
    met = read_runs_of(store, record.scenario, [record.default, *others]) if store else None
    if met is not None:
        return front_verdict(record, *met)
    return front_verdict(record, {}, "", _why_none(record.ending, running))


def _has_ended(ending: Ending, running: bool) -> bool:
    return ending.stopped not in ("", INTERRUPTED) and not running


def _why_none(ending: Ending, running: bool) -> str:
    """Reason why there is no verdict, as a sentence."""
    if running:
        return "the search is running."
    if ending.stopped == INTERRUPTED:
        return "the search was interrupted; the same command resumes it."
    if not ending.stopped:
        return "no end of the search is recorded; the same command resumes it."
    return ending.no_test_set or "its runs were not finished; the same command resumes them."


def _kept(challengers: int) -> str:
    if not challengers:
        return "the search ended before it had tried a single challenger."
    return f"the search found nothing better; it tried {counted(challengers, 'challenger')}."
