"""Objectives written for Optuna."""

import pytest

import paramhs
from paramhs import BadInput, ParamhsWarning

pytest.importorskip("optuna")

import paramhs.optuna


def mixed(trial):
    kind = trial.suggest_categorical("kind", [None, "a", True])
    n = trial.suggest_int("n", 1, 100, log=True)
    return (n - 30) ** 2 / 100 + trial.suggest_float("x", 0, 1, step=0.25) + (kind is None)


def test_an_objective_is_tuned_as_it_is():
    best = paramhs.optuna.tune(mixed, budget=100).best.arguments()
    assert best["x"] == 0
    assert best["kind"] is not None
    assert abs(best["n"] - 30) < 5


def test_direction_is_that_of_optuna():
    result = paramhs.optuna.tune(
        lambda trial: trial.suggest_float("x", 0, 1), budget=60, direction="maximize"
    )
    assert result.best["x"] == 1
    with pytest.raises(BadInput, match="'minimize' or 'maximize', not 'up'"):
        paramhs.optuna.tune(mixed, budget=5, direction="up")


def test_an_objective_may_take_instances_and_seeds():
    def objective(trial, instance, seed):
        return abs(trial.suggest_int("n", 0, 9) - 4) + instance + seed % 2

    result = paramhs.optuna.tune(objective, budget=80, instances=[1, 2, 3])
    assert result.best["n"] == 4
    assert {run.task.instance.value for run in result.runs} == {1, 2, 3}


def test_a_parameter_of_another_branch_is_named():
    def objective(trial):
        if trial.suggest_categorical("branch", ["a", "b"]) == "b":
            return trial.suggest_float("hidden", 0, 1)
        return 2.0

    with pytest.warns(ParamhsWarning, match="'hidden' is not tuned"):
        paramhs.optuna.tune(objective, budget=4)


def test_an_objective_of_another_shape_is_refused():
    with pytest.raises(BadInput, match=r"objective\(trial, instance, seed\)"):
        paramhs.optuna.tune(lambda a, b, c, d: 0, budget=3)
    with pytest.raises(BadInput, match="suggested no parameter"):
        paramhs.optuna.tune(lambda trial: 0, budget=3)
