"""ParamHS: harmonic moves from the incumbent, raced against it; the default."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from paramhs.core.runs import Incumbent, Search
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison, Growing
from paramhs.search.configurators.cohort import Cohort
from paramhs.search.configurators.configurator import (
    Configurator,
    check_parts,
    first_incumbent,
    why_ended,
)
from paramhs.search.history import History
from paramhs.search.operators import Learned, Learner, Operator


@dataclass(frozen=True)
class ParamHS(Configurator):
    """Mutate the incumbent, race the two, and keep the winner.

    One race is open for each ten runs so far (`Cohort`); its challenger is drawn, from a fit of
    the model and around an incumbent, and its pairs are chosen when it is opened. So the next runs
    are known early, and many workers have something to do. Races are decided one after the other,
    each against the incumbent of its moment.

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
        default = history.scenario.space.default
        rejected = {config for config in history.scenario.initial if config != default}
        cohort = Cohort(self.operator, self.comparison, history)
        cohort.renew(default, rejected, lambda _: set())  # for workers that would be idle
        first = first_incumbent(history, self.comparison, "default", cohort.following)
        incumbent = yield from first
        rejected -= {incumbent}
        if incumbent != default:
            cohort.restart(incumbent)
        while True:
            cohort.renew(incumbent, rejected, partial(self._final, history, incumbent))
            if not cohort:
                final = self._final(history, incumbent, rejected)
                if len(final) == len(rejected):
                    return why_ended(history)
                rejected = final
                continue
            challenger, won = yield from cohort.next_race()
            if won:
                rejected = self._final(history, challenger, rejected) | {incumbent}
                incumbent = challenger
                cohort.restart(incumbent)
                yield Incumbent(incumbent)
            else:
                rejected.add(challenger)

    def _final(
        self, history: History, incumbent: Config, rejected: Iterable[Config]
    ) -> set[Config]:
        """Those of the rejected whose race with the incumbent could not end otherwise."""
        return {c for c in rejected if self.comparison.is_final(history, c, incumbent)}
