"""What a search will ask for if things go as they usually do: runs for workers that are idle.

The future of a search is a chain of races. Each race to come is begun early by a *scout*: the same
comparison on a copy of the history, answered by what idle workers have made so far. What it asks
for next and nobody made yet is worth making; how much, is the chance that the search comes there.
Until something else is known every race before it is lost, with a chance taken from the races of
this search: of those that were as long, how many were won. So a scout that goes on makes what is
behind it less likely, one that is known to lose changes nothing, and behind one that wins, for sure
or probably, the future is that of another incumbent.

Nothing here is seen by the search: a wrong guess costs a run that nobody asks for. The idea is that
of processors, which execute ahead of branches that are not decided yet, and commit in order.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import NamedTuple

from paramhs.core.runs import Evaluate, Run, Status, Task
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History

LEAST = 0.3
"""How likely a run must be to be asked for, to be made early."""
_WAITING = 0.5  # as likely to go on are races whose next run is not over yet: it may be a long one
_RECENT = 100  # races from which chances are taken
_USUAL_RACES = 5  # that are added to those seen
_USUALLY_WON = 0.1  # of them, the share of wins
_USUALLY_MORE = 0.5  # and of those that need another run


class Coming(NamedTuple):
    """Who challenges next."""

    if_lost: Callable[[History], Iterator[Config]]
    """From now on, if the incumbent survives; given what scouts know."""
    if_won: Callable[[History, Config, int], Iterator[Config]] | None = None
    """If this configuration has won, and so many races from now on were."""


NO_WORKERS = Coming(lambda _: iter(()))


class Foresight:
    """What one search will probably ask for."""

    def __init__(self, history: History, comparison: Comparison) -> None:
        self._history = history
        self._comparison = comparison
        self._future: _Future | None = None
        self._chances = _Chances(history)

    def begin(self, challenger: Config, incumbent: Config) -> None:
        """The search itself runs this race from now on."""
        if self._future is not None and self._future.incumbent != incumbent:
            self._future = self._future.behind.get(incumbent)
        if self._future is not None:
            self._future.scouts.pop(challenger, None)
            self._future.behind.clear()

    def likely(
        self, incumbent: Config, request: Evaluate, runs: int, coming: Coming
    ) -> Iterator[Task]:
        """The likeliest first, while they are likely enough.

        A race with this incumbent has asked for so many runs, those of the request included.
        """
        history = self._history
        if self._future is None or self._future.history.noise_of != history.noise_of:
            self._future = _Future(self._comparison, history, history, incumbent)
        self._future.correct()
        self._future.guess(request.tasks)
        if self._chances.races != len(history.races):
            self._chances = _Chances(history)
        order = _Order(self._chances, coming)
        order.put(1.0, order.rest(request, runs, 1.0))
        chance = 1.0 - self._chances.win(runs)
        order.put(1.0, order.races(self._future, coming.if_lost(self._future.history), chance))
        return iter(order)


class _Chances:
    """How races of this search went."""

    def __init__(self, history: History) -> None:
        self.races = len(history.races)
        """Of so many in all, the last are looked at."""
        lengths = [
            (race.asked - before.asked, race.won)
            for before, race in pairwise(history.races[-_RECENT - 1 :])
        ]
        self._all = sorted(length for length, _ in lengths)
        self._won = sorted(length for length, won in lengths if won)

    def win(self, runs: int) -> float:
        """That a race is won which asks for at least so many runs."""
        won, races = _no_less(self._won, runs), _no_less(self._all, runs)
        return (won + _USUAL_RACES * _USUALLY_WON) / (races + _USUAL_RACES)

    def go_on(self, runs: int, more: int) -> float:
        """That it asks for so many more."""
        longer, races = _no_less(self._all, runs + more), _no_less(self._all, runs)
        return (longer + _USUAL_RACES * _USUALLY_MORE**more) / (races + _USUAL_RACES)


def _no_less(numbers: list[int], least: int) -> int:
    return len(numbers) - bisect_left(numbers, least)


class _Future:
    """The races to come against one incumbent."""

    def __init__(
        self, comparison: Comparison, history: History, known: History, incumbent: Config
    ) -> None:
        self.comparison = comparison
        self.incumbent = incumbent
        self.history = known.copy()
        """What scouts know."""
        self.scouts: dict[Config, _Scout] = {}
        self.behind: dict[Config, _Future] = {}
        """Where a challenger has won."""
        self.guessed: dict[Task, None] = {}
        """Runs of the incumbent that are not known yet; scouts were given guesses."""
        self.of_search = history
        self._seen = len(history.runs)
        self._typical: Run | None = None

    def scout(self, challenger: Config) -> "_Scout":
        """Its race."""
        if challenger not in self.scouts:
            self.scouts[challenger] = _Scout(self, challenger)
        return self.scouts[challenger]

    def after(self, winner: Config) -> "_Future":
        """The races to come if it wins."""
        if winner not in self.behind:
            known = self.history
            self.behind[winner] = _Future(self.comparison, self.of_search, known, winner)
        return self.behind[winner]

    def found(self, task: Task) -> Run | None:
        """What is known of a run that the search has not asked for."""
        return self.of_search.foreseen(task)

    def guessed_run(self, task: Task) -> Run | None:
        """What a run of the incumbent may turn out to be: its median, until it is known.

        So scouts do not wait for it, and the next ones begin where it is over.
        """
        if task.config != self.incumbent:
            return None
        if self._typical is None:
            own = [run for run in self.history.runs if run.task.config == self.incumbent]
            ended = [run for run in own if run.status is not Status.CAPPED]
            if not ended:
                return None
            ended.sort(key=self.history.scenario.cost_of)
            self._typical = ended[len(ended) // 2]
        self.guessed[task] = None
        return self._typical._replace(task=task)

    def guess(self, tasks: Iterable[Task]) -> None:
        """Let scouts begin where these runs are over, as far as they are the incumbent's."""
        for task in tasks:
            if task.pair not in self.history.costs(self.incumbent):
                run = self.guessed_run(task)
                if run is not None:
                    self.history.add(run)

    def correct(self) -> None:
        """Replace what was guessed and is known by now."""
        runs = self.of_search.runs
        new = [run for run in runs[self._seen :] if run.task.config == self.incumbent]
        self._seen = len(runs)
        new += [run for run in map(self.found, self.guessed) if run is not None]
        for run in new:
            self.history.add(run)
        known = {run.task.call for run in new}
        self.guessed = {task: None for task in self.guessed if task.call not in known}


