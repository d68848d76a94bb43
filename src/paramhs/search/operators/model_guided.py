"""A learning operator: proposals of a model, with the plain law as a safety net."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from paramhs.core.errors import BadInput
from paramhs.core.random_streams import drawn as in_random_order
from paramhs.core.space import Config, Space
from paramhs.search.model.model import ByNoise, Draw, Guess, Model
from paramhs.search.operators.harmonic_numbers import first_above, harmonic_number
from paramhs.search.operators.mixture import Mixture
from paramhs.search.operators.operator import (
    RUNS_PER_CHALLENGER,
    Guide,
    Learner,
    Move,
)
from paramhs.search.operators.several_parameters import SeveralParameters, changes, quantiles
from paramhs.search.operators.steps import Harmonic, Quantile, Step
from paramhs.search.operators.stratified import Stratified, strata_left
from paramhs.search.operators.uniform_random import UniformRandom

if TYPE_CHECKING:
    from paramhs.search.history import History

_MAX_VALUES = 300  # values of a parameter whose costs are all listed
_REVISITS = 3  # best tried configurations that each draw may revisit
_STEPS = 14_400  # steps drawn for the candidates of a move
_MIN_CANDIDATES = 8  # fewest candidates, even if they take more steps
_REDRAWS = 20  # excluded candidates before there are fewer
_DESIGN_CONFIGS = 10  # configurations in the initial design for a target without noise
_BASE_CONFIGS = 5  # best configurations around which candidates are drawn
_SEVERAL = (2, 4)  # fewest and most parameters that move together in a candidate
_EXACT_GROWTH = 50  # runs for each challenger of a cohort where there is no noise


class _Change(NamedTuple):
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
class Guided(Guide):
    """The best candidate by a draw from a model's posterior, or a tried configuration again.

    Each time one of the draws is chosen at random. Where it knows a cost of each value, candidates
    are changes of the incumbent that seem good: every parameter makes `tries` steps, of which the
    best is its change; m is 1 .. n with probability proportional to 1 / m, where n is the number of
    improving changes (at least one), and the best m changes are made. So a candidate is a move of
    several parameters, `SeveralParameters`, except for which parameters move, and where to. Idle
    ones do not move. Where many parameters move, there are fewer candidates, because each takes as
    many steps.

    Otherwise a third of the candidates is drawn from the whole space, a third changes one parameter
    of one of the best configurations by the draw, and a third changes two to four: several good
    ones, so that the search can leave a valley that is not the deepest.
    """

    plain: SeveralParameters
    draws: tuple[Draw, ...]
    candidates: int = 1
    """Largest number of candidates."""
    tries: int = 1
    """Steps that each parameter tries in a candidate."""
    idle: frozenset[int] = frozenset()
    """Positions of parameters that seem to have no effect."""
    again: float = 0.0
    """Probability that a tried configuration is revisited."""
    returning: tuple[tuple[Config, ...], ...] = ()
    """Lists of configurations to revisit; one is chosen at random, then its first allowed entry."""
    noise_of: Mapping[str, float] = field(default_factory=dict)
    known: frozenset[Config] = frozenset()
    """Configurations that another run would say nothing about; they are no candidates."""

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw candidates and return the best one.

        Where the candidates are all excluded, they are all other configurations if there are few,
        else some of them at random.
        """
        if self.returning and rng.random() < self.again:
            chosen = self.returning[int(rng.random() * len(self.returning))]
            back = _first(chosen, at, excluded)
            if back:
                return back
        if self.idle.issuperset(at.movable):
            return ()
        draw = next(in_random_order(self.draws, rng)) if len(self.draws) > 1 else self.draws[0]
        if draw.guess:
            found = self._near_incumbent(draw.guess, space, at, rng, excluded)
        else:
            found = self._near_best(draw.best, space, at, rng, excluded)
        if not found:
            left = islice(space.draws(rng), self.candidates) if space.few is None else space.few
            found = [c for c in left if self._is_new(c, at, excluded)]
        return _best(draw, found) if found else ()

    def _is_new(self, config: Config, at: Config, excluded: Container[Config]) -> bool:
        return config not in self.known and config not in excluded and config != at

    def _near_best(
        self,
        best: Sequence[Config],
        space: Space,
        at: Config,
        rng: Random,
        excluded: Container[Config],
    ) -> list[Config]:
        """Changes of the best configurations, and any configurations."""
        drawn = islice(self._scattered(best[:_BASE_CONFIGS], space, rng), 3 * self.candidates)
        allowed = (c for c in drawn if c is not None and self._is_new(c, at, excluded))
        return list(islice(allowed, self.candidates))

    def _scattered(
        self, bases: Sequence[Config], space: Space, rng: Random
    ) -> Iterator[Config | None]:
        """Yield candidates without end, None where one is forbidden."""
        near = [(base, quantiles(self.plain.step, base)) for base in bases if base.movable]
        least, most = _SEVERAL
        while True:
            kind = rng.random() * 3 if near else 0.0
            if kind < 1:
                yield next(space.draws(rng, 1), None)
                continue
            base, movable = near[int(rng.random() * len(near))]
            count = 1 if kind < 2 else least + int(rng.random() * (most - least + 1))
            yield space.moved(base, changes(movable, min(count, len(movable)), rng))

    def _near_incumbent(
        self, guess: Guess, space: Space, at: Config, rng: Random, excluded: Container[Config]
    ) -> list[Config]:
        """Changes that seem good, as many as affordable if not too many draws are excluded."""
        affordable = _STEPS // max(self.tries * len(at.movable), 1)
        wanted = min(self.candidates, max(affordable, _MIN_CANDIDATES))
        lines = self._lines(guess, space, at)
        drawn = (self._proposed(lines, space, at, rng) for _ in range(wanted - 1 + _REDRAWS))
        allowed = (c for c in drawn if c is not None and c not in excluded)
        return list(islice(allowed, wanted))

    def _lines(self, guess: Guess, space: Space, at: Config) -> list[_Line]:
        """For each movable parameter, how to draw a step, and the cost of each value."""
        lines = []
        for position, quantile in quantiles(self.plain.step, at):
            if position not in self.idle:
                levels, now = space.listed[position].levels, at.indices[position]
                cost = partial(guess, position)
                listed = [cost(i) for i in range(levels)] if levels <= _MAX_VALUES else None
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
            changes.append(_Change(best - now, position, to))
        changes.sort()
        most = _for_the_better(changes)
        m = first_above(draw() * harmonic_number(most), most)
        return _changed(space, at, changes[:m])


