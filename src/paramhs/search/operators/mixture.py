"""The safety net of a learning search: plain moves mixed with those of a guide."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from paramhs.core.errors import BadInput
from paramhs.core.space import Config, Space
from paramhs.search.operators.operator import Guide, Move, Operator, mixed


@dataclass(frozen=True)
class Mixture(Operator):
    """With probability `epsilon` a plain move, else a move of the guide.

    No move is less likely than `epsilon` times its plain probability, whatever the guide does, so a
    bound on the expected time of the plain operator holds up to a factor of 1 / `epsilon`. Where
    one of the two has no move, the other one moves.

    Args:
        plain: Operator of which a share is guaranteed.
        guide: Source of all other moves. An operator too, or a guide without a known law.
        epsilon: Probability of a plain move.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import Mixture, SeveralParameters, UniformRandom
        >>> mixture = Mixture(SeveralParameters(), UniformRandom(), 0.25)
        >>> space = Space({"x": range(3)})
        >>> [str(p) for p in mixture.distribution(space, space.default).values()]
        ['1/2', '1/2']
    """

    plain: Operator
    guide: Guide
    epsilon: float

    @property
    def returning(self) -> Sequence[Sequence[Config]]:  # type: ignore[override]
        """Rejected configurations that the guide proposes again."""
        return self.guide.returning

    @property
    def noise_of(self) -> Mapping[str, float]:  # type: ignore[override]
        """Noise of each instance, as estimated by the guide."""
        return self.guide.noise_of

    def guaranteed(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The least probability of each plain move, whatever the guide does.

        Args:
            space: The space.
            at: The configuration to move from.
            excluded: Configurations to leave out.

        Returns:
            A lower bound of the probability of each move; their sum is `epsilon`.
        """
        share = Fraction(self.epsilon)
        plain = self.plain.distribution(space, at, excluded)
        return {move: share * p for move, p in plain.items()}

    def distribution(
        self, space: Space, at: Config, excluded: Container[Config] = ()
    ) -> dict[Move, Fraction]:
        """The exact law, if that of the guide is known."""
        if not isinstance(self.guide, Operator):
            raise BadInput(
                f"the law of {type(self.guide).__name__} is unknown; `guaranteed` has the least"
                " probability of each plain move"
            )
        plain = self.plain.distribution(space, at, excluded)
        guided = self.guide.distribution(space, at, excluded)
        return mixed(plain, guided, self.epsilon) if plain else guided

    def sample(
        self, space: Space, at: Config, rng: Random, excluded: Container[Config] = ()
    ) -> Move:
        """Draw a plain move with probability `epsilon`, else one of the guide."""
        ways = (self.plain, self.guide)
        first, other = ways if rng.random() < self.epsilon else reversed(ways)
        return first.sample(space, at, rng, excluded) or other.sample(space, at, rng, excluded)
