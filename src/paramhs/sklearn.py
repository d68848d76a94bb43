"""Hyperparameter search for scikit-learn: `ParamHSSearchCV` in place of `RandomizedSearchCV`.

Folds are the instances of the search. A configuration is fitted on one fold after another, and is
rejected as soon as its mean score is worse than the incumbent's on the same folds, so a bad one
costs two fits instead of one for each fold.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.ma import MaskedArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv, cross_validate
from sklearn.model_selection._search import BaseSearchCV  # for predict, score and the like
from sklearn.utils import check_random_state
from sklearn.utils.validation import indexable

from paramhs.api.tune import tune
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.runs import Run, Status, Target, Task
from paramhs.core.space import Config, Space
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.report.result import Result

_SEVERAL_SPACES = (
    "space is a list of several; give one paramhs.Space with all their parameters, and conditions"
    """ such as {"degree": "kernel == poly"} for those that only some of them have"""
)


class ParamHSSearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """Search for the parameters of an estimator by racing configurations over folds.

    A drop-in replacement for `sklearn.model_selection.RandomizedSearchCV`. It spends the same
    number of fits, `n_iter` times the number of folds, on more configurations.

    Args:
        estimator: The estimator to tune. Its own parameters are the first configuration where the
            space has them, else the space's default is.
        space: A `paramhs.Space`, or a dictionary from names of parameters (`step__name` in a
            pipeline) to `(low, high)`, lists of any objects, `paramhs.Real`, `Integer`, ..., or
            `uniform`, `loguniform` and `randint` of scipy; or anything else that `paramhs.tune`
            accepts. A list of dictionaries is refused: conditions of a `Space` say the same.
        n_iter: Budget: number of fits divided by the number of folds.
        scoring: A name or a callable that returns a number; or several: a list of names, a
            dictionary from names to either, or a callable that returns a dictionary.
        n_jobs: Number of fits at a time, in threads; None means 1 and -1 all cores.
        refit: Whether to fit the best configuration on all data; with several scores the name of
            the one to maximise. A function chooses the row of `cv_results_` instead.
        cv: Folds, as for `GridSearchCV`.
        verbose: Whether to show progress.
        random_state: Seed of the search: an integer, None for 0, or a `RandomState`.
        error_score: "raise", or the score that `cv_results_` has for a fit that fails. The search
            counts such a fit as failed, whatever this is.
        return_train_score: Whether `cv_results_` has training scores.

    Attributes:
        best_params_: Parameters of the best configuration.
        best_score_: Its mean score over all folds.
        best_index_: Its row in `cv_results_`.
        best_estimator_: The estimator fitted with them, if `refit`.
        refit_time_: Seconds that this took.
        cv_results_: A row for each configuration. A fold that was not run is nan, and
            `n_folds` says how many were run; means are over those.
        result_: The `paramhs.Result`: importance, report, every fit.
        n_splits_: Number of folds.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from paramhs.sklearn import ParamHSSearchCV
        >>> search = ParamHSSearchCV(KNeighborsClassifier(), {"n_neighbors": (1, 30)}, cv=3)
        >>> bool(search.fit(*load_iris(return_X_y=True)).best_score_ > 0.95)
        True
    """

    def __init__(
        self,
        estimator: Any,
        space: AnySpace,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[Mapping[str, Any]], int] = True,
        cv: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        error_score: float | Literal["raise"] = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> "ParamHSSearchCV":  # noqa: N803
        """Search, and fit the best configuration on all data.

        Args:
            X: Data.
            y: Targets, for supervised estimators.
            **params: Passed to the estimator's `fit`; `groups` goes to the splitter of the folds.

        Returns:
            This search.
        """
        X, y = indexable(X, y)  # noqa: N806
        groups = params.pop("groups", None)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = list(splitter.split(X, y, groups))
        self._check_scores()
        fits = _Fits(self, X, y, params, folds)
        if isinstance(self.space, list | tuple):
            raise BadInput(_SEVERAL_SPACES)
        space = space_from(self.space)
        jobs = _jobs(self.n_jobs)
        result = fits.searched(
            space,
            instances={f"fold {number}": number for number in range(len(folds))},
            budget=self.n_iter * len(folds),
            cost="maximise",
            initial=_own_parameters(self.estimator, space),
            seed=_seed(self.random_state),
            jobs=jobs,
            executor="inline" if jobs == 1 else "threads",
            progress=bool(self.verbose),
        )
        self.result_ = result
        self.n_splits_ = len(folds)
        fits.complete(result.best)
        configs = list(result.history.configs)
        self._note_scorers(fits.scores())
        self.cv_results_ = self._tabulated(configs, fits)
        self.best_index_ = self._best_row(configs.index(result.best))
        self.best_params_ = configs[self.best_index_].arguments()
        if not callable(self.refit):
            self.best_score_ = self.cv_results_[f"mean_test_{self._metric}"][self.best_index_]
        if self.refit is not False:
            start = perf_counter()
            self.best_estimator_ = self._configured(configs[self.best_index_])
            self.best_estimator_.fit(*((X,) if y is None else (X, y)), **params)
            self.refit_time_ = perf_counter() - start
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _check_scores(self) -> None:
        """Whether it is known which score to maximise, as far as can be told before a fit."""
        named = self._named_scores()
        several = bool(named) or (callable(self.scoring) and isinstance(self.refit, str))
        self._metric = str(self.refit) if several else "score"
        if named and self.refit not in named:
            raise ValueError(
                "with several scores, refit must be the name of the one to maximise, one of"
                f" {sorted(named)}, not {self.refit!r}"
            )

    def _named_scores(self) -> dict[str, Any]:
        if isinstance(self.scoring, Mapping):
            return dict(self.scoring)
        several = isinstance(self.scoring, list | tuple | set)
        return {name: name for name in self.scoring} if several else {}

    def _note_scorers(self, names: Sequence[str]) -> None:
        named = self._named_scores()
        self.multimetric_ = self._metric != "score"
        self._scores = [*named] if named else [*names] if self.multimetric_ else ["score"]
        if named:
            self.scorer_ = {name: check_scoring(self.estimator, one) for name, one in named.items()}
        else:
            self.scorer_ = check_scoring(self.estimator, self.scoring)

    def _best_row(self, row: int) -> int:
        """Row of the best configuration, or what a function `refit` chooses."""
        if not callable(self.refit):
            return row
        chosen = self.refit(self.cv_results_)
        if not isinstance(chosen, int | np.integer):
            raise TypeError("best_index_ returned is not an integer")
        if not 0 <= chosen < len(self.cv_results_["params"]):
            raise IndexError("best_index_ index out of range")
        return int(chosen)

    def _configured(self, config: Config) -> Any:
        values = {name: clone(value, safe=False) for name, value in config.arguments().items()}
        return clone(clone(self.estimator).set_params(**values))

    def _tabulated(self, configs: list[Config], fits: "_Fits") -> dict[str, Any]:
        columns: dict[str, Any] = {"params": [config.arguments() for config in configs]}
        for name in self.result_.space.parameters:
            values = [config.arguments().get(name) for config in configs]
            mask = [name not in config for config in configs]
            columns[f"param_{name}"] = MaskedArray(_objects(values), mask)
        for key in ("fit_time", "score_time"):
            columns |= _summary(f"_{key}", fits.table(configs, key), ("mean", "std"))
        for name in self._scores:
            columns |= self._score_columns(name, configs, fits)
        columns["n_folds"] = fits.counts(configs)
        return columns

    def _score_columns(self, name: str, configs: list[Config], fits: "_Fits") -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for part in ("test", "train") if self.return_train_score else ("test",):
            table = fits.table(configs, f"{part}_{name}")
            columns |= {f"split{k}_{part}_{name}": column for k, column in enumerate(table.T)}
            columns |= _summary(f"_{part}_{name}", table, ("mean", "std"))
        columns[f"rank_test_{name}"] = _ranks(fits.table(configs, f"test_{name}"))
        return columns


class _Fits(Target):
    """Makes and keeps the fits of one search; an instance is the number of a fold."""

    def __init__(
        self, search: ParamHSSearchCV, x: Any, y: Any, params: Mapping[str, Any], folds: list[Any]
    ) -> None:
        self._search = search
        self._validate = partial(
            cross_validate,
            X=x,
            y=y,
            scoring=search.scoring,
            params=dict(params) or None,
            return_train_score=search.return_train_score,
            error_score="raise",
        )
        self._folds = folds
        self._made: dict[tuple[Config, int], Mapping[str, float]] = {}
        self._failed: set[tuple[Config, int]] = set()
        self.errors: list[BaseException] = []

    def searched(self, space: Space, **settings: Any) -> Result:
        """Search; raise the error of a fit if `error_score` says so, or if the default fails."""
        try:
            result = tune(self, space, **settings)
        except TargetError as error:
            if self._search.error_score == "raise" or not self.errors:
                raise (self.errors or [error])[0] from None
            raise ValueError(
                f"All the {len(self.errors)} fits failed, beginning with the default"
                f" configuration. The last error was {self.errors[-1]!r}"
            ) from self.errors[-1]
        if self.errors and self._search.error_score == "raise":
            raise self.errors[0]
        return result

    @property
    def uses_seed(self) -> bool:
        """An estimator has its own random state."""
        return False

    def __call__(self, task: Task) -> Run:
        """Fit on all folds but one, and score on that one."""
        start = perf_counter()
        try:
            quality = self._fit(task.config, task.instance.value)
        except Exception as error:
            self.errors.append(error)
            self._failed.add((task.config, task.instance.value))
            what = f"{type(error).__name__}: {error}"
            return Run(task, Status.CRASHED, perf_counter() - start, None, what)
        return Run(task, Status.OK, perf_counter() - start, quality)

    def _fit(self, config: Config, fold: int) -> float:
        made = self._validate(estimator=self._search._configured(config), cv=[self._folds[fold]])
        self._made[config, fold] = {name: float(column[0]) for name, column in made.items()}
        return self._made[config, fold][f"test_{self._search._metric}"]

    def complete(self, config: Config) -> None:
        """Fit a configuration on the folds that the search has not needed."""
        for fold in range(len(self._folds)):
            if (config, fold) not in self._made:
                try:
                    self._fit(config, fold)
                except Exception:  # shown as `error_score` in the table
                    self._failed.add((config, fold))

    def scores(self) -> list[str]:
        """Names of all scores that fits have given."""
        names = (name for made in self._made.values() for name in made)
        return [n.removeprefix("test_") for n in dict.fromkeys(names) if n.startswith("test_")]

    def table(self, configs: Sequence[Config], name: str) -> "np.ndarray[Any, Any]":
        """Numbers by configuration and fold; nan where there was no fit."""

        def cell(config: Config, fold: int) -> float:
            if (config, fold) in self._failed and name.startswith(("test_", "train_")):
                score = self._search.error_score
                return np.nan if score == "raise" else score
            return self._made.get((config, fold), none).get(name, np.nan)

        none: Mapping[str, float] = {}
        folds = range(len(self._folds))
        return np.array([[cell(config, fold) for fold in folds] for config in configs])

    def counts(self, configs: Sequence[Config]) -> "np.ndarray[Any, Any]":
        """Number of folds on which each configuration was fitted, or failed to be."""
        run = self._made.keys() | self._failed
        folds = range(len(self._folds))
        return np.array([sum((config, fold) in run for fold in folds) for config in configs])


def _summary(name: str, table: Any, parts: Iterable[str]) -> dict[str, Any]:
    """Mean and standard deviation over the folds that were run."""
    functions: dict[str, Any] = {"mean": np.nanmean, "std": np.nanstd}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # rows in which every fit failed
        return {f"{part}{name}": functions[part](table, axis=1) for part in parts}


def _ranks(table: Any) -> Any:
    """Ranks by mean score; configurations without all scores come after the others."""
    means = _summary("", table, ("mean",))["mean"]
    partial_rows = np.isnan(table).any(axis=1)
    order = sorted(range(len(means)), key=lambda i: (partial_rows[i], -np.nan_to_num(means[i])))
    ranks = np.empty(len(means), dtype=np.int32)
    for place, row in enumerate(order, 1):
        before = order[place - 2] if place > 1 else None
        tied = before is not None and (partial_rows[before], means[before]) == (
            partial_rows[row],
            means[row],
        )
        ranks[row] = ranks[before] if tied else place
    return ranks


def _own_parameters(estimator: Any, space: Space) -> list[Config]:
    """The estimator's own parameters, as far as the space has them."""
    own = estimator.get_params()
    indices = [p.default_index for p in space.parameters.values()]
    for position, (name, parameter) in enumerate(space.parameters.items()):
        if name not in own:
            raise ValueError(f"the estimator has no parameter {name!r}; it has {sorted(own)}")
        with suppress(BadInput, TypeError, ValueError):
            indices[position] = parameter.index(own[name])
    config = space.configured(indices)
    return [config] if space.allowed(config) and config != space.default else []


def _objects(values: list[Any]) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _jobs(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
