"""Objectives written for Optuna."""

from functools import partial

import numpy as np
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


def branching(trial):
    if trial.suggest_categorical("model", ["svm", "forest"]) == "svm":
        return abs(trial.suggest_float("C", 0.1, 10.0, log=True) - 1)
    if trial.suggest_categorical("kind", [None, "extra"]) is None:
        return 2.0
    return abs(trial.suggest_int("depth", 1, 20) - 4) - 1


def test_branches_become_conditions():
    space = paramhs.optuna.recorded_space(branching)
    assert list(space.parameters) == ["model", "C", "kind", "depth"]
    assert {name: str(one) for name, one in space.conditions.items()} == {
        "C": 'model in {"svm"}',
        "kind": 'model in {"forest"}',
        "depth": 'kind in {"extra"}',
    }
    best = paramhs.optuna.tune(branching, budget=120).best.arguments()
    assert best == {"model": "forest", "kind": "extra", "depth": 4}


def test_few_calls_look_for_branches():
    calls = []

    def objective(trial):
        calls.append([trial.suggest_categorical(name, range(5)) for name in "abcd"])
        return 0.0

    paramhs.optuna.recorded_space(objective)
    assert len(calls) == 10
    assert len(set(map(tuple, calls))) == 10


def test_an_error_in_another_branch_is_a_failed_run():
    def objective(trial):
        if trial.suggest_categorical("branch", ["a", "b"]) == "b":
            raise ValueError(trial.suggest_float("x", 0, 1))
        return 2.0

    result = paramhs.optuna.tune(objective, budget=20)
    assert str(result.space.conditions["x"]) == 'branch in {"b"}'
    assert result.failed_runs > 5


def test_a_parameter_of_a_branch_that_no_category_explains_is_named():
    def objective(trial):
        if trial.suggest_int("n", 0, 9) > 7:
            return trial.suggest_float("hidden", 0, 1)
        return 2.0

    with pytest.warns(ParamhsWarning, match="'hidden' is not tuned"):
        paramhs.optuna.tune(objective, budget=40)


def test_a_trial_knows_its_parameters():
    def objective(trial):
        trial.suggest_float("x", 0, 1)
        return trial.params["x"] + len(trial.distributions)

    assert paramhs.optuna.tune(objective, budget=60).best["x"] == 0


def test_several_directions_make_a_front():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        return x, 1 - x

    result = paramhs.optuna.tune(objective, budget=40, direction=["minimize", "minimize"])
    assert len(result.front.points) > 1
    (given,) = {run.quality for run in result.runs} & {0.5}
    cost = ["minimise a", "minimise b"]
    assert paramhs.optuna.tune(objective, budget=40, cost=cost).front.metric.names == ("a", "b")
    assert given == 0.5


@pytest.mark.parametrize(
    "objective",
    [
        lambda trial, target=0.25: abs(trial.suggest_float("x", 0, 1) - target),
        partial(lambda trial, target: abs(trial.suggest_float("x", 0, 1) - target), target=0.25),
    ],
)
def test_further_arguments_with_defaults_are_left_alone(objective):
    assert paramhs.optuna.tune(objective, budget=80).best["x"] == 0.25


def test_instances_may_be_an_array():
    def objective(trial, instance):
        return abs(trial.suggest_int("n", 0, 9) - 4) + instance

    assert paramhs.optuna.tune(objective, budget=60, instances=np.arange(3)).best["n"] == 4


async def awaited(trial):
    return trial.suggest_float("x", 0, 1)


def test_an_async_objective_is_refused():
    with pytest.raises(BadInput, match="async function"):
        paramhs.optuna.tune(awaited, budget=3)


def test_an_objective_of_another_shape_is_refused():
    with pytest.raises(BadInput, match=r"objective\(trial, instance, seed\)"):
        paramhs.optuna.tune(lambda a, b, c, d: 0, budget=3)
    with pytest.raises(BadInput, match="suggested no parameter"):
        paramhs.optuna.tune(lambda trial: 0, budget=3)
