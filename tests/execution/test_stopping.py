"""A search that stops itself: the same in every replay and for any number of workers."""

import pytest

from paramhs import BadInput, Budget, load, tune
from paramhs.analysis.expected_gain import ExpectedGain
from paramhs.execution.driver import stopping
from paramhs.execution.driver.stopping import MIN_RACES, MIN_SHARE
from paramhs.formats.scenario import read_scenario
from tests.support.command_line import paramhs

SPACE = {"x": range(20), "y": range(20)}
WHOLE = 700


def noisy(config, instance, seed):
    return 30 + abs(config["x"] - 9) + abs(config["y"] - 7) + instance + seed % 5


def searched(runs=WHOLE, stop="gain < 2 %", **more):
    return tune(noisy, SPACE, instances=range(6), budget=Budget(runs, stop=stop), **more)


def told(result):
    """The runs of a search without their times."""
    return [(run.task, run.quality) for run in result.runs]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    path = tmp_path_factory.mktemp("stopped") / "runs.sqlite"
    return path, searched(store=path)


def test_it_stops_and_says_why(stopped):
    path, result = stopped
    assert WHOLE / MIN_SHARE <= result.asked < WHOLE / 2
    assert len(result.history.races) >= MIN_RACES
    assert result.stopped == "the next 70 runs would gain less than 2 % (75 % sure)"
    assert load(path).stopped == result.stopped


def test_a_smaller_gain_takes_longer(stopped):
    assert searched(stop="0.01 %").asked > stopped[1].asked


def test_a_large_gain_that_is_unlikely_does_not_stop_it(monkeypatch):
    monkeypatch.setattr(
        stopping, "expected_gain", lambda record, further: ExpectedGain(further, 0.03, 0.0, 0.0)
    )
    assert searched().stopped.startswith("the budget of")


def test_any_number_of_workers_stops_at_the_same_run(stopped):
    parallel = searched(jobs=3, executor="threads")
    assert told(parallel) == told(stopped[1])
    assert parallel.stopped == stopped[1].stopped


def test_resuming_stops_there_again_and_extending_goes_on(stopped):
    path, result = stopped
    again = searched(store=path)
    assert told(again) == told(result)
    more = result.asked + 60
    longer = tune(noisy, SPACE, instances=range(6), budget=more, store=path)
    whole = tune(noisy, SPACE, instances=range(6), budget=more)
    assert told(longer) == told(whole)
    assert longer.asked > result.asked


@pytest.mark.parametrize("rule", ["gain > 1 %", "soon", 0, 1.5, "-1 %", True])
def test_another_rule_is_refused_in_one_sentence(rule):
    with pytest.raises(BadInput, match="the budget's stop must be a rule such as 'gain < 1 %'"):
        Budget(runs=10, stop=rule)


def test_a_rule_needs_a_budget():
    with pytest.raises(BadInput, match="needs runs, target_time or wall_time"):
        Budget(stop="1 %")


def test_a_scenario_and_the_command_take_the_rule(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        "command = 'echo {x}'\nread = 'last number'\ncost = 'minimise'\n[budget]\nruns = 10\n"
        "stop = 'gain < 1 %'\n[space]\nx = [0, 9]\n"
    )
    assert read_scenario(path).budget.least_gain == 0.01
    ran = paramhs("tune", "s.toml", "--stop", "gain > 1", "--no-report", cwd=tmp_path)
    assert ran.returncode != 0
    assert "'gain < 1 %'" in ran.stderr
