"""A store opened in Python, without the target."""

import json
from dataclasses import replace

import pytest

import paramhs
from paramhs import (
    Budget,
    Growing,
    Instance,
    ParamHS,
    ParamILS,
    ParamRLS,
    Race,
    Run,
    Runtime,
    Scenario,
    Space,
    Status,
    Target,
    tune,
)
from paramhs.faces.tuning import tune_scenario
from paramhs.search.configurators import CONFIGURATORS
from paramhs.search.configurators.rebuilding import configurator_of
from paramhs.values.capping import Capping
from paramhs.values.describing import description
from paramhs.values.errors import BadInput, StoreError
from paramhs.world.running import Running

SPACE = {"x": range(20), "mode": ["a", "b"]}


def noisy(config, instance, seed):
    return (config["x"] - 15) ** 2 + instance + (seed % 7) + (config["mode"] == "a")


def stored(folder, **options):
    given = {"instances": {f"i{k}": k for k in range(6)}, "budget": 83, "seed": 1}
    path = folder / "runs.sqlite"
    return path, tune(noisy, SPACE, store=path, **{**given, **options})


def told(result):
    """All of a result but what only the session knows."""
    times = {"wall_time": 0.0, "target_time": 0.0}
    return replace(result, **times, stopped="", target="", history=None, verdict=None)


@pytest.mark.parametrize("configurator", [*CONFIGURATORS, ParamHS(comparison=Growing(2, 10))])
def test_an_opened_result_is_the_one_that_tune_gave(tmp_path, configurator):
    path, result = stored(tmp_path, configurator=configurator)
    again = paramhs.open(path).result
    assert told(again) == told(result)
    assert again.history.races == result.history.races
    assert again.history.racing == result.history.racing
    assert list(again.history.runs) == list(result.history.runs)


def test_opening_changes_nothing_and_needs_no_target(tmp_path):
    path, result = stored(tmp_path)
    before = path.read_bytes()
    opened = paramhs.open(str(path))
    assert opened.space == result.best.space
    assert [run.task for run in opened.runs] == [run.task for run in result.runs]
    assert repr(opened.result).splitlines()[1:4] == repr(result).splitlines()[1:4]
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["runs.sqlite"]


def test_the_verdict_of_a_store_is_that_of_the_search(tmp_path):
    path, result = stored(tmp_path, test_instances={f"t{k}": k for k in range(6)})
    assert result.verdict
    assert paramhs.open(path).verdict == result.verdict


def test_a_store_without_a_verdict_says_so(tmp_path):
    path, _ = stored(tmp_path)
    verdict = paramhs.open(path).verdict
    assert not verdict
    assert "have not met yet" in verdict.reason


def test_a_configurator_of_ones_own_is_told_without_races(tmp_path):
    class Mine(ParamHS):
        pass

    path, result = stored(tmp_path, configurator=Mine())
    again = paramhs.open(path).result
    assert again.best == result.best
    assert len(again.runs) == len(result.runs)
    assert not again.history.races


@pytest.mark.parametrize("configurator", [ParamHS(), ParamRLS(), ParamILS(), Race()])
def test_a_configurator_is_what_it_says_that_it_is(configurator):
    described = json.loads(json.dumps(description(configurator)))
    assert configurator_of(described) == configurator


@pytest.mark.parametrize(
    "wrong",
    [None, 3, {}, {"kind": "Growing"}, {"kind": "mine:Search"}, {"kind": "ParamHS", "z": 1}],
)
def test_what_describes_no_configurator_is_refused(wrong):
    with pytest.raises(BadInput):
        configurator_of(wrong)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(StoreError, match="there is no store"):
        paramhs.open(tmp_path / "none.sqlite")


@pytest.mark.parametrize("kind", ["none", "preserving", "aggressive"])
def test_a_search_whose_runs_were_cut_short_is_played_again(tmp_path, kind):
    def run(self, task):
        seconds = 0.01 + abs(task.config["x"] - 15) / 10 + task.seed % 5 / 100
        if seconds > task.cutoff:
            late = Status.TIMEOUT if task.cutoff == 3.0 else Status.CAPPED
            return Run(task, late, task.cutoff)
        return Run(task, Status.OK, seconds)

    space = Space(SPACE)
    instances = tuple(Instance(name) for name in "abcd")
    scenario = Scenario(space, instances, Runtime(), 3.0, capping=Capping(kind))
    path = tmp_path / "runs.sqlite"
    target = type("Timed", (Target,), {"__call__": run, "describe": lambda self: {"kind": "t"}})()
    budget = Budget(runs=60)
    result = tune_scenario(
        scenario, target, ParamHS(), budget=budget, store=path, running=Running(executor="inline")
    )
    again = paramhs.open(path).result
    assert again.history.races == result.history.races != []
    assert told(again) == told(result)
    assert (kind != "none") == any(r.status is Status.CAPPED for r in result.runs)
