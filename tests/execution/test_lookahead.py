"""Runs made early: they keep workers busy and change nothing."""

import math
from dataclasses import dataclass

import pytest

from benchmarks.studies.workers.virtual import VirtualDriver, VirtualWorkers
from paramhs.core.capping import Capping
from paramhs.core.costs import Runtime
from paramhs.core.random_streams import stream
from paramhs.core.runs import Run, Status, Target
from paramhs.core.scenario import Scenario
from paramhs.core.space import Space
from paramhs.execution.driver import Budget, LookAhead
from paramhs.execution.storage import MemoryStore
from paramhs.search import History
from paramhs.search.registry import CONFIGURATORS
from tests.support.driving import instances

SPACE = Space(
    {"x": range(20), "mode": ["a", "b"], "depth": range(6)}, conditions={"depth": "mode == 'b'"}
)
CUTOFF = 20.0
RUNS = 250


@dataclass(frozen=True)
class HeavyTailed(Target):
    """Times scatter by a factor of about four, and one configuration in ten is 50 times slower."""

    def __call__(self, task):
        x = stream(task.seed, *task.config.indices, task.instance.name)
        noise = math.exp(1.4 * (x.random() + x.random() - 1))
        slow = 50.0 if task.config.indices[0] % 10 == 7 else 1.0
        seconds = slow * noise * (1 + abs(task.config.indices[0] - 12) / 4)
        if seconds <= task.cutoff:
            return Run(task, Status.OK, seconds)
        return Run(task, Status.TIMEOUT, task.cutoff)


def searched(name, jobs, kind, seed):
    capping = Capping(kind)
    scenario = Scenario(SPACE, instances(12), Runtime(), CUTOFF, capping=capping)
    history, workers = History(scenario, seed), VirtualWorkers()
    driver = VirtualDriver(
        *(CONFIGURATORS[name].search(history), history, HeavyTailed(), MemoryStore()),
        *(Budget(runs=RUNS), workers, jobs),
    )
    driver.run()
    return driver, workers.now


@pytest.mark.parametrize("name", ["paramhs", "paramhs-plain", "paramils", "race"])
@pytest.mark.parametrize("kind", ["preserving", "none"])
@pytest.mark.parametrize("seed", range(2))
def test_any_number_of_workers_gives_the_same_runs_races_and_incumbents(name, kind, seed):
    alone, _ = searched(name, 1, kind, seed)
    for jobs in (2, 8, 64):
        together, _ = searched(name, jobs, kind, seed)
        assert together.record.runs == alone.record.runs
        assert together.history.races == alone.history.races
        assert [p.config for p in together.record.trajectory] == [
            p.config for p in alone.record.trajectory
        ]


def test_one_worker_makes_nothing_early():
    driver, _ = searched("paramhs", 1, "preserving", 0)
    assert driver.new_runs == driver.taken == RUNS


@pytest.mark.parametrize(("jobs", "faster"), [(2, 1.3), (8, 2.5)])
def test_workers_have_something_to_do(jobs, faster):
    times = [searched("paramhs", 1, "preserving", s)[1] for s in range(2)]
    shorter = [searched("paramhs", jobs, "preserving", s)[1] for s in range(2)]
    assert sum(times) > faster * sum(shorter)


def test_the_first_challengers_are_run_beside_the_default():
    scenario = Scenario(SPACE, instances(12), Runtime(), CUTOFF, capping=Capping("preserving"))
    history = History(scenario, 0)
    request = next(CONFIGURATORS["paramhs"].search(history))
    early = {task.config for task in LookAhead().tasks(request)}
    assert {task.config for task in request.tasks} == {SPACE.default}
    assert len(early - {SPACE.default}) >= 9
