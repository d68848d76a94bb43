"""A comparison decided by a law without runs, to compare searches with exact numbers."""

import math
from collections.abc import Callable, Container
from random import Random
from weakref import WeakKeyDictionary

from paramhs.core.runs import Asking, Search
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.history import History

Beats = Callable[[Config, Config, Random], bool]
"""Whether the challenger (second) replaces the incumbent (first)."""


class Sampled(Exception):
    """A search sampled an optimum after this number of calls; infinite if it was abandoned."""

    def __init__(self, calls: float) -> None:
        super().__init__(calls)
        self.calls = calls


class Duels(Comparison):
    """Comparison by `beats`, which draws from one stream for all calls of a search.

    Sampling one of the `optima` ends the search; so does the call numbered `patience`, because the
    search may be trapped.
    """

    def __init__(
        self, beats: Beats, optima: Container[Config] = (), patience: float = math.inf
    ) -> None:
        self.beats = beats
        self.optima = optima
        self.patience = patience
        self._streams: WeakKeyDictionary[History, Random] = WeakKeyDictionary()

    def start(self, history: History, config: Config) -> Asking:
        """Start without making runs."""
        if config in self.optima:
            raise Sampled(0)
        self._streams[history] = history.rng("duels")
        return True
        yield

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """Decide by one call, which counts as a requested run."""
        history.count_request()
        if challenger in self.optima:
            raise Sampled(history.asked)
        if history.asked >= self.patience:
            raise Sampled(math.inf)
        return self.beats(incumbent, challenger, self._streams[history])
        yield

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Return False, because every duel is drawn anew."""
        return False


def calls_until_sampled(search: Search) -> float:
    """Number of calls that a search by duels takes to sample an optimum."""
    try:
        for _ in search:
            pass
    except Sampled as sampled:
        return sampled.calls
    raise AssertionError("the search ended without sampling an optimum")
