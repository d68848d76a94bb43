"""A learning operator: proposals of a model, with the plain law as a safety net."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice, product
from math import inf, prod
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import drawn as in_random_order
from paramhs.core.space import Config, Space
from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.search.operators.improving import Improving
from paramhs.search.operators.initial_design import InitialDesign, Stratified, strata_left
from paramhs.search.operators.one_parameter import step_of
from paramhs.search.operators.operator import (
    Learner,
    Move,
    Operator,
    Seen,
    draw_from,
    law_of_best,
    mixed,
    some_of,
)
from paramhs.search.operators.several_parameters import SeveralParameters, quantiles
from paramhs.search.operators.steps import Harmonic, Quantile, Step, law

if TYPE_CHECKING:
    from paramhs.search.history import History

T = TypeVar("T")
_LISTED = 300  # values of a parameter whose costs are all listed
_LISTABLE = 200  # configurations for which the law of guided moves is enumerated
_RETURNING = 3  # best tried configurations that each draw may revisit
_STEPS = 14_400  # steps drawn for the candidates of a move
_FEWEST = 8  # fewest candidates, even if they take more steps
_DESIGN = 10  # configurations in the initial design for a target without noise
_BASES = 5  # best configurations around which candidates are drawn there
_EXACT_GROWTH = 50  # that model is refitted when the runs have grown by one part in this
_REDRAWS = 20  # excluded candidates before the law is enumerated or the move is plain

Guess = Callable[[int, int], float]
"""Cost of a value, by the position of its parameter and its index; lower is better."""
Score = Callable[[Sequence[Config]], list[float]]
"""Costs of whole configurations."""


class Change(NamedTuple):
    """Another value of a parameter, with the expected change of the cost."""

    cost: float
    position: int
    to: int


class _Line(NamedTuple):
    """A parameter that may move."""

    position: int
    quantile: Quantile
    cost: Callable[[int], float]
    """Cost of a value, by its index."""
    now: float
    """Cost of the present value."""


@dataclass(frozen=True)
class Guided(Operator):
    """With probability `epsilon` a plain move, else the changes that seem best.

    Each time one of the guesses is chosen at random. Every parameter makes `tries` steps, of which
    the best by that guess is its change; m is 1 .. n with probability proportional to 1 / m, where
    n is the number of improving changes (at least one), and the best m changes are made. So it is
    the plain move of several parameters, `SeveralParameters`, except for which parameters move, and
    where to. Idle ones do not move. Of some candidates drawn in this way, the move is the best by a
    score that belongs to the guess. Where many parameters move, there are fewer candidates, because
    each takes as many steps.

    No move is ever less likely than `epsilon` times its plain probability.
    """

    plain: SeveralParameters
    guesses: tuple[Guess, ...]
    epsilon: float
    tries: int
    idle: frozenset[int] = frozenset()
    """Positions of parameters that seem to have no effect."""
    again: float = 0.0
    """Probability that a move which is not plain revisits a tried configuration."""
    returning: tuple[tuple[Config, ...], ...] = ()
    """Lists of configurations to revisit; one is chosen at random, then its first allowed entry."""
    noise_of: Mapping[str, float] = field(default_factory=dict)
    """What the model says of instances, for those who compare: see `History.noise_of`."""
    scores: tuple[Score, ...] = ()
    """One score for each guess; without scores there is a single candidate."""
    candidates: int = 1
    """Largest number of candidates."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """Exact law, for spaces that can be enumerated."""
        plain = self.plain.distribution(space, at, excluded)
        back = self._law_of_returning(at, excluded)
        if not plain:
            return _scaled(back) if self.again else {}
        changed = self._law_of_changes(space, at, excluded) or plain
        share = Fraction(self.again) * sum(back.values(), Fraction(0))
        guided = mixed(_scaled(back), changed, share) if share else changed
        return mixed(plain, guided, self.epsilon)

    def _law_of_returning(self, at: Config, excluded: Container[Config]) -> dict[Move, Fraction]:
        """Law of revisited configurations: the share of lists in which each comes first."""
        law: dict[Move, Fraction] = {}
        for some in self.returning:
            move = _first(some, at, excluded)
            if move:
                law[move] = law.get(move, Fraction(0)) + Fraction(1, len(self.returning))
        return law

    def _law_of_changes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> dict[Move, Fraction]:
        total: dict[Move, Fraction] = {}
        for which in range(len(self.guesses)):
            for move, p in self._law_by(which, space, at, excluded).items():
                total[move] = total.get(move, Fraction(0)) + p
        return _scaled(total)

    def _law_by(
        self, which: int, space: Space, at: Config, excluded: Container[Config]
    ) -> dict[Move, Fraction]:
        """Law of the best candidate by one of the guesses."""
        one = self._law_of_one(which, space, at, excluded)
        if not self.scores or not one:
            return one
        costs = self.scores[which]([config for (config,) in one])
        return law_of_best(one, dict(zip(one, costs, strict=True)), self._wanted(at))

    def _law_of_one(
        self, which: int, space: Space, at: Config, excluded: Container[Config]
    ) -> dict[Move, Fraction]:
        """Law of a single candidate."""
        total: dict[Move, Fraction] = {}
        for config, p in self._outcomes(space, at, self.guesses[which]):
            if config is not None and config not in excluded:
                total[(config,)] = total.get((config,), Fraction(0)) + p
        return _scaled(total)

    def _wanted(self, at: Config) -> int:
        """Number of candidates to draw."""
        if not self.scores:
            return 1
        affordable = _STEPS // max(self.tries * len(at.movable), 1)
        return min(self.candidates, max(affordable, _FEWEST))

    def _outcomes(
        self, space: Space, at: Config, guess: Guess
    ) -> Iterator[tuple[Config | None, Fraction]]:
        moving = [position for position in at.movable if position not in self.idle]
        laws = [self._change_law(space, at, position, guess).items() for position in moving]
        for drawn in product(*laws) if laws else ():
            changes = sorted(change for change, _ in drawn)
            most = _for_the_better(changes)
            total = sum((Fraction(1, m) for m in range(1, most + 1)), Fraction(0))
            chance = prod((p for _, p in drawn), start=Fraction(1)) / total
            for m in range(1, most + 1):
                yield _changed(space, at, changes[:m]), chance / m

    def _change_law(
        self, space: Space, at: Config, position: int, guess: Guess
    ) -> dict[Change, Fraction]:
        """Law of the best of `tries` steps; the first drawn wins ties."""
        parameter, now = space.listed[position], at.indices[position]
        steps = law(step_of(parameter, self.plain.step), parameter.levels, now)
        costs = {index: guess(position, index) for index in steps}
        return {
            Change(costs[index] - guess(position, now), position, index): p
            for index, p in law_of_best(steps, costs, self.tries).items()
        }

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law.

        Where the model keeps proposing excluded configurations, a small space is enumerated; in a
        large one there are fewer candidates, and without any the move is a plain one.
        """
        if rng.random() < self.epsilon:
            return self._plain_move(space, at, rng, excluded)
        if self.returning and rng.random() < self.again:
            chosen = self.returning[int(rng.random() * len(self.returning))]
            back = _first(chosen, at, excluded)
            if back:
                return back
        if self.idle.issuperset(at.movable):
            return self._plain_move(space, at, rng, excluded)
        for which in in_random_order(range(len(self.guesses)), rng):
            found = self._candidates(which, space, at, rng, excluded)
            if len(found) < self._wanted(at) and space.combinations <= _LISTABLE:
                one = self._law_of_one(which, space, at, excluded)
                found = some_of(one, self._wanted(at), rng) if one else []
            if found:
                return (self._best(which, found),)
            if space.combinations > _LISTABLE:
                break
        return self._plain_move(space, at, rng, excluded)

    def _best(self, which: int, found: Sequence[Config]) -> Config:
        """Best candidate; the first drawn wins ties."""
        if not self.scores:
            return found[0]
        costs = self.scores[which](found)
        return found[costs.index(min(costs))]

    def _candidates(
        self, which: int, space: Space, at: Config, rng: Random, excluded: Container[Config]
    ) -> list[Config]:
        """Draw candidates, as many as wanted if not too many draws are excluded."""
        wanted = self._wanted(at)
        lines = self._lines(self.guesses[which], space, at)
        drawn = (self._proposed(lines, space, at, rng) for _ in range(wanted - 1 + _REDRAWS))
        allowed = (c for c in drawn if c is not None and c not in excluded)
        return list(islice(allowed, wanted))

    def _plain_move(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config]
    ) -> Move:
        """Plain move; where there is none, only tried configurations can come."""
        move = self.plain.sample(space, at, rng, excluded)
        if move or not self.again:
            return move
        back = self._law_of_returning(at, excluded)
        return draw_from(_scaled(back), rng) if back else ()

    def _lines(self, guess: Guess, space: Space, at: Config) -> list[_Line]:
        """For each movable parameter, how to draw a step, and the cost of each value."""
        lines = []
        for position, quantile in quantiles(self.plain.step, at):
            if position not in self.idle:
                levels, now = space.listed[position].levels, at.indices[position]
                cost = partial(guess, position)
                listed = [cost(i) for i in range(levels)] if levels <= _LISTED else None
                of = cost if listed is None else listed.__getitem__
                lines.append(_Line(position, quantile, of, of(now)))
        return lines

    def _proposed(
        self, lines: Sequence[_Line], space: Space, at: Config, rng: Random
    ) -> Config | None:
        draw = rng.random
        changes = []
        for position, quantile, cost, now in lines:
            to = quantile(draw())
            best = cost(to)
            for _ in range(self.tries - 1):
                other = quantile(draw())
                if cost(other) < best:
                    to, best = other, cost(other)
            changes.append(Change(best - now, position, to))
        changes.sort()
        most = _for_the_better(changes)
        m = first_above(draw() * harmonic_number(most), most)
        return _changed(space, at, changes[:m])


