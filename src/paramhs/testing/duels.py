"""A comparison that decides by a law, without any run: many searches can be made, and their calls
held to exact numbers."""

import math
from collections.abc import Callable, Container
from random import Random
from weakref import WeakKeyDictionary

from paramhs.search.history import History
from paramhs.values.runs import Asking, Search
from paramhs.values.space import Config

Beats = Callable[[Config, Config, Random], bool]
"""Whether the challenger (second) replaces the incumbent (first)."""


class Sampled(Exception):
    """A search has sampled an optimum after so many calls; infinitely many if it was given up."""

    def __init__(self, calls: float) -> None:
        super().__init__(calls)
        self.calls = calls


class Duels:
    """Decides by `beats`, which draws from one stream for all calls of a search.

    Sampling one of the `optima` ends the search; so does the call whose number is the `patience`,
    as it may be trapped.
    """

    def __init__(
        self, beats: Beats, optima: Container[Config] = (), patience: float = math.inf
    ) -> None:
        self.beats = beats
        self.optima = optima
        self.patience = patience
        self._streams: WeakKeyDictionary[History, Random] = WeakKeyDictionary()

    def start(self, history: History, config: Config) -> Asking:
        """Nothing is run."""
        if config in self.optima:
            raise Sampled(0)
        self._streams[history] = history.rng("duels")
        return True
        yield

    def better(self, history: History, challenger: Config, incumbent: Config) -> Asking:
        """One call, which counts as a run asked for."""
        history.asked += 1
        if challenger in self.optima:
            raise Sampled(history.asked)
        if history.asked >= self.patience:
            raise Sampled(math.inf)
        return self.beats(incumbent, challenger, self._streams[history])
        yield

    def is_final(self, history: History, challenger: Config, incumbent: Config) -> bool:
        """Never: every duel is a new one."""
        return False


def calls_until_sampled(search: Search) -> float:
    """How many calls a search by duels takes to sample an optimum."""
    try:
        for _ in search:
            pass
    except Sampled as sampled:
        return sampled.calls
    raise AssertionError("the search ended without sampling an optimum")
