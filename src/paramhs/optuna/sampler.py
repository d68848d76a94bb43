"""A sampler for Optuna's studies that draws its trials from the proposals of paramhs."""

import math
from collections.abc import Mapping, Sequence
from random import Random
from threading import RLock
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from paramhs.core.arguments import seed_of
from paramhs.core.runs import NO_INSTANCE, Run, Status, Task
from paramhs.core.scenario import FIXED_SEED, Scenario
from paramhs.core.space import Config, Parameter, Space
from paramhs.core.space.nearest import nearest_index
from paramhs.formats.space_objects import parameter_of
from paramhs.search.history import History
from paramhs.search.operators import Learned, Learner, Operator, UniformRandom

if TYPE_CHECKING:
    from optuna.study import Study

LEARNED = Learned()
Distributions = Mapping[str, BaseDistribution]
_FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class Sampler(BaseSampler):
    """Sampler for `optuna.create_study` that proposes trials as paramhs proposes challengers.

    It proposes values for all parameters at once: those that every completed trial suggested with
    the same distribution. Other parameters, such as those of one branch of the objective, are left
    to `independent_sampler`. A value of a real parameter is one of 65 levels.

    An Optuna study runs each configuration once and keeps no instances, so nothing is raced. To
    race configurations over instances, use `paramhs.optuna.tune`.

    Args:
        seed: Seed of the proposals. Left out, another one each time.
        deterministic: Whether the objective has no noise. If so, no configuration is proposed
            twice, while there are others, and a model without noise is used.
        operator: Source of the proposals.
        independent_sampler: Sampler for the other parameters. Left out: `RandomSampler`.

    Example:
        >>> import optuna, paramhs.optuna
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> study = optuna.create_study(sampler=paramhs.optuna.Sampler(seed=1))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", -8, 8) - 2) ** 2, n_trials=40)
        >>> study.best_params
        {'x': 2.0}
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        deterministic: bool = True,
        operator: Operator | Learner = LEARNED,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        self._seed = Random().getrandbits(32) if seed is None else seed_of(seed)
        self._deterministic = deterministic
        self._operator = operator
        self._independent = independent_sampler or RandomSampler(seed=self._seed % 2**32)
        self._inferred = IntersectionSearchSpace()
        self._proposals: _Proposals | None = None
        self._lock = RLock()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _lock=RLock())

    def reseed_rng(self) -> None:
        """Draw another seed, as Optuna asks for in each worker process."""
        self._seed = Random().getrandbits(32)
        self._independent.reseed_rng()
        self._proposals = None

    def infer_relative_search_space(
        self, study: "Study", trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Parameters whose values are proposed together.

        Args:
            study: The study.
            trial: The trial that needs values.

        Returns:
            The distributions that all completed trials have in common and that have a choice.
        """
        with self._lock:
            common = self._inferred.calculate(study)
        return {name: one for name, one in common.items() if not one.single()}

    def sample_relative(
        self, study: "Study", trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Propose the values of one trial.

        Args:
            study: The study.
            trial: The trial that needs values.
            search_space: Parameters to propose values for.

        Returns:
            A value for each parameter.
        """
        self._raise_error_if_multi_objective(study)
        search_space = {name: one for name, one in search_space.items() if not one.single()}
        if not search_space:
            return {}
        with self._lock:
            proposals = self._proposals
            if proposals is None or proposals.distributions != search_space:
                proposals = self._proposals = _Proposals(
                    search_space, self._seed, self._deterministic, self._operator
                )
            maximise = study.direction == StudyDirection.MAXIMIZE
            config = proposals.proposed(study.get_trials(deepcopy=False), maximise, trial.number)
        return {
            name: _value(one, config.arguments()[name], search_space[name])
            for name, one in config.space.parameters.items()
        }

    def sample_independent(
        self,
        study: "Study",
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Draw a value for a parameter that not all trials have.

        Args:
            study: The study.
            trial: The trial that needs the value.
            param_name: The parameter.
            param_distribution: Its distribution.

        Returns:
            The value that the independent sampler draws.
        """
        self._raise_error_if_multi_objective(study)
        return self._independent.sample_independent(study, trial, param_name, param_distribution)


class _Proposals:
    """Proposals for one set of distributions, given the trials so far."""

    def __init__(
        self,
        distributions: Distributions,
        seed: int,
        deterministic: bool,
        operator: Operator | Learner,
    ) -> None:
        self.distributions = dict(distributions)
        self._space = Space({name: parameter_of(one) for name, one in distributions.items()})
        self._deterministic = deterministic
        self._operator = operator
        self._history = History(Scenario(self._space, deterministic=deterministic), seed)
        self._read: set[int] = set()
        self._best: tuple[float, Config] | None = None
        self._fitted: tuple[int, Config, Operator] | None = None

    def proposed(self, trials: Sequence[FrozenTrial], maximise: bool, number: int) -> Config:
        """The configuration to try next; one under way is not proposed again."""
        pending = set()
        for trial in trials:
            if trial.number in self._read:
                continue
            config = self._config(trial.params)
            if trial.state in _FINISHED:
                self._read.add(trial.number)
                self._take(trial, config, maximise)
            elif config is not None:
                pending.add(config)
        at = self._best[1] if self._best else self._space.default
        excluded = {*self._history.configs, *pending} if self._deterministic else pending
        rng = self._history.rng("optuna", number)
        for operator in (self._now(at), UniformRandom()):
            move = operator.sample(self._space, at, rng, excluded)
            if move:
                return move[0]
        return self._space.sample(rng)

    def _take(self, trial: FrozenTrial, config: Config | None, maximise: bool) -> None:
        if config is None:
            return
        cost = _cost(trial, maximise)
        seed = FIXED_SEED if self._deterministic else trial.number
        task = Task(config, NO_INSTANCE, seed)
        status = Status.OK if math.isfinite(cost) else Status.CRASHED
        self._history.count_request()
        self._history.add(Run(task, status, 0.0, cost if status is Status.OK else None))
        if self._best is None or cost < self._best[0]:
            self._best = cost, config

    def _now(self, at: Config) -> Operator:
        """The operator, fitted anew for each cohort of trials, and when the best is another one."""
        if not isinstance(self._operator, Learner):
            return self._operator
        if self._fitted is not None:
            runs, place, operator = self._fitted
            if place == at and self._history.learned < runs + self._operator.cohort(self._history):
                return operator
        operator = self._operator.given(self._history)
        self._fitted = self._history.learned, at, operator
        return operator

    def _config(self, values: Mapping[str, Any]) -> Config | None:
        """The nearest configuration; None if a value is missing or outside its distribution."""
        indices = []
        for name, parameter in self._space.parameters.items():
            distribution = self.distributions[name]
            if name not in values:
                return None
            try:
                internal = distribution.to_internal_repr(values[name])
            except ValueError:
                return None
            if _is_outside(distribution, internal):
                return None
            indices.append(_index(parameter, distribution, internal))
        return self._space.configured(indices)


def _is_outside(distribution: BaseDistribution, value: float) -> bool:
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        return False
    return not distribution.low <= value <= distribution.high


def _cost(trial: FrozenTrial, maximise: bool) -> float:
    """Value of a finished trial, negated where large values are good; infinite if it failed."""
    value = trial.value if trial.state is TrialState.COMPLETE else None
    if trial.state is TrialState.PRUNED and trial.intermediate_values:
        value = trial.intermediate_values[max(trial.intermediate_values)]
    if value is None or math.isnan(value):
        return math.inf
    return -value if maximise else value


def _index(parameter: Parameter, distribution: BaseDistribution, value: float) -> int:
    """Index of the level next to a value in Optuna's representation."""
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        return int(value)
    return nearest_index(parameter, value)


def _value(parameter: Parameter, value: Any, distribution: BaseDistribution) -> Any:
    """The value of a level as Optuna wants it: exactly on the steps of the distribution."""
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        return value
    kind = float if isinstance(distribution, FloatDistribution) else int
    if distribution.step is None:
        return kind(value)
    steps = round((value - distribution.low) / distribution.step)
    return kind(min(distribution.low + steps * distribution.step, distribution.high))
