"""ParamILS: iterated local search in configuration space (BasicILS)."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from random import Random

from paramhs.search.comparison import Comparison, Contest, FixedRuns
from paramhs.search.configurators.configurator import (
    Ahead,
    Start,
    all_tried,
    check_parts,
    first_config,
)
from paramhs.search.operators import One, Operator, Uniform
from paramhs.values.errors import BadInput
from paramhs.values.runs import Evaluate, Incumbent, Run, Search
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import stream
from paramhs.values.space import Config, Space

Descent = Generator[Evaluate | Incumbent, Sequence[Run], Config]

_IDLE = 1_000  # iterations without a new run before the search is taken to be at its end


@dataclass(frozen=True)
class ParamILS:
    """Local search by first improvement, random kicks, now and then a restart.

    `random_starts` is R, `kicks` is s; `operator` gives the order in which a local search walks a
    configuration's neighbours. A local search walks *undiscovered* neighbours only; with `revisits`
    it starts afresh at every move, which the paper's harmonic variant does and which needs
    comparisons that do not remember.

    Source: Hutter, Hoos, Leyton-Brown, Stuetzle (JAIR 36, 2009), Algorithm 1; Hall, Oliveto,
    Sudholt (PPSN 2020) use R = 0 and add the harmonic order.
    """

    operator: Operator = One(Uniform())
    comparison: Comparison = FixedRuns()
    random_starts: int = 10
    kicks: int = 3
    p_restart: float = 0.01
    revisits: bool = False
    start: Start = "default"

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison, self.start)
        if self.random_starts < 0 or self.kicks < 1 or not 0 <= self.p_restart <= 1:
            raise BadInput("ParamILS needs random_starts >= 0, kicks >= 1, 0 <= p_restart <= 1")

    def search(self, scenario: Scenario, seed: int) -> Search:
        """A new search."""
        contest = self.comparison.begin(scenario, seed)
        if self.revisits and contest.remembers:
            raise BadInput("ParamILS with revisits needs a comparison that does not remember")
        return _Life(self, scenario.space, contest, seed).search()


class _Life:
    """One search: its random streams, and the best configuration it has seen."""

    def __init__(self, rules: ParamILS, space: Space, contest: Contest, seed: int) -> None:
        self.rules = rules
        self.space = space
        self.contest = contest
        self.seed = seed
        self.rng = stream(seed, "paramils")
        self.steps = 0
        self.best = first_config(rules.start, space, stream(seed, "start"))

    def search(self) -> Search:
        contest, space = self.contest, self.space
        yield from contest.enter(self.best)
        yield self._incumbent()
        yield from self._random_starts()
        current = yield from self._local_search(self.best)
        idle = 0
        while idle < _IDLE:
            asked = contest.asked
            candidate = yield from self._local_search(self._kicked(current))
            if candidate != current and (yield from contest.better(candidate, current)):
                yield from self._follow(current, candidate)
                current = candidate
            if self.rng.random() < self.rules.p_restart:
                current = next(space.draws(self.rng), current)
                if contest.remembers:
                    yield from self._challenge_best(current)
            if contest.remembers and (ended := all_tried(space, contest)):
                return ended
            idle = idle + 1 if contest.asked == asked else 0
        return f"nothing new in {_IDLE:,} iterations"

    def _random_starts(self) -> Generator[Evaluate | Incumbent, Sequence[Run], None]:
        for _ in range(self.rules.random_starts):
            challenger = next(self.space.draws(self.rng), self.best)
            if challenger != self.best:
                yield from self._challenge_best(challenger)

    def _local_search(self, config: Config) -> Descent:
        """Iterative first improvement; ends where no neighbour in the order is better."""
        discovered = {config}
        while True:
            better = yield from self._first_improvement(config, discovered)
            if better is None:
                return config
            if config == self.best or self.contest.remembers:
                yield from self._follow(config, better)
            config = better

    def _first_improvement(
        self, config: Config, discovered: set[Config]
    ) -> Generator[Evaluate, Sequence[Run], Config | None]:
        self.steps += 1
        rng = stream(self.seed, "order", self.steps)
        excluded = () if self.rules.revisits else discovered
        neighbours = Ahead(self.rules.operator.order(self.space, config, rng, excluded))
        for neighbour in neighbours:
            discovered.add(neighbour)
            if (yield from self.contest.better(neighbour, config, neighbours.peek())):
                return neighbour
        return None

    def _kicked(self, config: Config) -> Config:
        for _ in range(self.rules.kicks):
            config = _kick(self.space, config, self.rng)
        return config

    def _follow(
        self, beaten: Config, better: Config
    ) -> Generator[Evaluate | Incumbent, Sequence[Run], None]:
        """Keep the best up to date; who beat the best need not meet it again."""
        if beaten == self.best:
            self.best = better
            yield self._incumbent()
        else:
            yield from self._challenge_best(better)

    def _challenge_best(
        self, config: Config
    ) -> Generator[Evaluate | Incumbent, Sequence[Run], None]:
        if config != self.best and (yield from self.contest.better(config, self.best)):
            self.best = config
            yield self._incumbent()

    def _incumbent(self) -> Incumbent:
        return Incumbent(self.best, self.contest.costs(self.best))


def _kick(space: Space, config: Config, rng: Random) -> Config:
    """One random one-parameter move; the same configuration where there is none."""
    move = One(Uniform()).sample(space, config, rng)
    return move[0] if move else config
