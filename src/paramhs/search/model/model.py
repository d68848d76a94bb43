"""The seam between a learning search and its model of costs.

A search has one *dataset* (`model.dataset`): all its runs, with the noise of each instance. A model
is fitted to it, and the result is asked for *draws*: cost functions that may be the true one. Each
proposal of the search follows one draw, so that what is uncertain is tried now and then (Thompson
sampling). A model that has an acquisition function of its own gives that instead of draws.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from random import Random
from typing import TYPE_CHECKING

from paramhs.core.errors import BadInput
from paramhs.core.space import Config

if TYPE_CHECKING:
    from paramhs.search.model.dataset import Dataset

Score = Callable[[Sequence[Config]], list[float]]
"""Score of each configuration; lower is better. Finite, and rounded to what is significant."""
Guess = Callable[[int, int], float]
"""Cost of a value, by the position of its parameter and its index; lower is better."""

NO_NOISE: Mapping[str, float] = {}


@dataclass(frozen=True)
class Draw:
    """A cost function that may be the true one.

    Args:
        score: Score of configurations.
        best: Configurations with runs, the best by this draw first; a few are enough.
        guess: Cost of each value, if the score is about a sum over parameters. Candidates are then
            drawn with values that look good, else they are random changes of good configurations.

    Examples:
        >>> from paramhs import Space
        >>> from paramhs.search import Draw
        >>> space = Space({"x": range(3)})
        >>> draw = Draw(lambda configs: [float(config["x"]) for config in configs], [space.default])
        >>> draw.score([space.default])
        [1.0]
    """

    score: Score
    best: Sequence[Config]
    guess: Guess | None = None


class Posterior(ABC):
    """What a model has learned from a dataset.

    Attributes:
        noise_of: Variance of a run by instance, relative to the average, which tells a race where
            runs say most; empty if it is not known.
    """

    noise_of: Mapping[str, float] = NO_NOISE

    @abstractmethod
    def draws(self, count: int, rng: Random) -> Sequence[Draw]:
        """Cost functions drawn from the posterior.

        Args:
            count: Number of draws wanted; a model whose score is the same each time returns one.
            rng: Source of randomness.

        Returns:
            At least one draw.
        """


class Model(ABC):
    """A model of costs, as `Learned(model=...)` uses it.

    Everything a model decides must follow from the dataset, so that a search can be replayed.
    """

    @abstractmethod
    def fit(self, data: "Dataset") -> Posterior:
        """Learn from a dataset.

        Args:
            data: All runs of the search.

        Returns:
            What was learned.
        """


@dataclass(frozen=True)
class MainEffects(Model):
    """A sum of effects of values, with deviations shared by neighbours (`model.main_effects`).

    Args:
        spread: Factor of the posterior's standard deviations in a draw.

    Examples:
        >>> from paramhs.search import Learned, MainEffects
        >>> Learned(model=MainEffects(spread=0.5)).model.spread
        0.5
    """

    spread: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.spread < inf:
            raise BadInput(f"spread must be a number from 0 on, not {self.spread}")

    def fit(self, data: "Dataset") -> Posterior:
        """Fit effects and deviations, with the variances that make the data most likely."""
        from paramhs.search.model.main_effects import fitted  # numpy only where it is needed

        return fitted(data, self.spread)


@dataclass(frozen=True)
class GaussianProcess(Model):
    """A Gaussian process with a length for each parameter (`model.gaussian_process`).

    Its score is the expected improvement on the best configuration, for targets without noise.

    Examples:
        >>> from paramhs.search import GaussianProcess, Learned
        >>> Learned(model=GaussianProcess()).model
        GaussianProcess()
    """

    def fit(self, data: "Dataset") -> Posterior:
        """Fit the process to all configurations."""
        from paramhs.search.model.gaussian_process import fitted  # numpy only where it is needed

        return fitted(data)


@dataclass(frozen=True)
class ByNoise(Model):
    """`MainEffects` for costs with noise or instances, `GaussianProcess` for those without.

    Examples:
        >>> from paramhs.search import ByNoise, Learned
        >>> Learned().model
        ByNoise()
    """

    def fit(self, data: "Dataset") -> Posterior:
        """Fit the model for this kind of target."""
        return (GaussianProcess() if data.is_exact else MainEffects()).fit(data)
