"""How likely it is that another draw of a known law beats the best.

Every challenger of the best since it took over has lost its race, or the best would not be the
best. Where a share `epsilon` of each proposal follows a known law, whatever a model does with the
rest, a proposal wins with a probability of at least epsilon * p, with p the probability that a draw
of that law wins. Then n proposals in a row lose with a probability of at most (1 - epsilon * p)^n,
which is below `level` for every p above (1 - level^(1 / n)) / epsilon: the bound of Clopper and
Pearson where nothing has won.

It is valid at any moment chosen in advance if no later incumbent is easier to beat than the ones
before. For each moment T and each incumbent k let w(k) be the number of losses that would refute
its own p. The bound is wrong at T only if incumbent k was there at T - w(k) and lost nothing since.
As p falls, w grows, so these moments come the earlier the later the incumbent is: at most one k can
have been there at its own, and the chance of what follows is at most `level`.

Sources: Clopper, Pearson, The use of confidence or fiducial limits illustrated in the case of the
binomial (Biometrika 26, 1934). The law of moves: docs/explanation/learning.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paramhs.core.space import Config
from paramhs.search.history import Race
from paramhs.search.operators import RUNS_PER_CHALLENGER
from paramhs.search.record import Record

LEVEL = 0.05
MIN_DRAWS = 20.0
"""Expected draws of a law below which nothing is said."""

MAX_DESIGN_LEFT = 10
"""Challengers of an initial design that may race after a win among its first ones."""


@dataclass(frozen=True)
class WinProbability:
    """Bound of the probability that another draw of a law wins a race against the best."""

    law: str
    """"uniform" (any configuration) or "plain" (a move of the plain operator from the best)."""
    challengers: int
    """Challengers of the best since it took over, none of which won."""
    share: float
    """Least share of them that follows the law."""
    bound: float
    """The probability is below this."""
    level: float
    """Probability that the bound is wrong."""

    @property
    def text(self) -> str:
        """The statement, as a sentence."""
        sure = f"({100 * (1 - self.level):.3g} %)"
        below = f"with probability below {100 * self.bound:.2g} %"
        if self.law == "uniform":
            return (
                f"Of {self.challengers:,} configurations drawn at random, none beat it: another one"
                f" wins a race against it {below} {sure}."
            )
        of = "all" if self.share == 1 else f"at least {100 * self.share:.3g} %"
        return (
            f"Of {self.challengers:,} challengers of the best, none won, and {of} of proposals are"
            f" plain moves from it: another plain move wins a race against it {below} {sure}."
        )

    @property
    def short(self) -> str:
        """The statement on part of a line."""
        draw = "random configuration" if self.law == "uniform" else "plain move"
        return f"a {draw} wins below {100 * self.bound:.2g} % ({100 * (1 - self.level):.3g} %)"

    def to_json(self) -> dict[str, object]:
        """Convert the statement to JSON types."""
        return {**vars(self), "text": self.text}


def win_probabilities(record: Record, level: float = LEVEL) -> tuple[WinProbability, ...]:
    """The statements that the races of a record allow: about uniform draws, and plain moves."""
    races = record.history.races
    count = challengers_since(races, record.best, _given(record)) - drawn_before(races)
    return tuple(
        found
        for name, share in record.proposals._asdict().items()
        if (found := bounded(name, share, count, level)) is not None
    )


def bounded(law: str, share: float, challengers: int, level: float) -> WinProbability | None:
    """The statement after this number of lost races; None with too few."""
    if share * challengers < MIN_DRAWS:
        return None
    bound = (1 - level ** (1 / challengers)) / share
    return WinProbability(law, challengers, share, bound, level)


def challengers_since(races: Sequence[Race], best: Config, given: int = 0) -> int:
    """Number of races that the best has won in a row up to now.

    Args:
        races: All decided races, in order.
        best: The present incumbent.
        given: Number of first races whose challengers were not drawn.
    """
    count = 0
    for race in reversed(races[given:]):
        if race.won or race.incumbent != best:
            break
        count += 1
    return count


def drawn_before(races: Sequence[Race]) -> int:
    """Most races against the present incumbent whose challengers were drawn around another one.

    After each win, half a cohort that was drawn before still races. Half the initial design is no
    more than `MAX_DESIGN_LEFT`.
    """
    won = next((race for race in reversed(races) if race.won), None)
    if won is None:
        return 0
    return max(MAX_DESIGN_LEFT, won.asked // RUNS_PER_CHALLENGER // 2)


def _given(record: Record) -> int:
    """Number of races against configurations that the user gave."""
    initial = dict.fromkeys(record.scenario.initial)
    initial.pop(record.space.default, None)
    return len(initial)
