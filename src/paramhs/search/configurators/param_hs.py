"""ParamHS: harmonic moves from the incumbent, raced against it; the default."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import partial

from paramhs.core.runs import Incumbent, Search
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison, Growing
from paramhs.search.configurators.configurator import (
    Configurator,
    check_parts,
    first_incumbent,
    race,
    why_ended,
)
from paramhs.search.history import History
from paramhs.search.lookahead.proposals import Moves
from paramhs.search.lookahead.speculation import Coming, Foresight
from paramhs.search.operators import Learned, Learner, Operator


@dataclass(frozen=True)
class ParamHS(Configurator):
    """Mutate the incumbent, race the two, and keep the winner.

    A rejected configuration is excluded from the moves until there is a new incumbent, a learning
    operator proposes it again, or no other configuration is left. Then it may be revisited if its
    race could still end differently. When the operator has no move left (at a local optimum, or
    into a branch of which only the defaults can be reached), any configuration may be proposed. So
    a search of a small space eventually tries every configuration.

    Args:
        operator: Operator that proposes challengers.
        comparison: Rule that decides a race.

    Examples:
        >>> import paramhs
        >>> from paramhs.search import Harmonic, ParamHS, SeveralParameters
        >>> plain = ParamHS(SeveralParameters(Harmonic()))
        >>> found = paramhs.tune(lambda c: c["x"], {"x": range(9)}, budget=20, configurator=plain)
        >>> found.best["x"]
        0

    Source: Algorithm 1 of Hall, Oliveto, Sudholt (PPSN 2020) with the harmonic step, for targets
    whose runs are reused; the treatment of rejected configurations is our own.
    """

    operator: Operator | Learner = Learned()
    comparison: Comparison = Growing()

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison)

    def search(self, history: History) -> Search:
        """Start a search."""
        foresight = Foresight(history, self.comparison)
        incumbent = yield from first_incumbent(history, self.comparison, "default", foresight)
        moves = Moves(self.operator, history)
        rejected = {config for config in history.scenario.initial if config != incumbent}
        while True:
            returning = rejected & moves.look(incumbent)
            rejected -= returning - self._final(history, returning, incumbent)
            move = moves.take(incumbent, rejected) or moves.jump(incumbent, rejected)
            if not move:
                final = self._final(history, rejected, incumbent)
                if len(final) == len(rejected):
                    return why_ended(history)
                rejected = final
            for index, challenger in enumerate(move):
                coming = Coming(
                    partial(moves.ahead, now=move[index:], excluded=rejected),
                    partial(self._after, moves, rejected),
                )
                won = yield from race(
                    history, self.comparison, challenger, incumbent, foresight, coming
                )
                if won:
                    rejected = self._final(history, rejected, challenger) | {incumbent}
                    incumbent = challenger
                    yield Incumbent(incumbent)
                else:
                    rejected.add(challenger)

    def _after(
        self, moves: Moves, rejected: set[Config], history: History, winner: Config, wins: int
    ) -> Iterator[Config]:
        return moves.after(winner, wins, _Final(self.comparison, history, rejected, winner))

    def _final(self, history: History, rejected: set[Config], incumbent: Config) -> set[Config]:
        return {c for c in rejected if self.comparison.is_final(history, c, incumbent)}


@dataclass(frozen=True)
class _Final:
    """Rejected configurations whose race with an incumbent could not end differently."""

    comparison: Comparison
    history: History
    rejected: Set[Config]
    incumbent: Config

    def __contains__(self, config: object) -> bool:
        if not isinstance(config, Config) or config not in self.rejected:
            return False
        return self.comparison.is_final(self.history, config, self.incumbent)
