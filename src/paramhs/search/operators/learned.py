"""An operator that learns: the plain law as a safety net, and proposals of a model above it."""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from paramhs.search.operators.moves import Move, Operator, Seen, draw_from, mixed, successively
from paramhs.search.operators.several import Several
from paramhs.values.errors import BadInput
from paramhs.values.space import Config, Space

if TYPE_CHECKING:
    from paramhs.search.history import History

_LISTABLE = 200  # configurations up to which the law of guided moves is written out
_REDRAWS = 20  # proposals in a row that may be excluded before the law is written out, or plain


Guess = Callable[[Sequence[Config]], Sequence[float]]
"""What is thought of configurations: a number each, always the same; lower is better."""


@dataclass(frozen=True)
class Guided:
    """With probability `epsilon` a plain move, else the best of many plain moves under a guess.

    Each time one of the guesses is taken at random; `rounds` times, the best of so many moves from
    where one is replaces it if it is thought to be better (and in the first round in any case).
    No move is ever less likely than `epsilon` times its plain probability.
    """

    plain: Operator
    guesses: tuple[Guess, ...]
    epsilon: float
    tries: int
    rounds: int = 1

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law; for spaces that can be written out."""
        plain = self.plain.distribution(space, at, excluded)
        return mixed(plain, self._guided_law(space, at, excluded), self.epsilon)

    def _guided_law(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> dict[Move, Fraction]:
        total: dict[Move, Fraction] = {}
        for guess in self.guesses:
            for config, p in self._climbed_law(space, at, guess).items():
                if config != at and config not in excluded:
                    total[(config,)] = total.get((config,), Fraction(0)) + p
        mass = sum(total.values(), Fraction(0))
        return {move: p / mass for move, p in total.items()}

    def _climbed_law(self, space: Space, at: Config, guess: Guess) -> dict[Config, Fraction]:
        law = self._best_law(space, at, guess)
        for _ in range(self.rounds - 1):
            then: dict[Config, Fraction] = {}
            for config, p in law.items():
                for better, q in self._best_law(space, config, guess).items():
                    to = better if guess((better,))[0] < guess((config,))[0] else config
                    then[to] = then.get(to, Fraction(0)) + p * q
            law = then
        return law

    def _best_law(self, space: Space, at: Config, guess: Guess) -> dict[Config, Fraction]:
        """Of the best of `tries` plain moves; of equally good ones the first drawn."""
        plain = self.plain.distribution(space, at)
        configs = [config for (config,) in plain]
        groups: dict[float, list[Config]] = {}
        for config, value in zip(configs, guess(configs) if configs else (), strict=True):
            groups.setdefault(value, []).append(config)
        law: dict[Config, Fraction] = {}
        no_better = Fraction(1)
        for value in sorted(groups):
            here = sum((plain[(c,)] for c in groups[value]), Fraction(0))
            chance = no_better**self.tries - (no_better - here) ** self.tries
            no_better -= here
            for config in groups[value]:
                law[config] = chance * plain[(config,)] / here
        return law

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """A draw from the law.

        Where the model keeps proposing what is excluded, a small space is written out; in a large
        one the move is a plain one.
        """
        if rng.random() < self.epsilon:
            return self.plain.sample(space, at, rng, excluded)
        for _ in range(_REDRAWS):
            config = self._proposed(space, at, rng)
            if config is None:
                break
            if config != at and config not in excluded:
                return (config,)
        if space.combinations <= _LISTABLE:
            law = self._guided_law(space, at, excluded)
            if law:
                return draw_from(law, rng)
        return self.plain.sample(space, at, rng, excluded)

    def _proposed(self, space: Space, at: Config, rng: Random) -> Config | None:
        guess = self.guesses[int(rng.random() * len(self.guesses))]
        best = self._best(space, at, guess, rng)
        for _ in range(self.rounds - 1):
            if best is None:
                return None
            better = self._best(space, best, guess, rng)
            if better is not None and guess((better,))[0] < guess((best,))[0]:
                best = better
        return best

    def _best(self, space: Space, at: Config, guess: Guess, rng: Random) -> Config | None:
        configs: dict[Config, None] = {}
        for _ in range(self.tries):
            for config in self.plain.sample(space, at, rng):
                configs[config] = None
        if not configs:
            return None
        listed = list(configs)
        values = guess(listed)
        return listed[min(range(len(listed)), key=values.__getitem__)]

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Successive draws of what has not been drawn yet."""
        return successively(partial(self.sample, space, at, rng), excluded)


@dataclass(frozen=True)
class Learned:
    """Harmonic moves, mostly the one that a model of all runs thinks best of many.

    The model is that of `learning.effects`: main effects, from which coefficients are drawn
    (Thompson's way of weighing what is known against what is not). It is fitted anew at every new
    incumbent and whenever the runs have grown by a `growth`th since.

    Source: the general scheme (Algorithm 4) of Hall, Oliveto, Sudholt, whose operators may depend
    on the history of evaluations; the model is our own.
    """

    plain: Operator = Several()
    epsilon: float = 0.25
    tries: int = 100
    rounds: int = 1
    draws: int = 8
    spread: float = 0.5
    growth: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.epsilon <= 1:
            raise BadInput(f"epsilon must be above 0 and at most 1, not {self.epsilon}")

    def given(self, history: "History") -> Operator:
        """The plain operator while nothing is known, then one that is guided."""
        from paramhs.search.learning.effects import fitted  # numpy, only where it is needed

        model = fitted(history)
        if model is None:
            return self.plain
        rng = history.rng("effects", len(history.runs))
        guesses = tuple(model.guess(model.drawn(rng, self.spread)) for _ in range(self.draws))
        return Guided(self.plain, guesses, self.epsilon, self.tries, self.rounds)

    def is_due(self, history: "History", seen: Seen) -> bool:
        """Whether there are so many more runs than at the last look."""
        return len(history.runs) * self.growth > seen.runs * (self.growth + 1)
