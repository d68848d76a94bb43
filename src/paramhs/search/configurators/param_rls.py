"""ParamRLS: keep the winner of the incumbent and one random move from it."""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from paramhs.search.comparison import Comparison, Growing
from paramhs.search.configurators.configurator import (
    Ahead,
    Start,
    all_tried,
    check_parts,
    first_config,
)
from paramhs.search.operators import Anywhere, Move, One, Operator
from paramhs.values.runs import Incumbent, Search
from paramhs.values.scenario import Scenario
from paramhs.values.seeds import stream
from paramhs.values.space import Config, Space

_PASSED_OVER = 100  # excluded moves drawn in a row before they are ruled out


@dataclass(frozen=True)
class ParamRLS:
    """Mutate the incumbent and keep the winner, for ever.

    With the harmonic step it is the paper's ParamHS; with `Anywhere` it is random search. A move
    to a configuration whose meeting could change nothing is drawn again. When the operator has no
    other left, any configuration may be proposed; when none is left at all, the search asks for
    deeper evidence, and ends when there is none. Without `replacement` no configuration is proposed
    twice. (Where comparisons do not remember, as in the paper, none of this happens.)

    Source: Hall, Oliveto, Sudholt (PPSN 2020), Algorithm 1.
    """

    operator: Operator = One()
    comparison: Comparison = Growing()
    start: Start = "default"
    replacement: bool = True

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison, self.start)

    def search(self, scenario: Scenario, seed: int) -> Search:
        """A new search."""
        contest = self.comparison.begin(scenario, seed)
        incumbent = first_config(self.start, scenario.space, stream(seed, "start"))
        proposed = {incumbent}
        yield from contest.enter(incumbent)
        yield Incumbent(incumbent, contest.costs(incumbent))
        moves = _Moves(self.operator, scenario.space, seed)
        while True:
            move = moves.take(incumbent, contest.settled if self.replacement else proposed)
            if not move:
                if self.replacement and contest.deepen(incumbent):
                    continue
                return all_tried(scenario.space, contest) or "nothing is left to try"
            for challenger in move:
                if not self.replacement:
                    proposed.add(challenger)
                if (yield from contest.better(challenger, incumbent, moves.ahead())):
                    incumbent = challenger
                    yield Incumbent(incumbent, contest.costs(incumbent))


class _Moves:
    """Random moves from the incumbent, which can be looked at ahead of time.

    Each incumbent has a random stream of its own, so what was looked at in vain for one does not
    change what is drawn for the next.
    """

    def __init__(self, operator: Operator, space: Space, seed: int) -> None:
        self._operator = operator
        self._space = space
        self._seed = seed
        self._incumbents = 0
        self._at: Config | None = None

    def _settle_at(self, incumbent: Config) -> None:
        self._at = incumbent
        self._incumbents += 1
        rng = stream(self._seed, "moves", self._incumbents)
        self._last_resort = stream(self._seed, "last moves", self._incumbents)
        draw = partial(self._operator.sample, self._space, incumbent, rng)
        self._drawn: Ahead[Move] = Ahead(iter(draw, ()))

    def take(self, incumbent: Config, excluded: Container[Config]) -> Move:
        """The next move with a challenger that is not excluded; empty if there is none.

        Moves that cannot lead further, at a local optimum or into a branch of which only the
        defaults can be reached, give way to a jump anywhere.
        """
        if incumbent is not self._at:
            self._settle_at(incumbent)
        for drawn in islice(self._drawn, _PASSED_OVER):
            move = tuple(config for config in drawn if config not in excluded)
            if move:
                return move
        last_resort = (self._space, incumbent, self._last_resort, excluded)
        return self._operator.sample(*last_resort) or Anywhere().sample(*last_resort)

    def ahead(self) -> Iterator[Config]:
        """The challengers to come if the incumbent survives."""
        return chain.from_iterable(self._drawn.peek())
