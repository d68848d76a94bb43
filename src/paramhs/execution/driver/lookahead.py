"""Runs that a search will request later, for workers that would be idle.

A search says which races it will hold next (`Coming`). A copy of each, on a copy of the history, is
answered by the runs that were made early. What it requests next is worth making now. A race that is
undecided counts as lost for those behind it, as most are; behind one that was won the next races
are against the winner. When all these requests are under way, the later runs of undecided races
follow.

Nothing here is seen by the search: a wrong guess costs a run that no one asks for. The idea is that
of processors, which execute ahead of branches that are not decided yet, and commit in order.
"""

import math
from collections.abc import Iterable, Iterator
from heapq import merge

from paramhs.core.runs import Coming, Evaluate, Run, Status, Task, answer
from paramhs.core.space import Config
from paramhs.execution.driver.in_flight import Call
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History

_MIN_CHANCE = 0.4  # chance below which a later run of a race is not made early


class LookAhead:
    """The runs that were made early for one search, and those worth making next."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._early: dict[Call, Run] = {}
        self._races: _Races | None = None
        self._decided = 0

    def add(self, run: Run) -> None:
        """Keep a run that was made early; of two, the one with the larger cutoff."""
        known = self._early.get(run.task.call)
        if known is None or known.task.cutoff < run.task.cutoff:
            self._early[run.task.call] = run

    def drop(self, task: Task) -> None:
        """Forget a run, because the search has requested it."""
        if self._early:
            self._early.pop(task.call, None)

    def found(self, task: Task) -> Run | None:
        """The answer to a task, from a run that was made early."""
        run = self._early.get(task.call)
        return None if run is None else answer(run, task)

    def tasks(self, request: Evaluate, left: float = math.inf) -> Iterator[Task]:
        """Tasks to make early, the most useful first; some may be under way.

        Args:
            request: The present request of the search.
            left: Number of runs that the search may still request.
        """
        undecided: list[_Race] = []
        if request.coming is not None:
            yield from self._next_of_races(request, request.coming, left, undecided)
        racing = self._history.racing
        met = len(self._history.costs(racing[0])) if racing else 0
        steps = [_later(request, met + 1), *(_later(race.request, race.runs) for race in undecided)]
        # Chances fall along each race, so the merge yields the likeliest run of all races next. It
        # is lazy: the driver takes no more of them than it has idle workers.
        for _, task in merge(*steps, key=lambda step: -step[0]):
            if self.found(task) is None:
                yield task

    def _next_of_races(
        self, request: Evaluate, coming: Coming, left: float, undecided: "list[_Race]"
    ) -> Iterator[Task]:
        """What the races to come request next; collects those that are undecided."""
        races: _Races = self._against(coming)
        races.correct()
        races.guess(request.tasks)
        yield from races.guessed
        for challenger in coming.challengers():
            race = races.race(challenger)
            yield from race.missing()
            # Races beyond the budget will not be held.
            left -= race.runs
            if left < 0:
                return
            if race.won is None:
                undecided.append(race)
            elif race.won:
                # Other challengers follow a win, which are not known yet.
                if not coming.fixed:
                    return
                races = races.after(challenger)
                races.correct()
                yield from races.guessed

    def _against(self, coming: Coming) -> "_Races":
        """The races against the present incumbent, without those that were decided."""
        # Races that were begun are kept from request to request, because copying a history takes
        # long. After a win those prepared against the winner take their place. A new fit has other
        # noise, and with it another order of pairs, so all races are begun again.
        history, races = self._history, self._races
        if races is not None and races.incumbent != coming.incumbent:
            races = races.behind.get(coming.incumbent)
        if races is None or races.history.noise_of != history.noise_of:
            races = _Races(self, coming, coming.incumbent, history.copy())
        for decided in history.races[self._decided :]:
            races.forget(decided.challenger)
        self._decided = len(history.races)
        self._races = races
        return races

    @property
    def history(self) -> History:
        """History of the search itself."""
        return self._history


class _Races:
    """Races to come against one incumbent, on a copy of the history that they share."""

    def __init__(
        self, known: LookAhead, coming: Coming, incumbent: Config, history: History
    ) -> None:
        self.known = known
        self.incumbent = incumbent
        self.history = history
        self.coming = coming
        self.behind: dict[Config, _Races] = {}
        """Races against challengers that have won here."""
        self.guessed: dict[Task, None] = {}
        """Runs of the incumbent that are not known yet, and were guessed."""
        self._races: dict[Config, _Race] = {}
        self._seen = len(known.history.runs)
        self._typical: Run | None = None

    def race(self, challenger: Config) -> "_Race":
        """The race of a challenger, as far as it has come."""
        if challenger not in self._races:
            self._races[challenger] = _Race(self, challenger)
        return self._races[challenger]

    def forget(self, challenger: Config) -> None:
        """Remove the race of a challenger, because the search has decided it."""
        self._races.pop(challenger, None)
        self.behind = {won: races for won, races in self.behind.items() if won == challenger}

    def after(self, winner: Config) -> "_Races":
        """The races to come if this challenger becomes the incumbent."""
        if winner not in self.behind:
            # The winner brings the runs of the race that it won here, which the search does not
            # have yet. Those of other challengers are left out: their races against the winner take
            # what they need from the runs made early.
            history = self.known.history.copy()
            both = (self.incumbent, winner)
            for run in self.history.runs:
                if run.task.config in both:
                    history.add(run)
            self.behind[winner] = _Races(self.known, self.coming, winner, history)
        return self.behind[winner]

    def guessed_run(self, task: Task) -> Run | None:
        """A guess of a run of the incumbent: its median run, or one that ends at the cutoff.

        With a guess the races behind it can be prepared before it has ended.
        """
        if task.config != self.incumbent:
            return None
        if self._typical is None:
            own = [run for run in self.history.runs if run.task.config == self.incumbent]
            ended = [run for run in own if run.status is not Status.CAPPED]
            if ended:
                ended.sort(key=self.history.scenario.cost_of)
                self._typical = ended[len(ended) // 2]
        self.guessed[task] = None
        typical = self._typical or Run(task, Status.OK, min(task.cutoff, 1.0), 1.0)
        return typical._replace(task=task)

    def guess(self, tasks: Iterable[Task]) -> None:
        """Let races begin as if these runs of the incumbent were known."""
        costs = self.history.costs(self.incumbent)
        for task in tasks:
            if task.config == self.incumbent and task.pair not in costs:
                run = self.known.found(task) or self.guessed_run(task)
                if run is not None:
                    self.history.add(run)

    def correct(self) -> None:
        """Replace guesses by the runs that are known by now."""
        runs = self.known.history.runs
        new = [run for run in runs[self._seen :] if run.task.config == self.incumbent]
        self._seen = len(runs)
        new += [run for run in map(self.known.found, self.guessed) if run is not None]
        for run in new:
            self.history.add(run)
        if new:
            known = {run.task.call for run in new}
            self.guessed = {task: None for task in self.guessed if task.call not in known}


class _Race:
    """A race that is begun early."""

    def __init__(self, races: _Races, challenger: Config) -> None:
        self._races = races
        self._challenger = challenger
        asking = races.coming.better(races.history, challenger, races.incumbent)
        self._asking = Dialogue(asking)
        self.request = Evaluate(())
        self.runs = 0
        """Number of runs requested so far."""
        self.won: bool | None = None
        """Whether the challenger has won; None while that is open."""
        self._take_up(self._asking.request)

    def _take_up(self, request: Evaluate | None) -> None:
        if request is not None:
            self.request = request
            self.runs += len(request.tasks)
        else:
            self.won = bool(self._asking.result)

    def missing(self) -> Iterator[Task]:
        """Runs that it requests and that are not known, up to where it waits for them."""
        races = self._races
        while self.won is None:
            tasks = self.request.tasks
            found = [races.known.found(task) for task in tasks]
            for task, run in zip(tasks, found, strict=True):
                if run is None:
                    yield task
            # A guess lets the race pass a run of the incumbent that has not ended, and which was
            # yielded above. There is no guess for a challenger: the race stops here, and only the
            # incumbent's part of the request is guessed for the other races.
            known = [run or races.guessed_run(task) for task, run in zip(tasks, found, strict=True)]
            if None in known:
                races.guess(tasks)
                return
            self._take_up(self._asking.advance([run for run in known if run is not None]))


def _later(request: Evaluate, runs: int) -> Iterator[tuple[float, Task]]:
    """Later runs of a race that has requested `runs`, each with the chance that it comes so far.

    Of races with r runs about a share of r / (r + k) comes to r + k, because the looks double.
    """
    for more, task in enumerate(request.likely, start=1):
        chance = runs / (runs + more)
        if chance < _MIN_CHANCE:
            return
        yield chance, task
