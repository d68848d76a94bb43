"""Open races of a search, and the challengers they begin with."""

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import cast

from paramhs.core.runs import Asking, Evaluate, Found, Run, Task
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.comparison.comparison import Opening, OpenRace, first_tasks
from paramhs.search.configurators.configurator import Following
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import Learner, Operator, UniformRandom, cohort_size, given


class _Race:
    """A race that is open: it will be held after those before it."""

    def __init__(
        self, challenger: Config, incumbent: Config, race: OpenRace, noise_of: Mapping[str, float]
    ) -> None:
        self.challenger = challenger
        self.incumbent = incumbent
        self.noise_of = noise_of
        self._held = Dialogue(race)
        self.opening = cast(Opening, self._held.request)
        self._ahead: Sequence[Task] = ()

    def ahead(self, found: Found) -> Sequence[Task]:
        """The runs that it will request, given those that were made early."""
        if all(found(task) for task in self._ahead):
            self._ahead = self.opening.ahead(found)
        return self._ahead

    def hold(self, following: Following) -> Asking:
        """Hold the race; return whether the challenger has won."""
        step = self._held.advance()
        while isinstance(step, Evaluate):
            step = self._held.advance((yield step._replace(following=following)))
        return bool(self._held.result)


class Cohort:
    """The races that are open: they are held in order, each on pairs that were chosen before.

    Challengers are drawn in groups, each from one fit of the model and around one incumbent. The
    number of open races follows from the history (`cohort_size`), never from the number of workers;
    when half of them are decided, new ones are drawn. So what they will request is known, and many
    workers have something to do. When there is a new incumbent, half of the races are opened again
    against it, and the others are dropped.

    While there are few runs, one race is open, and every draw knows all.
    """

    def __init__(
        self, operator: Operator | Learner, comparison: Comparison, history: History
    ) -> None:
        self._operator = operator
        self._comparison = comparison
        self._history = history
        self._open: deque[_Race] = deque()
        first = first_tasks(comparison.start(history.copy(), history.scenario.space.default))
        self._planned = [task.pair for task in first]
        self._drawn = 0
        self._most = sys.maxsize  # races that the last draw could open, in a small space

    def __len__(self) -> int:
        return len(self._open)

    def renew(
        self,
        incumbent: Config,
        rejected: set[Config],
        is_final: Callable[[Iterable[Config]], set[Config]],
    ) -> None:
        """Draw new challengers if it is time to.

        Args:
            incumbent: The configuration to move from.
            rejected: Configurations that are not proposed; those that the model wants back are
                removed from it.
            is_final: Those of some rejected configurations that could not win another race.
        """
        history = self._history
        size = cohort_size(self._operator, history)
        if len(self._open) > min(size, self._most) // 2:
            return
        now = given(self._operator, history)
        history.weigh_instances(now.noise_of)
        returning = rejected & set(chain.from_iterable(now.returning))
        rejected -= returning - is_final(returning)
        rng = history.rng("cohort", self._drawn)
        self._drawn += 1
        excluded = {*rejected, *(race.challenger for race in self._open), incumbent}
        space = history.scenario.space
        self._most = sys.maxsize
        while len(self._open) < size:
            move = now.sample(space, incumbent, rng, excluded)
            # At a local optimum, or where moves reach only defaults: any configuration.
            move = move or UniformRandom().sample(space, incumbent, rng, excluded)
            if not move:
                self._most = len(self._open)
                return
            excluded.update(move)
            for challenger in move:
                self._begin(challenger, incumbent)

    def _begin(self, challenger: Config, incumbent: Config) -> None:
        known = self._history.costs(incumbent)
        self._planned = [pair for pair in self._planned if pair not in known]
        held = self._comparison.opened(self._history, challenger, incumbent, self._planned)
        race = _Race(challenger, incumbent, held, self._history.noise_of)
        self._planned += race.opening.gained
        self._open.append(race)

    def restart(self, incumbent: Config) -> None:
        """Open half of the races again, against a new incumbent; drop the others."""
        kept = cohort_size(self._operator, self._history) // 2
        races, noise_of = [*islice(self._open, kept)], self._history.noise_of
        self._open.clear()
        self._planned.clear()
        for race in races:
            # With the noise of its first draw, a challenger keeps the order of its pairs.
            self._history.weigh_instances(race.noise_of)
            if race.challenger != incumbent:
                self._begin(race.challenger, incumbent)
        self._history.weigh_instances(noise_of)

    def next_race(self) -> Generator[Evaluate, Sequence[Run], tuple[Config, bool]]:
        """Hold the first race; return its challenger, and whether it has won."""
        race = self._open.popleft()
        self._history.open_race(race.challenger, race.incumbent)
        won = yield from race.hold(self.following)
        self._history.decide(race.challenger, race.incumbent, won)
        return race.challenger, won

    def following(self, found: Found) -> Iterator[Task]:
        """Runs that the open races will request, unless there is a new incumbent."""
        for race in islice(self._open, 1):
            yield from self._history.missing(race.incumbent, self._planned)
        for race in self._open:
            yield from race.ahead(found)
