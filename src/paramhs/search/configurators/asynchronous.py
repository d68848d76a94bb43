"""ParamHS with many concurrent races, which uses every result on arrival."""

import math
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.runs import Asking, Evaluate, Incumbent, Run, Search, Task, answer
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison, Growing
from paramhs.search.configurators.configurator import Configurator, check_parts, why_ended
from paramhs.search.configurators.param_hs import ParamHS
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.lookahead.proposals import Moves
from paramhs.search.operators import Learned, Learner, Move, Operator


@dataclass(frozen=True)
class Asynchronous(Configurator):
    """ParamHS with a fixed number of concurrent runs, which belong to different races.

    A new race begins whenever a worker would be idle, from the incumbent of that moment and with
    everything known by then. A challenger that wins against a former incumbent races the current
    one; one that wins against an incumbent whose number of runs has more than doubled since then
    continues.

    So the search depends on the order in which runs end, and thus on the workers; no run is wasted,
    and none is waited for. `width` is part of the search's definition, and the order is stored: a
    search can be resumed from its store unchanged, with any number of workers.

    Args:
        width: Number of runs under way at a time.
        operator: Operator that proposes challengers.
        comparison: Rule that decides a race.

    Examples:
        >>> from paramhs.search import Asynchronous
        >>> Asynchronous(width=8).width
        8
    """

    width: int = 1
    operator: Operator | Learner = Learned()
    comparison: Comparison = Growing()

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison)
        if type(self.width) is not int or self.width < 1:
            raise BadInput(f"width must be a whole number from 1 on, not {self.width!r}")

    def search(self, history: History) -> Search:
        """Start a search."""
        return _Races(self, history).search()


def asynchronous(configurator: Configurator, width: int) -> Asynchronous:
    """Turn a configurator into its asynchronous variant with `width` concurrent runs."""
    if isinstance(configurator, ParamHS):
        return Asynchronous(width, configurator.operator, configurator.comparison)
    raise BadInput(
        f"{type(configurator).__name__} cannot be asynchronous: only ParamHS can, by whatever moves"
        " and comparison"
    )


class _Race:
    """A race in progress; it waits until all requested runs have arrived."""

    def __init__(
        self, challenger: Config, incumbent: Config, asking: Asking, known: float = math.inf
    ) -> None:
        self.challenger = challenger
        self.incumbent = incumbent
        self.known = known
        """Known runs of the incumbent at the start; infinite if their number cannot be too small.
        """
        self._asking = Dialogue(asking)
        self._runs: dict[Task, Run] = {}

    @property
    def tasks(self) -> Sequence[Task]:
        """The runs that the race waits for."""
        return self._asking.request.tasks if self._asking.request else ()

    @property
    def won(self) -> bool | None:
        """Whether the challenger won; None while the race is open."""
        return None if self._asking.request else bool(self._asking.result)

    def take(self, task: Task, run: Run) -> bool:
        """Store a run; return whether it was the last one the race waited for."""
        self._runs[task] = run
        if len(self._runs) < len(self.tasks):
            return False
        self._asking.advance([self._runs[task] for task in self.tasks])
        self._runs = {}
        return True


class _Waiting(NamedTuple):
    """A run with the races that wait for it."""

    task: Task
    races: list[tuple[_Race, Task]]


class _Races:
    """State of one search: open races, and the runs they wait for."""

    incumbent: Config

    def __init__(self, rules: Asynchronous, history: History) -> None:
        history.is_shared = True
        self.rules = rules
        self.history = history
        self.moves = Moves(rules.operator, history)
        self.rejected: set[Config] = set()
        self.racing: set[Config] = set()
        self.coming: deque[Config] = deque()
        self.waiting: dict[tuple[object, ...], _Waiting] = {}

    def search(self) -> Search:
        history = self.history
        default = history.scenario.space.default
        yield from self._follow(
            _Race(default, default, self.rules.comparison.start(history, default))
        )
        while self.waiting:
            yield from self._use_next()
        self.incumbent = default
        yield Incumbent(default)
        self.coming.extend(config for config in history.scenario.initial if config != default)
        while True:
            yield from self._begin_races()
            if self.waiting:
                yield from self._use_next()
            elif not self._reopen():
                return why_ended(history)

    def _use_next(self) -> Generator[Evaluate | Incumbent, Sequence[Run], None]:
        """Use the run that ends first."""
        tasks = [waiting.task for waiting in self.waiting.values()]
        (run,) = yield Evaluate(tasks, first=True)
        races = self.waiting.pop(run.task.call).races
        if all(race.incumbent == run.task.config for race, _ in races):
            self.history.add_shared(run)
        for race, task in races:
            found = answer(run, task)
            if found is None:
                self._wait_for(race, task)
            elif race.take(task, found):
                yield from self._follow(race)

    def _follow(self, race: _Race) -> Iterator[Incumbent]:
        """Continue a race with its next requests, or end it."""
        for task in race.tasks:
            self._wait_for(race, task)
        if race.won is not None and race.challenger != race.incumbent:
            yield from self._end(race, race.won)

    def _wait_for(self, race: _Race, task: Task) -> None:
        if task.call in self.waiting:
            self.waiting[task.call].races.append((race, task))
        else:
            self.waiting[task.call] = _Waiting(task, [(race, task)])

    def _end(self, race: _Race, won: bool) -> Iterator[Incumbent]:
        if won and race.incumbent == self.incumbent and self._is_hasty(race):
            yield from self._begin(race.challenger, math.inf)
            return
        self.history.decide(race.challenger, race.incumbent, won)
        self.racing.discard(race.challenger)
        if not won:
            self.rejected.add(race.challenger)
        elif race.incumbent != self.incumbent:
            yield from self._begin(race.challenger)
        else:
            self.rejected = self._final(self.rejected, race.challenger) | {self.incumbent}
            self.incumbent = race.challenger
            yield Incumbent(self.incumbent)

    def _is_hasty(self, race: _Race) -> bool:
        """Whether the incumbent has more than doubled its runs since the race began."""
        return 2 * race.known < len(self.history.pairs_of(race.incumbent))

    def _begin_races(self) -> Iterator[Incumbent]:
        """Start races until all workers are busy; several may wait for the same run."""
        width = self.rules.width
        while len(self.waiting) < width and len(self.racing) < 2 * width:
            if not self.coming:
                self.coming.extend(self._move())
            if not self.coming:
                return
            challenger = self.coming.popleft()
            if challenger != self.incumbent and challenger not in self.racing:
                yield from self._begin(challenger)

    def _move(self) -> Move:
        returning = self.rejected & self.moves.look(self.incumbent)
        self.rejected -= returning - self._final(returning, self.incumbent)
        excluded = self.rejected | self.racing
        move = self.moves.take(self.incumbent, excluded)
        return move or self.moves.jump(self.incumbent, excluded)

    def _begin(self, challenger: Config, known: float | None = None) -> Iterator[Incumbent]:
        self.racing.add(challenger)
        if known is None:
            known = len(self.history.pairs_of(self.incumbent))
        asking = self.rules.comparison.better(self.history, challenger, self.incumbent)
        yield from self._follow(_Race(challenger, self.incumbent, asking, known))

    def _reopen(self) -> bool:
        """Return rejected configurations to be tried again; report whether there are any."""
        final = self._final(self.rejected, self.incumbent)
        some = len(final) < len(self.rejected)
        self.rejected = final
        return some

    def _final(self, rejected: set[Config], incumbent: Config) -> set[Config]:
        is_final = self.rules.comparison.is_final
        return {c for c in rejected if is_final(self.history, c, incumbent)}
