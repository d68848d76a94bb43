"""ParamILS: iterated local search in configuration space."""

from abc import ABC, abstractmethod
from collections.abc import Container, Generator, Sequence
from dataclasses import dataclass
from random import Random

from paramhs.core.costs import score
from paramhs.core.errors import BadInput
from paramhs.core.part_checks import check_part
from paramhs.core.runs import Evaluate, Incumbent, Run, Search
from paramhs.core.space import Config, Space
from paramhs.search.comparison import Comparison, Focused
from paramhs.search.configurators.configurator import (
    MAX_IDLE_PROPOSALS,
    Configurator,
    Stage,
    Start,
    check_parts,
    first_incumbent,
    next_races,
    race,
    why_ended,
)
from paramhs.search.history import History
from paramhs.search.operators import OneParameter, Operator, Uniform, given
from paramhs.search.peekable import Peekable

Walking = Generator[Evaluate | Incumbent, Sequence[Run], Config | None]
Noting = Generator[Evaluate | Incumbent, Sequence[Run], None]


class Walk(ABC):
    """Neighbours that a local search excludes."""

    @abstractmethod
    def excluded(self, discovered: set[Config]) -> Container[Config]:
        """Configurations to exclude among those this local search has compared.

        Args:
            discovered: Configurations that this local search has compared.

        Returns:
            Configurations that it must not visit again.
        """


@dataclass(frozen=True)
class TabuWalk(Walk):
    """Walk that compares no configuration twice."""

    def excluded(self, discovered: set[Config]) -> Container[Config]:
        """Exclude every discovered configuration."""
        return discovered


@dataclass(frozen=True)
class RestartWalk(Walk):
    """Walk that starts anew at every move, like the paper's harmonic variant."""

    def excluded(self, discovered: set[Config]) -> Container[Config]:
        """Exclude no configuration."""
        return ()


@dataclass(frozen=True)
class ParamILS(Configurator):
    """Local search by first improvement, with random kicks and occasional restarts.

    `random_starts` is R, `kicks` is s; `operator` gives the order in which a local search visits a
    configuration's neighbours, `walk` which of them it excludes. With `Focused`, the default, it is
    FocusedILS; with `FixedRuns(N)`, BasicILS(N).

    Args:
        operator: Order in which the neighbours of a configuration are visited.
        comparison: `Focused()` for FocusedILS, `FixedRuns(N)` for BasicILS(N).
        random_starts: Number of random configurations at the start (R).
        kicks: Number of random changes between two local searches (s).
        p_restart: Probability of a restart after a local search.
        walk: Neighbours that a local search excludes.
        start: First configuration: the default, or a uniformly random one.

    Examples:
        >>> from paramhs.search import FixedRuns, ParamILS
        >>> ParamILS(comparison=FixedRuns(100)).kicks
        3

    Source: Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009), Algorithm 1; Hall, Oliveto,
    Sudholt (PPSN 2020) use R = 0 and add the harmonic order.
    """

    operator: Operator = OneParameter(Uniform())
    comparison: Comparison = Focused()
    random_starts: int = 10
    kicks: int = 3
    p_restart: float = 0.01
    walk: Walk = TabuWalk()
    start: Start = "default"

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison, self.start)
        check_part(self.walk, "a walk, such as TabuWalk()", Walk)
        if self.random_starts < 0 or self.kicks < 1 or not 0 <= self.p_restart <= 1:
            raise BadInput("ParamILS needs random_starts >= 0, kicks >= 1, 0 <= p_restart <= 1")

    def search(self, history: History) -> Search:
        """Start a search."""
        return _IteratedSearch(self, history).search()


class _IteratedSearch:
    """State of one search, with the best configuration so far.

    A configuration becomes the best if it wins against the best, or is better by known runs on all
    pairs of the best. (Where no run is used twice, as in the paper's theory, there are no such
    pairs, and only winning counts.)
    """

    best: Config

    def __init__(self, rules: ParamILS, history: History) -> None:
        self.rules = rules
        self.history = history
        self.space = history.scenario.space
        self.rng = history.rng("paramils")
        self.steps = 0

    def search(self) -> Search:
        history, rules = self.history, self.rules
        self.best = yield from first_incumbent(history, rules.comparison, rules.start)
        yield from self._random_starts()
        current = yield from self._local_search(self.best)
        idle = 0
        while idle < MAX_IDLE_PROPOSALS:
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
        return f"nothing new in {MAX_IDLE_PROPOSALS:,} iterations"

    def _random_starts(self) -> Noting:
        for _ in range(self.rules.random_starts):
            challenger = next(self.space.draws(self.rng), self.best)
            if challenger != self.best:
                yield from self._better(challenger, self.best)

    def _settle(self) -> Noting:
        """Race configurations that could still win against the best, once all were tried."""
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

        It also ends where it returns to a configuration without having learned anything on the way.
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
        neighbours = Peekable(operator.order(self.space, config, rng, excluded))
        for neighbour in neighbours:
            discovered.add(neighbour)
            if (yield from self._better(neighbour, config, neighbours)):
                return neighbour
        return None

    def _better(
        self, challenger: Config, incumbent: Config, coming: Peekable[Config] | None = None
    ) -> Generator[Evaluate | Incumbent, Sequence[Run], bool]:
        """Race, and keep the best up to date."""
        history, rule = self.history, self.rules.comparison
        following = next_races(history, rule, coming.peek if coming else tuple, incumbent)
        won = yield from race(history, rule, challenger, incumbent, following)
        if won and incumbent == self.best:
            yield from self._note(challenger)
        for config in (challenger, incumbent):
            if config != self.best and self._is_known_to_be_better(config):
                yield from self._note(config)
        return won

    def _note(self, best: Config) -> Noting:
        self.best = best
        yield Incumbent(best)

    def _is_known_to_be_better(self, config: Config) -> bool:
        """Whether a configuration is better on all pairs of the best, without capped runs."""
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
    """Random move of one parameter; the same configuration if there is none."""
    move = OneParameter(Uniform()).sample(space, config, rng)
    return move[0] if move else config
