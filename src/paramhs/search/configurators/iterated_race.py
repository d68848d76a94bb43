"""Iterated racing: many candidates run on more and more pairs, and the worst drop out."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, count, islice, takewhile
from math import log2
from typing import Literal

from paramhs.core.costs import Score, score
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import drawn
from paramhs.core.runs import Evaluate, Incumbent, Pair, Run, Search, Task
from paramhs.core.space import Config
from paramhs.search.configurators.configurator import Configurator, check_operator, why_ended
from paramhs.search.configurators.iterated_race_tests import Elimination, Friedman, PairedT
from paramhs.search.history import History
from paramhs.search.operators import Operator, SeveralParameters, UniformRandom, given
from paramhs.search.peekable import Peekable

_ADDED_RUNS = 5  # runs added per candidate, one in each of the first races
_OFFSPRING = 4  # candidates per possible survivor, from the third race

Racing = Generator[Evaluate | Incumbent, Sequence[Run], None]


@dataclass(frozen=True)
class IteratedRace(Configurator):
    """Race elites and newcomers; the survivors breed the newcomers of the next race.

    All candidates run on the same pairs. After `first_test` pairs, and then after each, candidates
    that the `test` finds worse than the best at this `confidence` are eliminated, but never the one
    with the best mean. A race ends when at most `survivors` are left, when its allowance of runs is
    spent or when there are no more pairs. The best by their means are the elites of the next race;
    the first of them is the incumbent.

    Elites keep their runs. A race begins with a new pair, followed by those of the elites in an
    order drawn for this race, then new ones. An elite cannot be eliminated or overtaken before the
    others have run on all the pairs it brought. So the incumbent never has fewer runs than a
    configuration it beat.

    A newcomer is a move of the operator from an elite, a better one being the likelier parent. No
    eliminated configuration returns until nothing else is left; then first tests come twice as
    late. The allowance of a race is irace's share inverted: `first_test` + min(5, number of the
    race) runs for each candidate, plus the runs that the possible survivors need on all pairs of
    the elites. So a race depends on no budget, and a search can be extended.

    By default, `survivors` is 2 + log2 of the number of parameters, `candidates` twice as many in
    the first race, three times in the second and four times from then on (with a budget of a few
    hundred runs, fewer candidates are better), and the test is "friedman", or "t" where time is the
    cost.

    Args:
        operator: How survivors breed new candidates.
        candidates: Number of candidates in a race. Left out: from the survivors.
        survivors: Number of survivors. Left out: 2 + log2 of the number of parameters.
        first_test: Number of pairs before the first test.
        confidence: Confidence of one test.
        test: Test on ranks or on costs. Left out: "t" where time is the cost.
        max_runs: Most runs of a configuration.

    Examples:
        >>> from paramhs.search import IteratedRace
        >>> IteratedRace(confidence=0.99).first_test
        5

    Source: the elitist irace (Lopez-Ibanez, Dubois-Lacoste, Perez Caceres, Birattari, Stuetzle,
    Operations Research Perspectives 3, 2016). Harmonic moves, which have no scale, replace its
    sampling models, whose spread shrinks from race to race.
    """

    operator: Operator = SeveralParameters()
    candidates: int | None = None
    survivors: int | None = None
    first_test: int = 5
    confidence: float = 0.95
    test: Literal["friedman", "t"] | None = None
    max_runs: int = 2000

    def __post_init__(self) -> None:
        check_operator(self.operator)
        if self.test not in (None, "friedman", "t"):
            raise BadInput(f"test must be 'friedman' or 't', not {self.test!r}")
        if not 0 < self.confidence < 1:
            raise BadInput(f"confidence must lie between 0 and 1, not {self.confidence!r}")
        numbers = (self.survivors or 1, self.candidates or 2, self.first_test, self.max_runs)
        if any(type(number) is not int for number in numbers):
            raise BadInput("IteratedRace needs whole numbers of candidates, survivors and runs")
        if not 2 <= self.first_test <= self.max_runs:
            raise BadInput("IteratedRace needs 2 <= first_test <= max_runs")
        if self.survivors is not None and self.survivors < 1:
            raise BadInput("IteratedRace needs at least 1 survivor")
        if self.candidates is not None and self.candidates <= (self.survivors or 1):
            raise BadInput("IteratedRace needs more candidates than survivors")

    def search(self, history: History) -> Search:
        """Start a search."""
        return _IteratedRace(self, history).search()


class _IteratedRace:
    """State of one search: races, their elites, and eliminated configurations."""

    def __init__(self, rules: IteratedRace, history: History) -> None:
        space = history.scenario.space
        parameters = sum(parameter.levels > 1 for parameter in space.listed)
        usual = int(2 + log2(max(parameters, 1)))
        self.rules = rules
        self.history = history
        self.space = space
        self.survivors = rules.survivors or min(usual, (rules.candidates or usual + 1) - 1)
        self.test = _test(rules, history)
        self.limit = int(min(rules.max_runs, history.pair_count))
        self.first_test = rules.first_test
        self.elites = [space.default]
        self.incumbent = space.default
        self.left: set[Config] = set()
        self.races = 0

    def search(self) -> Search:
        history, default = self.history, self.space.default
        wanted = min(self.first_test, self.limit) - len(history.costs(default))
        first = islice(history.new_pairs(default), max(wanted, 0))
        yield from history.ask((default, list(first)))
        yield Incumbent(default)
        newcomers = [config for config in history.scenario.initial if config != default]
        newcomers += self._bred(newcomers)
        while newcomers or not self._is_decided():
            if not newcomers:
                self._reopen()
                newcomers = self._bred()
            yield from self._race(newcomers)
            newcomers = self._bred()
        return why_ended(history)

    # Candidates

    def _bred(self, others: Sequence[Config] = ()) -> list[Config]:
        """New candidates that fill the places beside the elites and the others."""
        rng = self.history.rng("breed", self.races)
        operator = given(self.rules.operator, self.history)
        excluded = {*self.elites, *others, *self.left}
        newcomers: list[Config] = []
        room = self.rules.candidates or self.survivors * min(2 + self.races, _OFFSPRING)
        while len(self.elites) + len(others) + len(newcomers) < room:
            parent = self.elites[_by_rank(len(self.elites), rng.random())]
            move = operator.sample(self.space, parent, rng, excluded)
            move = move or UniformRandom().sample(self.space, parent, rng, excluded)
            if not move:
                break
            newcomers += move
            excluded.update(move)
        return newcomers

    def _is_decided(self) -> bool:
        """Whether every candidate has as many runs as allowed."""
        everybody = [*self.elites, *self.left]
        costs = self.history.costs
        return len(everybody) == 1 or all(len(costs(c)) >= self.limit for c in everybody)

    def _reopen(self) -> None:
        """Allow eliminated configurations again, with later tests, unless they are fully known."""
        self.first_test *= 2
        self.left = {c for c in self.left if len(self.history.costs(c)) >= self.limit}

    # One race

    def _race(self, newcomers: Sequence[Config]) -> Racing:
        history, asked = self.history, self.history.asked
        self.races += 1
        alive = [*self.elites, *newcomers]
        own = {elite: set(history.pairs_of(elite)) for elite in self.elites}
        order = Peekable(self._order(own))
        allowance = self._allowance(len(alive), len(set().union(*own.values())))
        met: list[Pair] = []
        batch = list(islice(order, self.first_test))
        while batch:
            likely = self._likely(alive, order)
            yield from history.ask(*((config, batch) for config in alive), likely=likely)
            met += batch
            leaving = self._worse(alive, met, own)
            alive = [config for config in alive if config not in leaving]
            if self.incumbent in leaving:
                yield from self._announce(self._by_means(alive, met)[0])
            if len(alive) <= self.survivors:
                break
            batch = list(islice(order, 1))
            missing = sum(len(history.missing(config, batch)) for config in alive)
            if history.asked - asked + missing > allowance:
                break
        yield from self._promote(alive, met, own)

    def _allowance(self, candidates: int, known: int) -> int:
        each = self.first_test + min(_ADDED_RUNS, self.races)
        return candidates * each + self.survivors * known

    def _order(self, own: Iterable[Config]) -> Iterator[Pair]:
        """Order of pairs: a new one, those of the elites, more new ones."""
        history = self.history
        known = dict.fromkeys(pair for elite in own for pair in history.pairs_of(elite))
        numbers = takewhile(lambda k: k < history.pair_count, count())
        unknown = (pair for pair in map(history.pair, numbers) if pair not in known)
        new = islice(unknown, max(self.limit - len(known), 0))
        rng = history.rng("race", self.races)
        return chain(islice(new, 1), drawn(list(known), rng), new)

    def _worse(
        self, alive: list[Config], met: Sequence[Pair], own: Mapping[Config, Set[Pair]]
    ) -> set[Config]:
        """Candidates to eliminate: clearly worse, and not protected elites."""
        if len(met) < self.first_test:
            return set()
        costs = [[self.history.costs(config)[pair] for pair in met] for config in alive]
        worse = [alive[i] for i in sorted(self.test.worse(costs))]
        best, spared = self._by_means(alive, met)[0], _unmet(own, met)
        leaving = [config for config in worse if config != best and config not in spared]
        for config in leaving:
            self.history.decide(config, best, False)
        self.left.update(leaving)
        return set(leaving)

    def _by_means(self, configs: Iterable[Config], met: Sequence[Pair]) -> list[Config]:
        """Sort configurations by mean, the best first; ties keep their order."""

        def key(config: Config) -> Score:
            costs = self.history.costs(config)
            return score([costs[pair] for pair in met])

        return sorted(configs, key=key)

    def _promote(
        self, alive: list[Config], met: Sequence[Pair], own: Mapping[Config, Set[Pair]]
    ) -> Generator[Incumbent, Sequence[Run], None]:
        """Promote the best to elites; elites not yet compared on all their pairs stay.

        An incumbent of that kind stays the first.
        """
        unmet = _unmet(own, met)
        ranked = self._by_means(alive, met)
        ranked.sort(key=lambda config: config not in unmet)
        self.left.update(ranked[self.survivors :])
        self.elites = self._by_means(ranked[: self.survivors], met)
        self.elites.sort(key=lambda config: config != self.incumbent or config not in unmet)
        yield from self._announce(self.elites[0])

    def _announce(self, best: Config) -> Generator[Incumbent, Sequence[Run], None]:
        if best != self.incumbent:
            self.history.decide(best, self.incumbent, True)
            self.incumbent = best
            yield Incumbent(best)

    def _likely(self, alive: Sequence[Config], order: Peekable[Pair]) -> Iterator[Task]:
        """The next pairs, if no candidate is eliminated."""
        for pair in order.peek():
            for config in alive:
                yield from self.history.missing(config, [pair])


def _unmet(own: Mapping[Config, Set[Pair]], met: Sequence[Pair]) -> set[Config]:
    """Elites with pairs on which the race has not compared them yet."""
    return {config for config, pairs in own.items() if not pairs <= set(met)}


def _test(rules: IteratedRace, history: History) -> Elimination:
    timed = history.scenario.cost.needs_runtime
    kind = rules.test or ("t" if timed else "friedman")
    return PairedT(rules.confidence) if kind == "t" else Friedman(rules.confidence)


def _by_rank(many: int, u: float) -> int:
    """Position drawn with probability proportional to many, many - 1, ..., 1."""
    weight = u * many * (many + 1) / 2
    for position in range(many):
        weight -= many - position
        if weight < 0:
            return position
    return many - 1
