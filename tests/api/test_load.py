"""A store opened in Python, without the target."""

import json

import pytest

import paramhs
from paramhs import Budget, Space, tune
from paramhs.api.tune import tune_scenario
from paramhs.core import Instance, Run, Runtime, Scenario, Status, Target
from paramhs.core.capping import Capping
from paramhs.core.description import description
from paramhs.core.errors import BadInput, StoreError
from paramhs.execution.settings import Running
from paramhs.execution.storage.load import read_record
from paramhs.search import Growing, IteratedRace, ParamHS, ParamILS, ParamRLS
from paramhs.search.registry import CONFIGURATORS, rebuilt

SPACE = {"x": range(20), "mode": ["a", "b"]}


def noisy(config, instance, seed):
    return (config["x"] - 15) ** 2 + instance + (seed % 7) + (config["mode"] == "a")


def stored(folder, **options):
    given = {"instances": {f"i{k}": k for k in range(6)}, "budget": 83, "seed": 1}
    path = folder / "runs.sqlite"
    return path, tune(noisy, SPACE, store=path, **{**given, **options})


def told(result):
    """All of a result but its verdict and its sessions."""
    seconds = {"target_time": 0.0, "wall_time": 0.0, "verdict": None, "recommendation": ""}
    record = result.record
    elapsed = [round(seconds, 6) for seconds in record.elapsed]
    facts = (record.target, record.ending, record.speculative, record.sessions, elapsed)
    return {**result.to_json(), **seconds}, facts


@pytest.mark.parametrize("configurator", [*CONFIGURATORS, ParamHS(comparison=Growing(2, 10))])
def test_an_opened_result_is_the_one_that_tune_gave(tmp_path, configurator):
    path, result = stored(tmp_path, configurator=configurator)
    again = paramhs.load(path)
    assert told(again) == told(result)
    assert again.history.races == result.history.races
    assert list(again.history.runs) == list(result.history.runs)


def test_a_store_says_why_its_search_stopped(tmp_path):
    path, result = stored(tmp_path)
    read = read_record(path)
    assert read.ending.stopped == result.stopped != ""
    assert read.history.races == result.history.races != []


def test_a_store_of_a_search_that_was_killed_gives_no_reason(tmp_path):
    def killed(config, instance, seed):
        if config["x"] == 12:
            raise KeyboardInterrupt
        return noisy(config, instance, seed)

    path = tmp_path / "runs.sqlite"
    with pytest.raises(KeyboardInterrupt):
        tune(killed, SPACE, store=path, budget=1000, instances={f"i{k}": k for k in range(6)})
    assert read_record(path).ending.stopped == ""


def test_opening_changes_nothing_and_needs_no_target(tmp_path):
    path, result = stored(tmp_path)
    before = path.read_bytes()
    opened = paramhs.load(str(path))
    assert opened.space == result.best.space
    assert [run.task for run in opened.runs] == [run.task for run in result.runs]
    assert repr(opened).splitlines()[1:4] == repr(result).splitlines()[1:4]
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["runs.sqlite"]


def test_the_verdict_of_a_store_is_that_of_the_search(tmp_path):
    path, result = stored(tmp_path, test_instances={f"t{k}": k for k in range(6)})
    assert result.verdict
    assert paramhs.load(path).verdict == result.verdict


def test_a_store_without_a_verdict_says_so(tmp_path):
    path, _ = stored(tmp_path)
    verdict = paramhs.load(path).verdict
    assert not verdict
    assert "no test instances" in verdict.reason


def test_a_store_keeps_the_races_of_a_configurator_that_cannot_be_rebuilt(tmp_path):
    class Mine(ParamHS):
        pass

    path, result = stored(tmp_path, configurator=Mine())
    again = paramhs.load(path)
    assert again.best == result.best
    assert len(again.runs) == len(result.runs)
    assert again.history.races == result.history.races != []


@pytest.mark.parametrize("configurator", [ParamHS(), ParamRLS(), ParamILS(), IteratedRace()])
def test_a_configurator_is_rebuilt_from_its_description(configurator):
    described = json.loads(json.dumps(description(configurator)))
    assert rebuilt(described) == configurator


@pytest.mark.parametrize(
    "wrong",
    [None, 3, {}, {"kind": "Growing"}, {"kind": "mine:Search"}, {"kind": "ParamHS", "z": 1}],
)
def test_what_describes_no_configurator_is_refused(wrong):
    with pytest.raises(BadInput):
        rebuilt(wrong)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(StoreError, match="there is no store"):
        paramhs.load(tmp_path / "none.sqlite")


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
    again = paramhs.load(path)
    assert again.history.races == result.history.races != []
    assert told(again) == told(result)
    assert (kind != "none") == any(r.status is Status.CAPPED for r in result.runs)
