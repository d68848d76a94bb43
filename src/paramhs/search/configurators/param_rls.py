"""ParamRLS: keep the winner of the incumbent and one random move from it."""

from dataclasses import dataclass

from paramhs.core.runs import Incumbent, Search
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison, Growing
from paramhs.search.configurators.configurator import (
    MAX_IDLE_PROPOSALS,
    Configurator,
    Start,
    check_parts,
    first_incumbent,
    next_races,
    race,
    why_ended,
)
from paramhs.search.configurators.moves import Moves
from paramhs.search.history import History
from paramhs.search.operators import OneParameter, Operator


@dataclass(frozen=True)
class ParamRLS(Configurator):
    """Mutate the incumbent and keep the winner: the paper's algorithm, unmodified.

    With the harmonic step it is the paper's ParamHS; with `UniformRandom` it is random search.
    Without `replacement` no configuration is proposed twice; when the operator has no other left,
    any may come. For real targets `paramhs.search.ParamHS` does the same with fewer runs.

    Args:
        operator: Operator that proposes challengers.
        comparison: Rule that decides a race.
        start: First configuration: the default, or a uniformly random one.
        replacement: Whether a rejected configuration may be proposed again at once.

    Examples:
        >>> from paramhs.search import FreshRuns, ParamRLS
        >>> ParamRLS(comparison=FreshRuns(10), start="uniform").replacement
        True

    Source: Hall, Oliveto, Sudholt (PPSN 2020), Algorithm 1.
    """

    operator: Operator = OneParameter()
    comparison: Comparison = Growing()
    start: Start = "default"
    replacement: bool = True

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison, self.start)

    def search(self, history: History) -> Search:
        """Start a search."""
        incumbent = yield from first_incumbent(history, self.comparison, self.start)
        moves = Moves(self.operator, history)
        proposed: set[Config] = set() if self.replacement else {incumbent}
        idle = 0
        while idle < MAX_IDLE_PROPOSALS:
            learned = history.learned
            move = moves.take(incumbent, proposed) or moves.jump(incumbent, proposed)
            if not move:
                return why_ended(history)
            for challenger in move:
                if not self.replacement:
                    proposed.add(challenger)
                following = next_races(history, self.comparison, moves.peek, incumbent)
                if (yield from race(history, self.comparison, challenger, incumbent, following)):
                    incumbent = challenger
                    yield Incumbent(incumbent)
            idle = idle + 1 if history.learned == learned else 0
        return f"nothing new in {MAX_IDLE_PROPOSALS:,} proposals"
