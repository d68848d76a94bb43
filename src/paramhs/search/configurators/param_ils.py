"""ParamILS: iterated local search in configuration space."""

from collections.abc import Container, Generator, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from paramhs.search.ahead import Ahead
from paramhs.search.comparison import Comparison, Focused
from paramhs.search.configurators.configurator import (
    IDLE,
    Stage,
    Start,
    check_parts,
    first_incumbent,
    race,
    why_ended,
)
from paramhs.search.configurators.foresight import NOBODY, Coming, Foresight
from paramhs.search.history import History
from paramhs.search.operators import Learner, One, Operator, Uniform, given
from paramhs.values.costs import score
from paramhs.values.errors import BadInput
from paramhs.values.runs import Evaluate, Incumbent, Run, Search
from paramhs.values.space import Config, Space

Walking = Generator[Evaluate | Incumbent, Sequence[Run], Config | None]
Noting = Generator[Evaluate | Incumbent, Sequence[Run], None]


class Walk(Protocol):
    """Which neighbours a local search leaves out."""

    def excluded(self, discovered: set[Config]) -> Container[Config]:
        """Those to leave out, of all that this local search has met."""


@dataclass(frozen=True)
class Undiscovered:
    """A local search meets no configuration twice."""

    def excluded(self, discovered: set[Config]) -> Container[Config]:
        """All of them."""
        return discovered


@dataclass(frozen=True)
class Afresh:
    """Every move starts afresh, as the paper's harmonic variant does."""

    def excluded(self, discovered: set[Config]) -> Container[Config]:
        """None."""
        return ()


@dataclass(frozen=True)
class ParamILS:
    """Local search by first improvement, random kicks, now and then a restart.

    `random_starts` is R, `kicks` is s; `operator` gives the order in which a local search walks a
    configuration's neighbours, `walk` which of them it leaves out. With `Focused`, as it is unless
    told otherwise, it is FocusedILS; with `FixedRuns(N)`, BasicILS(N).

    Source: Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009), Algorithm 1; Hall, Oliveto,
    Sudholt (PPSN 2020) use R = 0 and add the harmonic order.
    """

    operator: Operator = One(Uniform())
    comparison: Comparison = Focused()
    random_starts: int = 10
    kicks: int = 3
    p_restart: float = 0.01
    walk: Walk = Undiscovered()
    start: Start = "default"

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison, self.start)
        if self.random_starts < 0 or self.kicks < 1 or not 0 <= self.p_restart <= 1:
            raise BadInput("ParamILS needs random_starts >= 0, kicks >= 1, 0 <= p_restart <= 1")

    def search(self, history: History) -> Search:
        """A new search."""
        return _IteratedSearch(self, history).search()


class _IteratedSearch:
    """One search, and the best configuration it has seen.

    The best is whoever beat the best, or is better by what is known already on all the pairs that
    the best was run on. (Where nothing is used again, as in the paper's theory, there are no such
    pairs, and only winning counts.)
    """

    best: Config

    def __init__(self, rules: ParamILS, history: History) -> None:
        self.rules = rules
        self.history = history
        self.space = history.scenario.space
        self.rng = history.rng("paramils")
        self.steps = 0
        self.foresight = Foresight(history, rules.comparison)

    def search(self) -> Search:
        history, rules = self.history, self.rules
        self.best = yield from first_incumbent(
            history, rules.comparison, rules.start, self.foresight
        )
        yield from self._random_starts()
        current = yield from self._local_search(self.best)
        idle = 0
        while idle < IDLE:
            learned = history.learned
            candidate = yield from self._local_search(self._perturb(current))
            if candidate != current and (yield from self._better(candidate, current)):
                current = candidate
                if current != self.best:
                    yield from self._better(current, self.best)
            if self.rng.random() < rules.p_restart:
                current = next(self.space.draws(self.rng), current)
            idle = idle + 1 if history.learned == learned else 0
            if idle and len(history.configs) == self.space.size():
                yield from self._settle()
                if history.learned == learned:
                    return why_ended(history)
        return f"nothing new in {IDLE:,} iterations"

    def _random_starts(self) -> Noting:
        for _ in range(self.rules.random_starts):
            challenger = next(self.space.draws(self.rng), self.best)
            if challenger != self.best:
                yield from self._better(challenger, self.best)

    def _settle(self) -> Noting:
        """Where all were tried: those meet the best again whose race could still end otherwise."""
        history, is_final = self.history, self.rules.comparison.is_final
        for config in list(history.configs):
            if config == self.best:
                continue
            if not is_final(history, config, self.best):
                yield from self._better(config, self.best)
            elif self._is_known_to_be_better(config):
                yield from self._note(config)

    def _local_search(self, config: Config) -> Stage:
        """Iterative first improvement; ends where no neighbour in the order is better.

        It also ends where it comes back to without having learned anything on the way.
        """
        discovered = {config}
        learned_at: dict[Config, int] = {}
        while learned_at.get(config) != self.history.learned:
            learned_at[config] = self.history.learned
            better = yield from self._first_improvement(config, discovered)
            if better is None:
                return config
            config = better
        return config

    def _first_improvement(self, config: Config, discovered: set[Config]) -> Walking:
        self.steps += 1
        rng = self.history.rng("order", self.steps)
        operator = given(self.rules.operator, self.history)
        excluded = self.rules.walk.excluded(discovered)
        neighbours = Ahead(operator.order(self.space, config, rng, excluded))
        for neighbour in neighbours:
            discovered.add(neighbour)
            if (yield from self._better(neighbour, config, neighbours)):
                return neighbour
        return None

    def _better(
        self, challenger: Config, incumbent: Config, coming: Ahead[Config] | None = None
    ) -> Generator[Evaluate | Incumbent, Sequence[Run], bool]:
        """Race, and keep the best up to date."""
        won = yield from race(
            *(self.history, self.rules.comparison, challenger, incumbent, self.foresight),
            Coming(lambda _: coming.peek(), self._after) if coming else NOBODY,
        )
        if won and incumbent == self.best:
            yield from self._note(challenger)
        for config in (challenger, incumbent):
            if config != self.best and self._is_known_to_be_better(config):
                yield from self._note(config)
        return won

    def _after(self, history: History, winner: Config, wins: int) -> Iterator[Config]:
        """The neighbours to come if a local search goes on from here."""
        if isinstance(self.rules.operator, Learner):
            return iter(())
        rng = history.rng("order", self.steps + wins)
        return self.rules.operator.order(self.space, winner, rng, ())

    def _note(self, best: Config) -> Noting:
        self.best = best
        yield Incumbent(best)

    def _is_known_to_be_better(self, config: Config) -> bool:
        """On all pairs that the best was run on; none of its own runs was cut short."""
        history = self.history
        costs, best = history.costs(config), history.costs(self.best)
        if not best or history.cut_short(config) or any(pair not in costs for pair in best):
            return False
        return score([costs[pair] for pair in best]) < score([*best.values()])

    def _perturb(self, config: Config) -> Config:
        for _ in range(self.rules.kicks):
            config = _kick(self.space, config, self.rng)
        return config


def _kick(space: Space, config: Config, rng: Random) -> Config:
    """One random one-parameter move; the same configuration where there is none."""
    move = One(Uniform()).sample(space, config, rng)
    return move[0] if move else config
