"""`ParamHSSearchCV` beside scikit-learn's own searches."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from paramhs import BadInput, Integer, Real, Space
from paramhs.formats.space_objects import space_from
from paramhs.sklearn import ParamHSSearchCV

IRIS = load_iris(return_X_y=True)
NEIGHBOURS = {"n_neighbors": (1, 30), "weights": ["uniform", "distance"]}


class Fails(ClassifierMixin, BaseEstimator):
    """Fits unless told to fail."""

    def __init__(self, fail=False):
        self.fail = fail

    def fit(self, X, y):
        if self.fail:
            raise RuntimeError("told to fail")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def searched(estimator, space, **settings):
    return ParamHSSearchCV(estimator, space, **settings).fit(*IRIS)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_all_checks_of_scikit_learn_pass():
    space = {"C": [0.1, 1.0, 10.0]}
    search = ParamHSSearchCV(
        LogisticRegression(tol=0.1), space, n_iter=1, cv=2, error_score="raise"
    )
    checks = check_estimator(search, on_fail=None, on_skip=None)
    failed = [check["check_name"] for check in checks if check["status"] == "failed"]
    assert not failed
    assert sum(check["status"] == "passed" for check in checks) > 40


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_regressor_passes_the_checks_that_a_randomized_search_passes():
    def failed(search):
        checks = check_estimator(search, on_fail=None, on_skip=None)
        return {check["check_name"] for check in checks if check["status"] == "failed"}

    space = {"alpha": [0.1, 1.0, 10.0]}
    settings = {"n_iter": 1, "cv": 2, "error_score": "raise"}
    theirs = failed(RandomizedSearchCV(Ridge(), space, random_state=0, **settings))
    assert failed(ParamHSSearchCV(Ridge(), space, **settings)) <= theirs


def test_methods_are_delegated_as_scikit_learn_asks_of_meta_estimators(monkeypatch):
    suite = pytest.importorskip("sklearn.tests.test_metaestimators")
    ours = suite.DelegatorData(
        "ParamHSSearchCV",
        lambda estimator: ParamHSSearchCV(estimator, {"param": [5]}, cv=2, n_iter=1),
        skip_methods=["score"],
    )
    monkeypatch.setattr(suite, "DELEGATING_METAESTIMATORS", [ours])
    suite.test_metaestimator_delegation()


def test_distributions_of_scipy_are_ranges():
    stats = pytest.importorskip("scipy.stats")
    space = space_from(
        {"a": stats.loguniform(1e-3, 1e3), "b": stats.uniform(1, 2), "n": stats.randint(2, 5)}
    )
    assert space == Space({"a": Real(1e-3, 1e3, log=True), "b": Real(1.0, 3.0), "n": Integer(2, 4)})
    with pytest.raises(BadInput, match=r"parameter 'a': the distribution 'expon' of scipy"):
        space_from({"a": stats.expon()})


def test_a_list_of_spaces_is_refused_with_the_way_to_write_it():
    search = ParamHSSearchCV(KNeighborsClassifier(), [NEIGHBOURS, {"p": [1, 2]}])
    with pytest.raises(BadInput, match=r"one paramhs.Space .* and conditions"):
        search.fit(*load_iris(return_X_y=True))


def test_a_function_may_give_several_scores():
    search = searched(
        KNeighborsClassifier(),
        NEIGHBOURS,
        scoring=lambda fitted, X, y: {"right": fitted.score(X, y), "k": fitted.n_neighbors},
        refit="right",
        cv=2,
        n_iter=2,
    )
    assert search.multimetric_
    assert search.best_score_ == search.cv_results_["mean_test_right"][search.best_index_]
    neighbours = [params["n_neighbors"] for params in search.cv_results_["params"]]
    assert list(search.cv_results_["mean_test_k"]) == neighbours


def test_a_function_may_choose_the_row():
    search = searched(
        KNeighborsClassifier(), NEIGHBOURS, cv=2, n_iter=3, refit=lambda results: np.int64(1)
    )
    assert search.best_index_ == 1
    assert search.best_params_ == search.cv_results_["params"][1]
    assert search.best_estimator_.n_neighbors == search.best_params_["n_neighbors"]
    assert not hasattr(search, "best_score_")
    assert search.refit_time_ > 0
    with pytest.raises(IndexError):
        searched(KNeighborsClassifier(), NEIGHBOURS, cv=2, n_iter=2, refit=lambda results: 99)


def test_a_failing_fit_has_the_score_that_was_asked_for():
    search = searched(Fails(), {"fail": [False, True]}, cv=2, n_iter=2, error_score=0.125)
    failed = search.cv_results_["params"].index({"fail": True})
    assert search.cv_results_["mean_test_score"][failed] == 0.125
    assert search.cv_results_["n_folds"][failed] == 2


def test_the_best_row_is_the_best_over_all_folds():
    search = searched(KNeighborsClassifier(), NEIGHBOURS, cv=5, n_iter=6)
    results, best = search.cv_results_, search.best_index_
    assert results["n_folds"][best] == 5
    assert results["params"][best] == search.best_params_
    folds = [results[f"split{k}_test_score"][best] for k in range(5)]
    assert search.best_score_ == pytest.approx(np.mean(folds))
    assert search.score(*IRIS) == search.best_estimator_.score(*IRIS)
    assert sorted(results["rank_test_score"])[0] == 1


def test_the_budget_is_that_of_a_random_search_and_bad_configurations_cost_less():
    search = searched(KNeighborsClassifier(), NEIGHBOURS, cv=5, n_iter=6)
    assert search.result_.asked <= 30
    assert len(search.cv_results_["params"]) > 6
    assert min(search.cv_results_["n_folds"]) < 5


def test_it_is_cloned_pickled_and_reconfigured_like_any_estimator():
    search = clone(ParamHSSearchCV(KNeighborsClassifier(), NEIGHBOURS)).set_params(n_iter=2, cv=2)
    fitted = pickle.loads(pickle.dumps(search.fit(*IRIS)))
    assert fitted.best_params_ == search.best_params_
    assert (fitted.predict(IRIS[0]) == search.predict(IRIS[0])).all()


def test_objects_and_steps_of_a_pipeline_are_parameters():
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    space = {"standardscaler": [StandardScaler(), "passthrough"], "kneighborsclassifier__p": (1, 3)}
    search = searched(pipeline, space, n_iter=3, cv=2)
    assert set(search.best_params_) == set(space)


def test_several_scores_need_the_name_of_the_one_to_maximise():
    scores = ["accuracy", "f1_macro"]
    with pytest.raises(ValueError, match="refit must be the name"):
        searched(KNeighborsClassifier(), NEIGHBOURS, scoring=scores)
    search = searched(
        KNeighborsClassifier(), NEIGHBOURS, scoring=scores, refit="f1_macro", cv=2, n_iter=2
    )
    assert search.best_score_ == search.cv_results_["mean_test_f1_macro"][search.best_index_]
    assert "mean_test_accuracy" in search.cv_results_


def test_groups_go_to_the_splitter():
    groups = np.arange(len(IRIS[1])) % 3
    search = ParamHSSearchCV(KNeighborsClassifier(), NEIGHBOURS, cv=GroupKFold(3), n_iter=2)
    assert search.fit(*IRIS, groups=groups).n_splits_ == 3


def test_a_failing_configuration_is_not_the_best():
    search = searched(Fails(), {"fail": [False, True]}, cv=2, n_iter=2)
    assert search.best_params_ == {"fail": False}
    failed = search.cv_results_["params"].index({"fail": True})
    assert np.isnan(search.cv_results_["mean_test_score"][failed])


def test_failures_are_raised_where_nothing_fits_or_on_demand():
    with pytest.raises(ValueError, match=r"fits failed.*told to fail"):
        searched(Fails(fail=True), {"fail": [True]}, cv=2)
    with pytest.raises(RuntimeError, match="told to fail"):
        searched(Fails(), {"fail": [False, True]}, cv=2, error_score="raise")


def test_an_unknown_parameter_is_named():
    with pytest.raises(ValueError, match="no parameter 'neighbours'"):
        searched(KNeighborsClassifier(), {"neighbours": (1, 3)})


def test_threads_give_the_same_result():
    first = searched(KNeighborsClassifier(), NEIGHBOURS, cv=3, n_iter=4)
    second = searched(KNeighborsClassifier(), NEIGHBOURS, cv=3, n_iter=4, n_jobs=2)
    assert first.best_params_ == second.best_params_
    assert first.cv_results_["params"] == second.cv_results_["params"]
