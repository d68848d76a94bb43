"""Operators that move one parameter: those of the paper."""

from bisect import bisect_right
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, islice
from random import Random

from paramhs.core.space import Config, Parameter, Space
from paramhs.search.operators.operator import REDRAWS, ByOutcomes, Move, without_replacement
from paramhs.search.operators.steps import Harmonic, Step, Uniform, law

ANY_OTHER = Uniform()


def step_of(parameter: Parameter, step: Step) -> Step:
    """Step of a parameter; all other categories are equally likely, having no distance."""
    return step if parameter.ordered else ANY_OTHER


@dataclass(frozen=True)
class OneParameter(ByOutcomes):
    """Move one parameter, uniform among the active ones with at least two values, by a step.

    Args:
        step: How an ordered parameter moves.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import OneParameter
        >>> space = Space({"x": range(3), "y": range(3)})
        >>> len(OneParameter().distribution(space, space.default))
        4

    Source: Hall, Oliveto, Sudholt (PPSN 2020), Section 3.
    """

    step: Step = Harmonic()

    def outcomes(
        self, space: Space, at: Config, excluded: Container[Config]
    ) -> Iterator[tuple[Move, Fraction]]:
        """Steps of each movable parameter in turn."""
        for position in at.movable:
            parameter = space.listed[position]
            step = step_of(parameter, self.step)
            for to, probability in law(step, parameter.levels, at.indices[position]).items():
                config = _acceptable(space, at, position, to, excluded)
                if config is not None:
                    yield (config,), probability / len(at.movable)

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw from the law, again while forbidden, then from a list of what is left."""
        movable = at.movable
        if not movable:
            return ()
        listed, indices = space.listed, at.indices
        for _ in range(REDRAWS):
            position = movable[int(rng.random() * len(movable))]
            parameter = listed[position]
            step = self.step if parameter.ordered else ANY_OTHER
            to = step.quantile(parameter.levels, indices[position])(rng.random())
            config = space.moved(at, ((position, to),))
            if config is not None and config not in excluded:
                return (config,)
        return tuple(islice(self._in_turn(space, at, rng, excluded, [1.0] * len(movable)), 1))

    def order(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Iterator[Config]:
        """Yield all neighbours within the step's reach, drawn successively by the step's weights.

        Every neighbour has its weight, whichever parameter it moves; two categories are at distance
        1.
        """
        shares = [self._mass(space, at, position) for position in at.movable]
        return self._in_turn(space, at, rng, excluded, shares)

    def _mass(self, space: Space, at: Config, position: int) -> float:
        parameter = space.listed[position]
        return step_of(parameter, self.step).mass(parameter.levels, at.indices[position])

    def _in_turn(
        self,
        space: Space,
        at: Config,
        rng: Random,
        excluded: Container[Config],
        shares: list[float],
    ) -> Iterator[Config]:
        """Yield neighbours without replacement, with these weights of the parameters."""
        if not shares:
            return
        sums = list(accumulate(shares))
        movable = at.movable

        def draw() -> tuple[int, int]:
            position = movable[min(bisect_right(sums, rng.random() * sums[-1]), len(movable) - 1)]
            parameter = space.listed[position]
            step = step_of(parameter, self.step)
            return position, step.quantile(parameter.levels, at.indices[position])(rng.random())

        def rest(seen: Collection[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], float]]:
            for position, share in zip(movable, shares, strict=True):
                parameter, here = space.listed[position], at.indices[position]
                step = step_of(parameter, self.step)
                scale = share / step.mass(parameter.levels, here)
                for to in step.reach(parameter.levels, here):
                    if to != here and (position, to) not in seen:
                        yield (position, to), float(step.weight(abs(to - here))) * scale

        for position, to in without_replacement(draw, rest, rng):
            config = _acceptable(space, at, position, to, excluded)
            if config is not None:
                yield config


def _acceptable(
    space: Space, at: Config, position: int, to: int, excluded: Container[Config]
) -> Config | None:
    config = space.moved(at, ((position, to),))
    return None if config is None or config in excluded else config