class _Scout:
    """A race that is begun early."""

    def __init__(self, future: _Future, challenger: Config) -> None:
        self._future = future
        self._challenger = challenger
        asking = future.comparison.better(future.history, challenger, future.incumbent)
        self._asking = Dialogue(asking)
        self.request = Evaluate(())
        self.runs = 0
        """Number of runs asked for, those of the present request included."""
        self.won: bool | None = None
        self._take_up(self._asking.request)

    def _take_up(self, request: Evaluate | None) -> None:
        if request is not None:
            self.request = request
            self.runs += len(request.tasks)
        else:
            self.won = bool(self._asking.result)
            self._future.history.decide(self._challenger, self._future.incumbent, self.won)

    def missing(self) -> Iterator[Task]:
        """What it asks for and nobody made, as far as it comes."""
        future = self._future
        while self.won is None:
            tasks = self.request.tasks
            yield from (task for task in tasks if future.found(task) is None)
            runs = [future.found(task) or future.guessed_run(task) for task in tasks]
            known = [run for run in runs if run is not None]
            if len(known) < len(tasks):
                future.guess(tasks)
                return
            self._take_up(self._asking.advance(known))


class _Step(NamedTuple):
    """A run that may be asked for; without one, only that what follows is no likelier."""

    chance: float
    task: Task | None = None


class _Order:
    """Takes what is likeliest from several sequences, in each of which chances fall."""

    def __init__(self, chances: _Chances, coming: Coming) -> None:
        self._chances = chances
        self._if_won = coming.if_won
        self._heap: list[tuple[float, int, Iterator[_Step]]] = []
        self._number = count()

    def put(self, chance: float, steps: Iterator[_Step]) -> None:
        """Another sequence that begins with this chance."""
        if chance >= LEAST:
            heappush(self._heap, (-chance, next(self._number), steps))

    def __iter__(self) -> Iterator[Task]:
        while self._heap:
            _, _, steps = heappop(self._heap)
            step = next(steps, None)
            if step is not None and step.chance >= LEAST:
                self.put(step.chance, steps)
                if step.task is not None:
                    yield step.task

    def races(
        self, future: _Future, challengers: Iterator[Config], chance: float, wins: int = 1
    ) -> Iterator[_Step]:
        """The races of one future in their order; what comes behind a win is put in."""
        left = future.of_search.left
        for task in [*future.guessed]:
            yield _Step(chance, task)
        for challenger in challengers:
            scout = future.scout(challenger)
            for task in scout.missing():
                yield _Step(chance, task)
            left -= scout.runs
            if left < 0:
                return
            if scout.won is not False:
                win = 1.0 if scout.won else self._chances.win(scout.runs)
                self._put_rest(future, challenger, chance, win, wins)
                chance *= 1 - win
                yield _Step(chance)

    def _put_rest(
        self, future: _Future, challenger: Config, chance: float, win: float, wins: int
    ) -> None:
        """What comes later in a race, and after it if it is won."""
        scout = future.scout(challenger)
        if scout.won is None:
            waiting = chance * _WAITING
            self.put(waiting, self.rest(scout.request, scout.runs, waiting))
        if self._if_won is not None and chance * win >= LEAST:
            after = future.after(challenger)
            challengers = self._if_won(after.history, challenger, wins)
            self.put(chance * win, self.races(after, challengers, chance * win, wins + 1))

    def rest(self, request: Evaluate, runs: int, chance: float) -> Iterator[_Step]:
        """What comes next in a race, if it goes on."""
        likely = iter(request.likely)
        for more in count(1):
            then = chance * self._chances.go_on(runs, more)
            yield _Step(then)
            task = next(likely, None)
            if task is None:
                return
            yield _Step(then, task)
