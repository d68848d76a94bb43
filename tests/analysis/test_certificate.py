"""What is said of the best, of other draws and of more runs: bounds, coverage, words."""

import math
from dataclasses import replace
from random import Random

import pytest

from benchmarks.calibration.certificate import untried_wrong
from benchmarks.calibration.searches import kept
from benchmarks.calibration.simulated import LAWS, Simulated, searched
from benchmarks.calibration.stopping import outcomes, stopped_after
from paramhs import tune
from paramhs.analysis.certificate import LIMITS, certificate
from paramhs.analysis.expected_gain import (
    MIN_RACES,
    ExpectedGain,
    Improvement,
    expected_gain,
    improvements,
    predicted,
)
from paramhs.analysis.gain_bound import gain_bound
from paramhs.analysis.verdict import NoVerdict
from paramhs.analysis.win_probability import bounded, challengers_since, win_probabilities
from paramhs.search import Learned, OneParameter, ParamHS, UniformRandom
from paramhs.search.history import Race
from paramhs.search.proposal_law import UNKNOWN_LAW, ProposalLaw, proposal_law
from paramhs.search.registry import CONFIGURATORS

SPACE = {"x": range(40), "y": range(40)}
NONE = NoVerdict("none", "none was made.")


def noisy(config, instance, seed):
    return 30 + abs(config["x"] - 9) + abs(config["y"] - 7) + instance + seed % 5


def half_fails(config, instance, seed):
    if config["x"] > 10 and instance % 2:
        raise ValueError
    return noisy(config, instance, seed)


@pytest.fixture(scope="module")
def record():
    return tune(noisy, SPACE, instances=range(8), budget=600).record


@pytest.fixture(scope="module")
def alike():
    """Searches in which no configuration is better than another."""
    labs = [Simulated(LAWS["all alike"], seed).lab for seed in range(4)]
    return [
        kept("alike", seed, 600, searched(lab, "paramhs", seed, 600), lab.cost, [])
        for seed, lab in enumerate(labs)
    ]


class TestUntried:
    def test_the_bound_is_that_of_clopper_and_pearson(self):
        assert bounded("uniform", 1.0, 312, 0.05).bound == pytest.approx(1 - 0.05 ** (1 / 312))

    def test_a_share_of_a_law_makes_the_bound_that_much_wider(self):
        whole, part = bounded("plain", 1.0, 400, 0.05), bounded("plain", 0.25, 400, 0.05)
        assert part.bound == pytest.approx(4 * whole.bound)

    def test_few_draws_say_nothing(self):
        assert bounded("plain", 0.25, 79, 0.05) is None
        assert bounded("plain", 0.25, 80, 0.05) is not None

    def test_only_races_the_present_best_has_won_count(self):
        races = [Race("a", "d", False, 1), Race("b", "d", True, 2), Race("c", "b", False, 3)]
        assert challengers_since(races, "b") == 1
        assert challengers_since(races, "d") == 0
        assert challengers_since([*races, Race("e", "b", True, 4)], "e") == 0

    def test_configurations_that_the_user_gave_are_no_draws(self):
        races = [Race("a", "d", False, 1), Race("b", "d", False, 2)]
        assert challengers_since(races, "d", given=1) == 1

    @pytest.mark.parametrize("chances", [[0.3, 0.1, 0.03, 0.01], [0.1] * 30, [0.02]])
    def test_the_bound_is_rarely_wrong_at_a_moment(self, chances):
        wrong = untried_wrong(chances, moments=(20, 60, 150, 400), trials=600, rng=Random(3))
        assert max(wrong) <= 51  # a rate of 5 % exceeds 51 of 600 with a probability below 1e-4

    def test_half_of_the_bound_is_noticed(self):
        wrong = untried_wrong([0.02], (70,), trials=600, rng=Random(3), factor=0.45)
        assert max(wrong) > 51

    def test_a_search_says_it_in_words(self, record):
        (found,) = win_probabilities(record)
        assert (found.law, found.share) == ("plain", 0.25)
        assert f"Of {found.challengers:,} challengers of the best, none won" in found.text
        assert f"below {100 * found.bound:.2g} % (95 %)" in found.text


class TestProposalLaw:
    @pytest.mark.parametrize(
        ("configurator", "law"),
        [
            (ParamHS(Learned(epsilon=0.4)), ProposalLaw(plain=0.4)),
            (ParamHS(OneParameter()), ProposalLaw(plain=1.0)),
            (ParamHS(UniformRandom()), ProposalLaw(uniform=1.0)),
            (CONFIGURATORS["race"], UNKNOWN_LAW),
        ],
    )
    def test_it_is_what_the_configurator_guarantees(self, configurator, law):
        assert proposal_law(configurator) == law


