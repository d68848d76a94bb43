"""An operator that learns: the plain law as a safety net, and proposals of a model above it."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice, product
from math import inf, prod
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.search.operators.initial_design import InitialDesign
from paramhs.search.operators.moves import Move, Operator, Seen, draw_from, mixed, successively
from paramhs.search.operators.one import step_of
from paramhs.search.operators.several import Several, quantiles
from paramhs.search.operators.steps import Harmonic, Quantile, Step, law
from paramhs.values.errors import BadInput
from paramhs.values.seeds import drawn as in_random_order
from paramhs.values.space import Config, Space

if TYPE_CHECKING:
    from paramhs.search.history import History

T = TypeVar("T")
_LISTED = 300  # values of a parameter up to which the costs of all are listed
_LISTABLE = 200  # configurations up to which the law of guided moves is written out
_RETURNING = 3  # of those tried, so many that look best may return, by each draw
_STEPS = 14_400  # that may be drawn for the candidates of a move,
_FEWEST = 8  # unless there are fewer candidates than this
_REDRAWS = 20  # candidates that may be excluded before the law is written out, or the move is plain

Guess = Callable[[int, int], float]
"""What a value costs, by the position of its parameter and its index: lower is better."""
Score = Callable[[Sequence[Config]], list[float]]
"""What configurations cost as a whole."""


class Change(NamedTuple):
    """Another value for a parameter, and by how much it is thought to cost more."""

    cost: float
    position: int
    to: int


class _Line(NamedTuple):
    """A parameter that may move."""

    position: int
    quantile: Quantile
    cost: Callable[[int], float]
    """Of a value, by its index."""
    now: float
    """What the present one costs."""


@dataclass(frozen=True)
class Guided:
    """With probability `epsilon` a plain move, else the m changes that are thought best.

    Each time one of the guesses is taken at random. Every parameter makes `tries` steps, of which
    the best by that guess is its change; m is 1 .. n with probability proportional to 1 / m, where
    n is the number of changes for the better (at least one). So it is the plain move of several
    parameters, `Several`, but for who moves, and where to. The idle stay where they are. Of some
    candidates drawn in this way, the move is the best by a score that belongs to the guess. Where
    many parameters move, there are fewer candidates, since each takes as many steps.

    No move is ever less likely than `epsilon` times its plain probability.
    """

    plain: Several
    guesses: tuple[Guess, ...]
    epsilon: float
    tries: int
    idle: frozenset[int] = frozenset()
    """Positions of parameters that seem to have no effect."""
    again: float = 0.0
    """How often somebody returns who was tried, of the moves that are not plain."""
    returning: tuple[tuple[Config, ...], ...] = ()
    """Lists of those who may, one of which is taken at random: the first of it who can."""
    noise_of: Mapping[str, float] = field(default_factory=dict)
    """What the model says of instances, for those who compare: see `History.noise_of`."""
    scores: tuple[Score, ...] = ()
    """One for each guess; without any there is but one candidate."""
    candidates: int = 1
    """At the most."""

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law; for spaces that can be written out."""
        plain = self.plain.distribution(space, at, excluded)
        back = self._law_of_returning(at, excluded)
        if not plain:
            return _scaled(back) if self.again else {}
        changed = self._law_of_changes(space, at, excluded) or plain
        share = Fraction(self.again) * sum(back.values(), Fraction(0))
        guided = mixed(_scaled(back), changed, share) if share else changed
        return mixed(plain, guided, self.epsilon)

    def _law_of_returning(self, at: Config, excluded: Container[Config]) -> dict[Move, Fraction]:
        """Of the lists, the share in which somebody can return, by who it is."""
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
        """Of the best candidate by one of the guesses."""
        one = self._law_of_one(which, space, at, excluded)
        if not self.scores or not one:
            return one
        costs = self.scores[which]([config for (config,) in one])
        return _law_of_best(one, dict(zip(one, costs, strict=True)), self._wanted(at))

    def _law_of_one(
        self, which: int, space: Space, at: Config, excluded: Container[Config]
    ) -> dict[Move, Fraction]:
        """Of a candidate."""
        total: dict[Move, Fraction] = {}
        for config, p in self._outcomes(space, at, self.guesses[which]):
            if config is not None and config not in excluded:
                total[(config,)] = total.get((config,), Fraction(0)) + p
        return _scaled(total)

    def _wanted(self, at: Config) -> int:
        """How many candidates."""
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
        """Of the best of `tries` steps; of equally good ones the first drawn."""
        parameter, now = space.listed[position], at.indices[position]
        steps = law(step_of(parameter, self.plain.step), parameter.levels, now)
        costs = {index: guess(position, index) for index in steps}
        return {
            Change(costs[index] - guess(position, now), position, index): p
            for index, p in _law_of_best(steps, costs, self.tries).items()
        }

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law.

        Where the model keeps proposing what is excluded, a small space is written out; in a large
        one there are fewer candidates, and if there is none the move is a plain one.
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
                found = _some_of(one, self._wanted(at), rng) if one else []
            if found:
                return (self._best(which, found),)
            if space.combinations > _LISTABLE:
                break
        return self._plain_move(space, at, rng, excluded)

    def _best(self, which: int, found: Sequence[Config]) -> Config:
        """The best candidate; of equally good ones the first."""
        if not self.scores:
            return found[0]
        costs = self.scores[which](found)
        return found[costs.index(min(costs))]

    def _candidates(
        self, which: int, space: Space, at: Config, rng: Random, excluded: Container[Config]
    ) -> list[Config]:
        """As many as there should be, if not too many that are drawn are excluded."""
        wanted = self._wanted(at)
        lines = self._lines(self.guesses[which], space, at)
        drawn = (self._proposed(lines, space, at, rng) for _ in range(wanted - 1 + _REDRAWS))
        allowed = (c for c in drawn if c is not None and c not in excluded)
        return list(islice(allowed, wanted))

    def _plain_move(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config]
    ) -> Move:
        """Where there is none, only those can come who were tried."""
        move = self.plain.sample(space, at, rng, excluded)
        if move or not self.again:
            return move
        back = self._law_of_returning(at, excluded)
        return draw_from(_scaled(back), rng) if back else ()

    def _lines(self, guess: Guess, space: Space, at: Config) -> list[_Line]:
        """Of each parameter that moves, how to draw a step, and what each value costs."""
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

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)