def _first(configs: Iterable[Config], at: Config, excluded: Container[Config]) -> Move:
    return next(((c,) for c in configs if c != at and c not in excluded), ())


def _best(draw: Draw, found: Sequence[Config]) -> Move:
    """Best candidate by a draw; the first wins ties."""
    costs = draw.score(found)
    return (found[costs.index(min(costs))],)


def _for_the_better(changes: list[_Change]) -> int:
    return max(1, sum(change.cost < 0 for change in changes))


def _changed(space: Space, at: Config, changes: list[_Change]) -> Config | None:
    return space.moved(at, [(change.position, change.to) for change in changes])


@dataclass(frozen=True)
class Learned(Learner):
    """Harmonic moves of several parameters, mostly those that a model of all runs favours.

    While little is known there is an initial design, mostly of random configurations. Then the
    guide (`Guided`) follows draws from a model's posterior (Thompson sampling balances exploration
    and exploitation). The model is refitted at every new incumbent and whenever the runs have grown
    by one part in `growth`. Parameters in a change that made no difference at all are idle: only
    plain moves change them. A rejected configuration is revisited now and then if it looks best of
    all by a draw that includes its own runs, because few runs reject many by chance.

    A deterministic target with a single instance has no noise, and one run says all. There the
    initial design is stratified, ten configurations; the model is a Gaussian process, fitted anew
    whenever the runs have grown by a fiftieth; and the move is the best of the candidates by
    expected improvement.

    Args:
        step: How an ordered parameter moves.
        epsilon: Probability of a plain move, and so the guaranteed share of its law.
        tries: Steps that each parameter tries in a proposal.
        draws: Draws from the posterior for a cohort.
        growth: A cohort has one challenger for this number of runs so far.
        again: Probability that a guided proposal is a rejected configuration.
        candidates: Largest number of candidates of a proposal.
        model: Model of costs.

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
    growth: int = RUNS_PER_CHALLENGER
    again: float = 0.2
    candidates: int = 128
    model: Model = ByNoise()

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 1:
            raise BadInput(f"epsilon must be above 0 and at most 1, not {self.epsilon}")
        if not 0 <= self.again <= 1:
            raise BadInput(f"again must be between 0 and 1, not {self.again}")
        counts = {
            "tries": self.tries,
            "draws": self.draws,
            "growth": self.growth,
            "candidates": self.candidates,
        }
        for name, value in counts.items():
            if type(value) is not int or value < 1:
                raise BadInput(f"{name} must be a whole number from 1 on, not {value!r}")

    def given(self, history: "History") -> Mixture:
        """Return an initial design while little is known, then moves guided by the model."""
        plain = SeveralParameters(self.step)
        guide = self._exact(history, plain) if _is_exact(history) else self._noisy(history, plain)
        return Mixture(plain, guide, self.epsilon)

    def _exact(self, history: "History", plain: SeveralParameters) -> Guide:
        """Guide for a target without noise, where one run determines a configuration's cost."""
        from paramhs.search.model.dataset import dataset  # numpy only where it is needed

        if len(history.configs) < _DESIGN_CONFIGS:
            return Stratified(strata_left(history.scenario.space, history.configs, _DESIGN_CONFIGS))
        fitted = self.model.fit(dataset(history))
        draws = fitted.draws(self.draws, history.rng("effects", history.learned))
        known = frozenset(history.configs)
        return Guided(plain, tuple(draws), self.candidates, known=known)

    def _noisy(self, history: "History", plain: SeveralParameters) -> Guide:
        """Guide for a target with noise or several instances."""
        from paramhs.search.model.dataset import dataset
        from paramhs.search.model.inert_parameters import idle, ties

        data = dataset(history)
        if not data.is_enough:
            return UniformRandom()
        fitted = self.model.fit(data)
        draws = fitted.draws(self.draws, history.rng("effects", history.learned))
        tied = ties(history)
        same = {race.challenger for race in tied}
        returning = (islice((c for c in draw.best if c not in same), _REVISITS) for draw in draws)
        return Guided(
            plain,
            tuple(draws),
            self.candidates,
            self.tries,
            idle(history, tied),
            self.again,
            tuple(map(tuple, returning)),
            fitted.noise_of,
        )

    def cohort(self, history: "History") -> int:
        """All of the initial design, then one challenger for each `growth` runs so far."""
        if _is_exact(history):
            return max(1, history.learned // _EXACT_GROWTH)
        from paramhs.search.model.dataset import configs_needed

        design = configs_needed(history.scenario.space) - len(history.configs)
        return max(1, design, history.learned // self.growth)


def _is_exact(history: "History") -> bool:
    """Whether one run determines a configuration's cost."""
    return history.pair_count == 1
