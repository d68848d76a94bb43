"""From a search to its result: what was found, who meets in the verdict, what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from paramhs.faces.result import Result
from paramhs.results.capped import Saved, saved_in
from paramhs.results.evidence import ahead, common_costs
from paramhs.results.validating import TestSet, VerdictTime
from paramhs.results.verdict import NoVerdict, Verdict, verdict
from paramhs.search.history import History
from paramhs.values.errors import BadInput
from paramhs.values.runs import Point, Run
from paramhs.values.space import Config
from paramhs.values.wording import counted
from paramhs.world.driver import INTERRUPTED, Budget, Driver

_INTERRUPTED = NoVerdict("none", "it was interrupted.")


class Later:
    """The verdict that follows a search: who will meet, how long that takes, and whether it is part
    of the budget. In a budget there is room for two."""

    def __init__(
        self, history: History, test_set: TestSet | None, budget: Budget, counts: bool
    ) -> None:
        scenario = history.scenario
        self.pairs = test_set.count(scenario.deterministic) if test_set else 0
        self.counts = counts and self.pairs > 0
        self.runs = 2 * self.pairs if self.counts else 0
        self._default = scenario.space.default
        self._time = VerdictTime(history, self.pairs)
        if budget.runs is not None and 0 < budget.runs <= self.runs:
            raise BadInput(
                f"the budget of {counted(budget.runs, 'run')} leaves none to search with: the"
                f" verdict, which is to be part of it, needs {self.runs:,}"
            )

    def time(self, incumbent: Config | None) -> float:
        """Seconds of target time, if the search ended now; 0 while nothing is known."""
        return self.seconds([self._default, incumbent or self._default])

    def seconds(self, configs: Sequence[Config]) -> float:
        """Seconds of target time for these."""
        return self._time.seconds(*configs) if self.pairs else 0.0

    def configs(self, result: Result) -> list[Config]:
        """Who meets: the default, the best, and who was ahead when the budget ended a race."""
        if result.stopped == INTERRUPTED or not self.pairs:
            return []
        who = [result.default, result.best]
        if result.ahead and not (self.counts and result.best != result.default):
            who.append(result.ahead.config)
        different = list(dict.fromkeys(who))
        return different if len(different) > 1 else []


def found(driver: Driver, no_test_set: str) -> Result:
    """What a search found, before anything is compared."""
    result = found_in(
        driver.history,
        tuple(driver.session.trajectory),
        driver.session.unfinished,
        asked=driver.taken,
        speculative=driver.speculative_runs,
        target_time=driver.store.target_time,
        wall_time=driver.wall_time,
        stopped=driver.stopped,
        capped=saved_in(driver.history, driver.store),
    )
    return replace(result, verdict=without_verdict(result, no_test_set))


def found_in(
    history: History,
    trajectory: tuple[Point, ...],
    unfinished: tuple[Run, ...],
    *,
    asked: int,
    speculative: int,
    target_time: float,
    wall_time: float,
    stopped: str,
    capped: Saved | None,
) -> Result:
    """What a search with this history found; it has no verdict yet."""
    default = history.scenario.space.default
    best = trajectory[-1].config if trajectory else default
    met = common_costs(history, default, best)
    leading = ahead(history, unfinished)
    return Result(
        best=best,
        best_cost=met.second if met else None,
        best_failed=met.second_failed if met else 0,
        default=default,
        default_cost=met.first if met else None,
        default_failed=met.first_failed if met else 0,
        common_runs=met.runs if met else 0,
        ratio=met.ratio if met else None,
        trajectory=trajectory,
        history=history,
        asked=asked,
        unfinished=unfinished,
        speculative=speculative,
        target_time=target_time,
        wall_time=wall_time,
        stopped=stopped,
        capped=capped,
        verdict=_INTERRUPTED,
        ahead=leading if leading and leading.incumbent == best else None,
    )


def without_verdict(result: Result, no_test_set: str) -> NoVerdict:
    """What there is to say if nobody meets."""
    if result.stopped == INTERRUPTED:
        return _INTERRUPTED
    if result.best != result.default or result.ahead is not None:
        return NoVerdict("none", no_test_set)
    races = [race for race in result.history.races if race.incumbent == result.default]
    if not races:
        return NoVerdict("kept", "the search ended before it had raced a single challenger.")
    tried = counted(len({race.challenger for race in races}), "challenger")
    return NoVerdict("kept", f"the search found nothing better; it raced {tried} against it.")


def judge(result: Result, made: Mapping[Config, Sequence[Run]] | None, test_set: TestSet) -> Result:
    """The result with the verdicts on these runs; None if they were interrupted."""
    if made is None:
        return replace(result, stopped=INTERRUPTED, verdict=_INTERRUPTED)
    runs = made

    def met(first: Config, second: Config, names: tuple[str, str]) -> Verdict:
        metric = result.history.scenario.cost
        return replace(verdict(runs[first], runs[second], metric, test_set.text), names=names)

    kept, leading = result.best == result.default, result.ahead
    challenged = None
    if leading is not None and leading.config in runs:
        names = ("default" if kept else "best", "challenger")
        challenged = met(result.best, leading.config, names)
    if kept and challenged is not None:
        return replace(result, verdict=challenged, ahead_verdict=challenged)
    compared = met(result.default, result.best, ("default", "best"))
    return replace(result, verdict=compared, ahead_verdict=challenged)