def _law_of_best(
    law: Mapping[T, Fraction], costs: Mapping[T, float], draws: int
) -> dict[T, Fraction]:
    """Of the best of so many draws from a law; of equally good ones the first drawn."""
    groups: dict[float, list[T]] = {}
    for item in law:
        groups.setdefault(costs[item], []).append(item)
    found: dict[T, Fraction] = {}
    no_better = Fraction(1)
    for cost in sorted(groups):
        here = sum((law[item] for item in groups[cost]), Fraction(0))
        chance = no_better**draws - (no_better - here) ** draws
        no_better -= here
        for item in groups[cost]:
            found[item] = chance * law[item] / here
    return found


def _some_of(law: Mapping[Move, Fraction], count: int, rng: Random) -> list[Config]:
    """So many draws from a law of single configurations."""
    weights = [float(p) for p in law.values()]
    return [config for (config,) in rng.choices(list(law), weights, k=count)]


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
class Learned:
    """Harmonic moves of several parameters, mostly those that a model of all runs thinks best.

    While little is known there is an initial design, most of it drawn anywhere. The model is that
    of `learning.effects`: main effects, and what neighbours have in common, from which some are
    drawn (Thompson's way of weighing what is known against what is not). It is fitted anew at every
    new incumbent and whenever the runs have grown by a `growth`th since. What was part of a change
    that made no difference at all is idle: only plain moves change it. Who was rejected returns now
    and then, if it looks best of all by a draw, its own runs included: few runs reject many by
    chance.

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
        """An initial design while little is known, then an operator that is guided."""
        from paramhs.search.learning.effects import fitted  # numpy, only where it is needed
        from paramhs.search.ties import idle, ties

        plain = Several(self.step)
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
            idle(tied),
            self.again,
            tuple(returning),
            model.rows.noise_of,
            tuple(model.score(draw) for draw in draws),
            self.candidates,
        )

    def is_due(self, history: "History", seen: Seen) -> bool:
        """Whether there are so many more runs than at the last look."""
        return history.learned * self.growth > seen.runs * (self.growth + 1)
