"""Challengers of a search, drawn in cohorts."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from paramhs.core.space import Config
from paramhs.search.history import History
from paramhs.search.operators import Learner, Operator, UniformRandom, cohort_size, given


class Proposals:
    """The next challengers, in the order of their races.

    Challengers are drawn in cohorts. A cohort comes from one fit of the model and one incumbent;
    its size follows from the history (`cohort_size`), never from the number of workers. The next
    one is drawn when half of it has raced. So at least half a cohort is always known ahead of time,
    and workers need not wait for a fit. When there is a new incumbent, half a cohort still races
    it; the rest is dropped and drawn again around the new one.

    So a draw knows nothing of at most the last cohort of races. While there are few runs, a cohort
    is one challenger, and every draw knows all.
    """

    def __init__(self, operator: Operator | Learner, history: History) -> None:
        self._operator = operator
        self._history = history
        self._queue: deque[Config] = deque()
        self._cohorts = 0

    def __bool__(self) -> bool:
        return bool(self._queue)

    def __iter__(self) -> Iterator[Config]:
        """The challengers known so far, in order."""
        return iter(tuple(self._queue))

    def take(self) -> Config:
        """Remove and return the next challenger."""
        return self._queue.popleft()

    def renew(
        self,
        incumbent: Config,
        rejected: set[Config],
        is_final: Callable[[Iterable[Config]], set[Config]],
    ) -> None:
        """Draw the next cohort if it is time to.

        Args:
            incumbent: The configuration to move from.
            rejected: Configurations that are not proposed; those that the model wants back are
                removed from it.
            is_final: Those of some rejected configurations that could not win another race.
        """
        history = self._history
        size = cohort_size(self._operator, history)
        if len(self._queue) > size // 2:
            return
        now = given(self._operator, history)
        history.weigh_instances(now.noise_of)
        returning = rejected & set(chain.from_iterable(now.returning))
        rejected -= returning - is_final(returning)
        rng = history.rng("cohort", self._cohorts)
        self._cohorts += 1
        excluded = {*rejected, *self._queue, incumbent}
        space = history.scenario.space
        while len(self._queue) < size:
            move = now.sample(space, incumbent, rng, excluded)
            # At a local optimum, or where moves reach only defaults: any configuration.
            move = move or UniformRandom().sample(space, incumbent, rng, excluded)
            if not move:
                return
            self._queue.extend(move)
            excluded.update(move)

    def limit(self) -> None:
        """Drop those that were drawn around a former incumbent, except half a cohort."""
        kept = cohort_size(self._operator, self._history) // 2
        while len(self._queue) > kept:
            self._queue.pop()