class TestTried:
    def test_a_clear_best_has_a_small_bound(self, record):
        found = gain_bound(record)
        assert found.configurations == len(record.history.configs)
        assert 0 <= found.bound < 0.15

    @pytest.mark.parametrize("law", ["effects, noise", "much noise"])
    def test_the_bound_is_rarely_wrong_and_an_eighth_of_it_often(self, law):
        wrong = {1: 0, 8: 0}
        for seed in range(60):
            target = Simulated(LAWS[law], seed)
            record = searched(target.lab, "random", seed, 80)
            found = gain_bound(record)
            said = math.inf if found is None else -math.log(1 - found.bound)
            means = target.means
            gain = means[record.best] - min(means[config] for config in record.history.configs)
            for part in wrong:
                wrong[part] += gain > said / part + 1e-9
        assert wrong[1] <= 7 < wrong[8]  # 5 % exceeds 7 of 60 with a probability below 0.02

    def test_one_run_says_all_where_there_is_one_pair(self):
        record = tune(lambda config: config["x"], {"x": range(50)}, budget=20).record
        assert gain_bound(record).bound == 0
        assert "is better (95 %)" in gain_bound(record).text

    def test_one_configuration_alone_says_nothing(self):
        assert gain_bound(tune(noisy, SPACE, instances=range(8), budget=2).record) is None


class TestGain:
    def test_recent_improvements_promise_more(self):
        late = [Improvement(900, 0.1), Improvement(950, 0.1)]
        early = [Improvement(10, 0.1), Improvement(20, 0.1)]
        found = [predicted(past, 1000, 500, Random(0)) for past in (late, early)]
        assert found[0].high > 0.05 > found[1].high
        assert found[0].low <= found[0].estimate <= found[0].high

    def test_more_runs_gain_more(self):
        past = [Improvement(900, 0.1), Improvement(950, 0.1)]
        highs = [predicted(past, 1000, runs, Random(0)).high for runs in (10, 300, 3000)]
        assert highs == sorted(highs)
        assert highs[0] < highs[-1]

    def test_a_share_of_nearly_all_is_written_out(self):
        assert ExpectedGain(6, 0.5, 0.25, 0.999).short == "6 more runs gain 25 to 100 % (75 %)"

    def test_what_luck_explains_is_no_improvement(self):
        assert Improvement(900, 0.05, 0.05).gain == 0
        assert Improvement(900, 0.1, 0.05).gain == pytest.approx(-0.75 * math.log(0.9))
        lucky = [Improvement(10, 0.3), *(Improvement(900 + k, 0.05, 0.06) for k in range(9))]
        assert predicted(lucky, 1000, 100, Random(0)) == predicted(lucky[:1], 1000, 100, Random(0))

    def test_without_an_improvement_one_may_still_come(self):
        assert predicted([], 100, 100, Random(0)).high > 0.02

    def test_equal_configurations_seem_better_by_luck_alone(self):
        alike = searched(Simulated(LAWS["all alike"], 1).lab, "random", 1, 400)
        changes = improvements(alike.history, alike.trajectory)
        assert sum(change.share for change in changes) > 0.1
        assert sum(change.gain for change in changes) < sum(change.share for change in changes) / 2

    def test_one_run_says_all_where_there_is_one_pair(self):
        record = tune(lambda config: config["x"] + 1, {"x": range(50)}, budget=20).record
        changes = improvements(record.history, record.trajectory)
        assert changes
        assert all(change.error == 0 for change in changes)

    def test_an_end_of_failures_saves_everything(self):
        record = tune(half_fails, SPACE, instances=range(8), budget=60).record
        changes = improvements(record.history, record.trajectory)
        assert (1.0, 0.0) in {(change.share, change.error) for change in changes}

    def test_nothing_is_predicted_before_ten_races(self):
        few, enough = (
            tune(noisy, SPACE, instances=range(8), budget=runs).record for runs in (12, 80)
        )
        assert len(few.history.races) < MIN_RACES <= len(enough.history.races)
        assert expected_gain(few, 10) is None
        assert expected_gain(enough, 10).text.endswith("(75 %).")


class TestStopping:
    def test_luck_does_not_keep_a_search_going(self, alike):
        changes = (100, 200, 300, 400, 500)
        lucky, clear = (
            [replace(one, gains=[(n, 0.05, error) for n in changes]) for one in alike]
            for error in (0.05, 0.01)
        )
        runs, more = (sum(stopped_after(x, 600, 0.01) for x in of) for of in (lucky, clear))
        assert runs < 0.75 * more

    def test_stopping_costs_nothing_where_nothing_is_better(self, alike):
        found = outcomes(alike, 600, 0.01)["alike"]
        assert max(saved for saved, _ in found) > 0.5
        assert all(regret == 0 for _, regret in found)

    def test_a_clear_improvement_keeps_it_going(self, alike):
        better = [replace(one, gains=[*one.gains, (one.races[0], 0.2, 0.01)]) for one in alike]
        runs, more = (sum(stopped_after(x, 600, 0.01) for x in of) for of in (alike, better))
        assert more > 1.3 * runs


class TestWhole:
    def test_it_ends_with_what_it_does_not_say(self, record):
        lines = certificate(record, NONE).lines
        assert lines[-1] == LIMITS
        assert len(lines) == 4

    def test_a_search_without_runs_says_nothing(self):
        assert certificate(tune(noisy, SPACE, budget=1, instances=[1]).record, NONE).lines == ()
