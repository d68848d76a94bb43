"""Our proposals as a sampler of Optuna, held to Optuna's own tests of samplers."""

import copy
import pickle

import pytest

optuna = pytest.importorskip("optuna")
suite = pytest.importorskip("optuna.testing.pytest_samplers")

from optuna.distributions import CategoricalDistribution, FloatDistribution  # noqa: E402

from paramhs.optuna import Sampler  # noqa: E402
from paramhs.search import Harmonic, SeveralParameters  # noqa: E402


@pytest.fixture(autouse=True)
def _quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


class TestSampler(
    suite.BasicSamplerTestCase, suite.RelativeSamplerTestCase, suite.SingleOnlySamplerTestCase
):
    @pytest.fixture
    def sampler(self):
        return Sampler


class TestNoisySampler(suite.BasicSamplerTestCase, suite.RelativeSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: Sampler(deterministic=False)


def best_of(objective, sampler, trials=50, direction="minimize"):
    study = optuna.create_study(sampler=sampler, direction=direction)
    study.optimize(objective, n_trials=trials)
    return study


def bowl(trial):
    x, y = trial.suggest_float("x", -8, 8), trial.suggest_int("y", 1, 1000, log=True)
    return (x - 2) ** 2 + abs(y - 30) / 30 + (trial.suggest_categorical("c", "ab") == "b")


def test_it_learns():
    values = [best_of(bowl, Sampler(seed)).best_value for seed in range(3)]
    random = [best_of(bowl, optuna.samplers.RandomSampler(seed)).best_value for seed in range(3)]
    assert sum(values) < sum(random) / 3


def test_it_maximises():
    study = best_of(lambda t: -bowl(t), Sampler(1), direction="maximize")
    assert study.best_value > -0.2


def test_a_seed_gives_the_same_trials():
    first, second = (best_of(bowl, Sampler(5), 15).trials for _ in range(2))
    assert [t.params for t in first] == [t.params for t in second]


def test_an_operator_of_ones_own_proposes():
    plain = Sampler(1, operator=SeveralParameters(Harmonic()))
    assert best_of(bowl, plain, 40).best_value < 3


def test_nothing_is_proposed_twice_while_something_is_left():
    study = best_of(lambda t: t.suggest_int("x", 0, 11), Sampler(1), 12)
    assert sorted(t.params["x"] for t in study.trials) == list(range(12))
    study.optimize(lambda t: t.suggest_int("x", 0, 11), n_trials=2)
    assert len(study.trials) == 14


def test_what_is_under_way_is_not_proposed_again():
    study = optuna.create_study(sampler=Sampler(1))
    space = {"x": CategoricalDistribution("abcdef")}
    asked = [study.ask(space).params["x"] for _ in range(6)]
    study.tell(0, 1.0)
    rest = [study.ask(space).params["x"] for _ in range(1)]
    assert set(rest) | set(asked) <= set("abcdef")
    assert rest[0] not in asked or set(asked) == set("abcdef")


def test_failed_and_pruned_trials_are_learned_from():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x > 0.5:
            raise ValueError
        trial.report(x, 1)
        if x > 0.25:
            raise optuna.TrialPruned
        return x

    study = optuna.create_study(sampler=Sampler(2))
    study.optimize(objective, n_trials=40, catch=ValueError)
    late = study.trials[20:]
    assert study.best_value == 0
    assert sum(t.params["x"] > 0.5 for t in late) < len(late) / 2


def test_trials_of_other_samplers_are_read():
    study = optuna.create_study(sampler=Sampler(1))
    space = {"x": FloatDistribution(0, 1), "y": FloatDistribution(1e-3, 1, log=True)}
    for x in (0.013, 0.333, 0.77):
        trial = optuna.create_trial(
            params={"x": x, "y": x}, distributions=space, value=x + 1, user_attrs={}
        )
        study.add_trial(trial)
    study.enqueue_trial({"x": 0.12345, "y": 0.5})
    study.optimize(lambda t: sum(t.suggest_float(n, d.low, d.high, log=d.log)
                                 for n, d in space.items()), n_trials=30)  # fmt: skip
    assert study.best_value < 0.02


def test_it_can_be_copied():
    study = best_of(bowl, Sampler(1), 5)
    for twin in (copy.deepcopy(study.sampler), pickle.loads(pickle.dumps(study.sampler))):
        study.sampler = twin
        study.optimize(bowl, n_trials=2)
    assert len(study.trials) == 9