def _scaled(law: dict[Move, Fraction]) -> dict[Move, Fraction]:
    mass = sum(law.values(), Fraction(0))
    return {move: p / mass for move, p in law.items()}


def _first(configs: Iterable[Config], at: Config, excluded: Container[Config]) -> Move:
    return next(((c,) for c in configs if c != at and c not in excluded), ())


def _for_the_better(changes: list[Change]) -> int:
    return max(1, sum(change.cost < 0 for change in changes))


def _changed(space: Space, at: Config, changes: list[Change]) -> Config | None:
    return space.moved(at, [(change.position, change.to) for change in changes])


@dataclass(frozen=True)
class Learned(Learner):
    """Harmonic moves of several parameters, mostly those that a model of all runs favours.

    While little is known there is an initial design, mostly of random configurations. The model, of
    `model.main_effects`, consists of main effects and deviations shared by neighbours, of which
    some are drawn (Thompson sampling balances exploration and exploitation). It is refitted at
    every new incumbent and whenever the runs have grown by one part in `growth`. Parameters in a
    change that made no difference at all are idle: only plain moves change them. A rejected
    configuration is revisited now and then if it looks best of all by a draw that includes its own
    runs, because few runs reject many by chance.

    A deterministic target with a single instance has no noise, and one run says all. There the
    initial design is stratified, ten configurations; the model is a Gaussian process
    (`model.exact_costs`), fitted anew whenever the runs have grown by a fiftieth; and the move is
    the best of the candidates by expected improvement, drawn around the five best configurations
    and anywhere (`Improving`).

    Args:
        step: How an ordered parameter moves.
        epsilon: Probability of a plain move, and so the guaranteed share of its law.
        tries: Steps that each parameter tries in a proposal.
        draws: Draws from the posterior between two refits.
        spread: Factor of the posterior's standard deviations in a draw.
        growth: The model is fitted anew when the runs have grown by one part in this number.
        again: Probability that a guided proposal is a rejected configuration.
        candidates: Largest number of candidates of a proposal.

    Examples:
        >>> from paramhs.search import Learned, ParamHS
        >>> ParamHS(Learned(epsilon=0.5)).operator.epsilon
        0.5

    Source: the general scheme (Algorithm 4) of Hall, Oliveto, Sudholt, whose operators may depend
    on the history of evaluations; the model is our own.
    """

    step: Step = Harmonic()
    epsilon: float = 0.25
    tries: int = 3
    draws: int = 16
    spread: float = 1.0
    growth: int = 10
    again: float = 0.2
    candidates: int = 128

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 1:
            raise BadInput(f"epsilon must be above 0 and at most 1, not {self.epsilon}")
        if not 0 <= self.again <= 1:
            raise BadInput(f"again must be between 0 and 1, not {self.again}")
        if not 0 <= self.spread < inf:
            raise BadInput(f"spread must be a number from 0 on, not {self.spread}")
        for name in ("tries", "draws", "growth", "candidates"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise BadInput(f"{name} must be a whole number from 1 on, not {value!r}")

    def given(self, history: "History") -> Operator:
        """Return an initial design while little is known, then a guided operator."""
        from paramhs.search.model.inert_parameters import idle, ties
        from paramhs.search.model.main_effects import fitted  # numpy only where it is needed

        plain = SeveralParameters(self.step)
        if history.pair_count == 1:
            return self._exact(history, plain)
        model = fitted(history)
        if model is None:
            return InitialDesign(plain, self.epsilon)
        rng = history.rng("effects", history.learned)
        draws = model.drawn(self.draws, rng, self.spread)
        tied = ties(history)
        same = {race.challenger for race in tied}
        tried = model.rows.configs
        returning = []
        for draw in draws:
            best = (tried[i] for i in draw.costs.argsort(kind="stable"))
            returning.append(tuple(islice((c for c in best if c not in same), _RETURNING)))
        return Guided(
            plain,
            tuple(model.guess(draw.effects) for draw in draws),
            self.epsilon,
            self.tries,
            idle(history, tied),
            self.again,
            tuple(returning),
            model.rows.noise_of,
            tuple(model.score(draw) for draw in draws),
            self.candidates,
        )

    def _exact(self, history: "History", plain: SeveralParameters) -> Operator:
        """The operator for a target of which one run says all about a configuration."""
        from paramhs.search.model.exact_costs import fitted

        if len(history.configs) < _DESIGN:
            strata = strata_left(history.scenario.space, history.configs, _DESIGN)
            return InitialDesign(plain, self.epsilon, Stratified(strata))
        model = fitted(history)
        bases = tuple(model.best[:_BASES])
        return Improving(plain, self.epsilon, bases, model.gains, self.candidates)

    def is_due(self, history: "History", seen: Seen) -> bool:
        """Whether the number of runs has grown enough since the last refit."""
        if history.pair_count == 1:
            return history.learned * _EXACT_GROWTH > seen.runs * (_EXACT_GROWTH + 1)
        return history.learned * self.growth > seen.runs * (self.growth + 1)
