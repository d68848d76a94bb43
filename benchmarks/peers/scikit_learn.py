"""Hyperparameter searches of scikit-learn estimators after the same number of fits.

python -m benchmarks.peers.scikit_learn --seeds 10 --save rows.csv
python -m benchmarks.peers.scikit_learn --searches ParamHSSearchCV --save ours.csv
python -m benchmarks.peers.scikit_learn --table rows.csv

Each search sees half of a data set (drawn anew for each seed) and makes about `--candidates` times
five fits; the numbers of fits are counted, not trusted. `cross-validation` is the mean score over
the five folds of the search of the configuration that it chose; `held out` is the score of the
refitted estimator on the other half. All scores are accuracies, or R2 for diabetes.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna_integration import OptunaSearchCV
from rich.console import Console
from rich.table import Table
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.svm import SVC

from paramhs import Integer, Real
from paramhs.sklearn import ParamHSSearchCV

FOLDS = 5
FACTOR = 3  # of HalvingRandomSearchCV


class Range(NamedTuple):
    """Range of a parameter, written once for all four searches."""

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int)

    def paramhs(self) -> Any:
        return (Integer if self.whole else Real)(self.low, self.high, log=self.log)

    def scipy(self) -> Any:
        if self.log:
            return loguniform(self.low, self.high)
        if self.whole:
            return randint(self.low, self.high + 1)
        return uniform(self.low, self.high - self.low)

    def optuna(self) -> Any:
        kind = IntDistribution if self.whole else FloatDistribution
        return kind(self.low, self.high, log=self.log)


Space = dict[str, Range | list[Any]]
CASES: dict[str, tuple[Callable[..., Any], Any, Space]] = {
    "digits, SVC": (
        load_digits,
        SVC(),
        {
            "C": Range(1e-3, 1e3, True),
            "gamma": Range(1e-6, 1e1, True),
            "kernel": ["rbf", "poly", "sigmoid"],
            "degree": Range(2, 5),
            "coef0": Range(0.0, 1.0),
        },
    ),
    "breast cancer, extra trees": (
        load_breast_cancer,
        ExtraTreesClassifier(n_estimators=20, random_state=0),
        {
            "max_depth": [None, 2, 4, 8, 16],
            "max_features": Range(0.05, 1.0),
            "min_samples_split": Range(2, 30),
            "min_samples_leaf": Range(1, 20),
            "criterion": ["gini", "entropy"],
        },
    ),
    "diabetes, boosting": (
        load_diabetes,
        GradientBoostingRegressor(n_estimators=60, random_state=0),
        {
            "learning_rate": Range(0.005, 1.0, True),
            "max_depth": Range(1, 6),
            "subsample": Range(0.3, 1.0),
            "max_features": Range(0.1, 1.0),
            "min_samples_leaf": Range(1, 30),
        },
    ),
}


def _written(space: Space, how: str) -> dict[str, Any]:
    return {n: getattr(v, how)() if isinstance(v, Range) else v for n, v in space.items()}


def _paramhs(estimator: Any, space: Space, candidates: int, cv: Any, seed: int) -> Any:
    return ParamHSSearchCV(
        estimator, _written(space, "paramhs"), n_iter=candidates, cv=cv, random_state=seed
    )


def _random(estimator: Any, space: Space, candidates: int, cv: Any, seed: int) -> Any:
    return RandomizedSearchCV(
        estimator, _written(space, "scipy"), n_iter=candidates, cv=cv, random_state=seed
    )


def _halving(estimator: Any, space: Space, candidates: int, cv: Any, seed: int) -> Any:
    """Halving with about as many candidates in all its rounds as the others have."""
    first = max(FACTOR, round(candidates * (1 - 1 / FACTOR)))
    return HalvingRandomSearchCV(
        estimator,
        _written(space, "scipy"),
        n_candidates=first,
        factor=FACTOR,
        min_resources="exhaust",
        cv=cv,
        random_state=seed,
    )


def _optuna(estimator: Any, space: Space, candidates: int, cv: Any, seed: int) -> Any:
    found = {
        name: CategoricalDistribution(value) if isinstance(value, list) else value.optuna()
        for name, value in space.items()
    }
    return OptunaSearchCV(estimator, found, n_trials=candidates, cv=cv, random_state=seed)


SEARCHES = {
    "ParamHSSearchCV": _paramhs,
    "RandomizedSearchCV": _random,
    "HalvingRandomSearchCV": _halving,
    "OptunaSearchCV": _optuna,
}


def rows(
    names: list[str], searches: list[str], seeds: range, candidates: list[int]
) -> Iterator[dict[str, Any]]:
    """Yield one row per search."""
    for name in names:
        load, estimator, space = CASES[name]
        x, y = load(return_X_y=True)
        few = len(set(y)) < 20
        for seed in seeds:
            half = train_test_split(
                x, y, test_size=0.5, random_state=seed, stratify=y if few else None
            )
            cv = (StratifiedKFold if few else KFold)(FOLDS, shuffle=True, random_state=seed)
            for count in candidates:
                for kind in searches:
                    make = SEARCHES[kind]
                    made = _searched(make(estimator, space, count, cv, seed), estimator, cv, half)
                    yield {"case": name, "search": kind, "candidates": count, "seed": seed, **made}


def _searched(search: Any, estimator: Any, cv: Any, half: list[Any]) -> dict[str, Any]:
    x, x_out, y, y_out = half
    search.fit(x, y)
    best = clone(estimator).set_params(**search.best_params_)
    return {
        "fits": _fits(search),
        "cross_validation": round(float(cross_val_score(best, x, y, cv=cv).mean()), 6),
        "held_out": round(float(best.fit(x, y).score(x_out, y_out)), 6),
    }


def _fits(search: Any) -> int:
    """Number of fits that the search made, without the last one on all data."""
    if isinstance(search, ParamHSSearchCV):
        return int(search.cv_results_["n_folds"].sum())
    if isinstance(search, OptunaSearchCV):
        return FOLDS * len(search.trials_)
    return FOLDS * len(search.cv_results_["params"])


def table(path: Path) -> Table:
    """Means and standard errors; differences to ours, seed by seed."""
    with path.open() as file:
        made = list(csv.DictReader(file))
    titles = ("case", "candidates", "search", "fits", "cross-validation", "ours less this")
    shown = Table(*titles, "held out", "ours less this")
    groups = dict.fromkeys((r["case"], r["candidates"]) for r in made)
    for case, count in groups:
        of = {
            kind: {r["seed"]: r for r in made
                   if (r["case"], r["candidates"], r["search"]) == (case, count, kind)}
            for kind in SEARCHES
        }  # fmt: skip
        ours = of["ParamHSSearchCV"]
        for kind, by_seed in of.items():
            cells = [case, count, kind, f"{fmean(int(r['fits']) for r in by_seed.values()):.0f}"]
            for what in ("cross_validation", "held_out"):
                scores = [float(r[what]) for r in by_seed.values()]
                apart = [float(ours[s][what]) - float(r[what]) for s, r in by_seed.items()]
                cells += [_with_error(scores), "" if kind == "ParamHSSearchCV" else
                          _with_error(apart)]  # fmt: skip
            shown.add_row(*cells)
    return shown


def _with_error(numbers: list[float]) -> str:
    if len(numbers) < 2:
        return f"{fmean(numbers):.4f}"
    return f"{fmean(numbers):.4f} ± {stdev(numbers) / len(numbers) ** 0.5:.4f}"


def main() -> None:
    """Make searches, or print the table of those made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--candidates", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=list(SEARCHES))
    parser.add_argument("--save", type=Path, default=Path("scikit_learn.csv"))
    parser.add_argument("--table", type=Path)
    asked = parser.parse_args()
    if asked.table:
        Console(width=150).print(table(asked.table))
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    new = not asked.save.exists()
    with asked.save.open("a", newline="") as file:
        writer = None
        for row in rows(asked.cases, asked.searches, seeds, asked.candidates):
            if writer is None:
                writer = csv.DictWriter(file, list(row))
                if new:
                    writer.writeheader()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
