"""The fewest changes that keep the gain: in Python, on the command line, and after a kill."""

import json
import os
import shutil
import signal
import sqlite3
from dataclasses import replace
from random import Random

import pytest

from paramhs import BadInput, Boolean, Space, load, simplify, tune
from paramhs.analysis.ablation import Simplified, changes_between
from paramhs.analysis.verdict import verdict
from paramhs.core.costs import Quality
from paramhs.core.runs import Instance, Pair, Run, Status, Task
from paramhs.execution.driver import Watcher
from paramhs.procedures.simplify import estimates, read_simplified
from paramhs.report.page import drawn_page
from paramhs.report.sections import ablated, ablated_first
from tests.support.children import eventually
from tests.support.command_line import begin, flat, paramhs

SPACE = Space({f"p{k}": Boolean() for k in range(8)})
EFFECTS = {"p1": 3.0, "p5": 1.7}


def cost(config, instance, seed):
    result = 10.0 * Random(f"{instance} {seed}").lognormvariate(0, 0.4)
    for name, ratio in EFFECTS.items():
        result /= ratio if config[name] else 1.0
    return result


INSTANCES = {f"i{k}": k for k in range(10)}
HELD_OUT = {f"t{k}": k for k in range(100, 110)}


@pytest.fixture(scope="module")
def result():
    """A search whose best changes more than it needs to."""
    found = tune(cost, SPACE, instances=INSTANCES, budget=400, test_instances=HELD_OUT)
    best = found.best.as_dict() | {"p1": True, "p5": True, "p0": True, "p7": True}
    last = found.trajectory[-1]._replace(config=SPACE.config(best))
    found.record.trajectory[-1] = last
    return found


def changed(config):
    return {change.name for change in changes_between(SPACE.default, config)}


def stored(path, record="search"):
    with sqlite3.connect(path) as db:
        query = "SELECT config, instance, seed FROM readable WHERE record = ?"
        return db.execute(query, (record,)).fetchall()


def without_ablation(path):
    with sqlite3.connect(path) as db:
        db.execute(
            "DELETE FROM runs WHERE record = (SELECT id FROM records WHERE name = 'ablation')"
        )


class TestSimplify:
    def test_only_the_changes_that_matter_are_left(self, result):
        found = simplify(cost, result, budget=200, test_instances=HELD_OUT)
        assert changed(found.config) == {"p1", "p5"}
        assert [c.name for c in found.changes] == ["p1", "p5"]
        assert found.kept == pytest.approx(1.0)
        first, second, *_ = found.ablation.steps
        assert first.ratio.estimate == pytest.approx(3.0)
        assert second.ratio.estimate == pytest.approx(1.7)
        assert second.total.estimate == pytest.approx(5.1)
        assert [step.count for step in found.ablation.steps][:2] == [1, 2]
        assert found.ablation.steps[-1].config == result.best
        assert found.ablation.runs <= 200

    def test_the_verdict_is_on_the_test_set_against_default_and_best(self, result):
        found = simplify(cost, result, budget=200, test_instances=HELD_OUT)
        assert found.verdict.conclusion == "better"
        assert found.verdict.on == "10 held-out instances"
        assert found.verdict.second.config == found.config
        assert found.against_best.first.config == result.best
        assert found.against_best.conclusion == "unclear"
        assert (found.verdict.comparisons, found.against_best.comparisons) == (2, 2)
        assert found.verdict_runs == 3 * found.verdict.first.runs

    def test_json_says_all_of_it(self, result):
        found = simplify(cost, result, budget=60)
        text = json.dumps(found.to_json(), allow_nan=False)
        assert Simplified.from_json(json.loads(text), SPACE) == found

    def test_number_of_jobs_changes_nothing_but_times(self, result):
        alone, together = (
            simplify(cost, result, budget=60, jobs=jobs).ablation.steps for jobs in (1, 2)
        )
        assert alone == together

    def test_where_the_best_is_no_better_the_default_is_kept(self, result):
        def same(config, instance, seed):
            return Random(f"{instance} {seed}").random()

        found = simplify(same, result, budget=60)
        assert (found.step, found.config, found.verdict) == (0, SPACE.default, None)

    def test_the_default_as_best_needs_no_runs(self, result):
        record = replace(result.record, trajectory=result.record.trajectory[:1])
        unchanged = replace(result, record=record)
        found = simplify(cost, unchanged, budget=60)
        assert (found.ablation.runs, found.ablation.steps) == (0, ())
        assert json.dumps(found.to_json(), allow_nan=False)

    def test_a_result_of_a_store_needs_its_instances_again(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        tune(cost, SPACE, instances=INSTANCES, budget=150, store=store)
        opened = load(store)
        with pytest.raises(BadInput, match="pass instances="):
            simplify(cost, opened, budget=40)
        with pytest.raises(
            BadInput, match="'i9' is an instance of the search, but was not passed in instances="
        ):
            simplify(cost, opened, budget=40, instances={f"i{k}": k for k in range(9)})
        found = simplify(cost, opened, budget=40, instances=INSTANCES)
        assert found.ablation.runs <= 40

    def test_a_deterministic_function_without_instances_has_no_verdict(self):
        def plain(config):
            return 4.0 / (3 if config["p1"] else 1) / (2 if config["p2"] else 1)

        searched = tune(plain, SPACE, budget=80)
        found = simplify(plain, searched, budget=40)
        assert changed(found.config) == {"p1", "p2"}
        assert found.verdict is None
        assert json.dumps(found.to_json(), allow_nan=False)

    def test_what_is_no_result_is_refused(self):
        with pytest.raises(BadInput, match="what tune returned"):
            simplify(cost, SPACE)

    def test_the_runs_lie_in_the_store_and_are_read_without_the_target(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        searched = tune(cost, SPACE, instances=INSTANCES, budget=300, store=store)
        before = stored(store)
        assert load(store).simplified is None
        found = simplify(cost, searched, budget=100, store=store)
        assert read_simplified(store, SPACE) == load(store).simplified == found
        own = stored(store, "ablation")
        assert len(own) == found.ablation.runs
        assert stored(store) == before
        assert not {seed for *_, seed in own} & {seed for *_, seed in before}

    def test_what_it_measured_comes_first_on_page_and_screen(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        searched = tune(cost, SPACE, instances=INSTANCES, budget=300, store=store)
        wrong = load(store)
        # An importance that is wrong, as an estimate may be: the last are made the first.
        wrong.__dict__["importance"] = wrong.importance[::-1]  # cached
        assert [one.name for one in ablated_first(wrong)] == [one.name for one in wrong.importance]
        assert ablated(wrong) == []
        found = simplify(cost, searched, budget=100, store=store)
        names = [change.name for step in found.ablation.steps for change in step.changes]
        assert wrong.simplified == found
        assert [one.name for one in ablated_first(wrong)][: len(names)] == names
        assert {*names} >= EFFECTS.keys()
        page = drawn_page(wrong).html
        assert page.index("The best for each number of changes") < page.index(
            "the ablation is more reliable"
        )
        shown = paramhs("show", store, cwd=tmp_path).stdout
        assert shown.index("changes that matter") < shown.index("importance of parameters")
        assert "which is more reliable" in shown

    def test_the_same_again_makes_no_run(self, tmp_path, result):
        store = tmp_path / "runs.sqlite"
        found = simplify(cost, result, budget=60, store=store)

        def broken(config, instance, seed):
            raise AssertionError

        broken.__name__, broken.__qualname__ = cost.__name__, cost.__qualname__
        again = simplify(broken, result, budget=60, store=store, accept_changed=True)
        assert again == found

    @pytest.mark.parametrize("after", [1, 30, 70])
    def test_an_interrupted_search_resumes_where_it_was(self, tmp_path, result, after):
        store = tmp_path / "runs.sqlite"

        class Impatient(Watcher):
            made = 0

            def ran(self, record, progress):
                self.made += 1
                if self.made == after:
                    signal.raise_signal(signal.SIGINT)

        options = {"budget": 60, "store": store, "test_instances": HELD_OUT}
        assert simplify(cost, result, watcher=Impatient(), **options) is None
        found = simplify(cost, result, **options)
        whole = simplify(cost, result, budget=60, test_instances=HELD_OUT)
        assert found.ablation.steps == whole.ablation.steps
        assert (found.verdict, found.against_best) == (whole.verdict, whole.against_best)


class TestEstimates:
    def test_they_are_those_of_a_verdict(self):
        import numpy as np

        rng = Random(1)
        pairs = [Pair(Instance(f"i{k % 8}"), k) for k in range(40)]
        first = [rng.lognormvariate(0, 1) for _ in pairs]
        second = [x * rng.lognormvariate(-0.5, 0.3) for x in first]
        gain, ratio = estimates(np.array(first), np.array(second), pairs, maximise=False)
        sides = [
            [
                Run(Task(SPACE.default, *pair), Status.OK, 0.1, x)
                for pair, x in zip(pairs, xs, strict=True)
            ]
            for xs in (first, second)
        ]
        exact = verdict(*sides, Quality())
        for mine, other in ((gain, exact.gain), (ratio, exact.ratio)):
            assert mine.estimate == pytest.approx(other.estimate)
            assert (mine.low, mine.high) == (other.low, other.high)


TARGET = """\
import os, time
from random import Random

def cost(config, instance, seed):
    time.sleep(float(os.environ.get("PAUSE", "0")))
    noise = Random(f"{instance} {seed}").lognormvariate(0, 0.3)
    return 10 * noise / (3 if config["a"] else 1) / (1.5 if config["b"] else 1)
"""
SCENARIO = """\
function = "target:cost"
instances = ["i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"]
test_instances = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"]
budget = {runs = 150}
jobs = 1
[space]
a = false
b = false
c = false
d = false
e = false
"""


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A folder with a search that is done."""
    path = tmp_path_factory.mktemp("tuned")
    (path / "target.py").write_text(TARGET, encoding="utf-8")
    (path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    assert paramhs("tune", "s.toml", "--json", cwd=path).returncode == 0
    return path


@pytest.fixture
def folder(tuned, tmp_path):
    return shutil.copytree(tuned, tmp_path / "copy")


def add_speculative_runs(path):
    """Runs of every configuration that was run, with costs that say that only e matters."""
    with sqlite3.connect(path) as db:
        configs = db.execute("SELECT id, key FROM configs").fetchall()
        row = "INSERT INTO runs SELECT record, ?, instance, seed + ?, cutoff, status, runtime, ?,"
        row += " detail, answer, others, NULL, session, finished, elapsed FROM runs WHERE asked = 0"
        for number, key in configs:
            quality = 1e6 if "e=true" in key else 1e-6
            db.executemany(row, [(number, 1_000 + k, quality) for k in range(20)])


class TestCommand:
    def test_store_or_scenario_and_what_it_prints(self, folder):
        message = paramhs("simplify", "s.sqlite", "--budget", 60, "--out", "c.json", cwd=folder)
        assert message.returncode == 0, message.stderr
        assert "gain kept" in message.stdout
        assert "Simplified is better" in flat(message.stdout)
        again = paramhs("simplify", "s.toml", "--budget", 60, "--json", cwd=folder)
        found = json.loads(again.stdout)
        assert found["config"] == json.loads((folder / "c.json").read_text(encoding="utf-8"))
        assert found["config"]["a"]
        assert found["ablation"]["runs"] <= 60
        assert found["verdict"]["conclusion"] == "better"

    def test_runs_of_idle_workers_change_nothing(self, folder):
        """With several jobs a store has runs that the search never asked for."""
        found = []
        for others in (False, True):
            if others:
                add_speculative_runs(folder / "s.sqlite")
            made = paramhs("simplify", "s.toml", "--budget", 60, "--json", cwd=folder)
            assert made.returncode == 0, made.stderr
            found.append(_without_times(made.stdout))
            without_ablation(folder / "s.sqlite")
        assert found[0] == found[1]

    def test_killed_and_run_again_it_ends_as_if_nothing_had_been(self, folder):
        """A real SIGKILL, in the midst of the ablation."""
        os.environ["PAUSE"] = "0.05"
        try:
            killed = begin("simplify", "s.toml", "--budget", "60", "--json", cwd=folder)
        finally:
            del os.environ["PAUSE"]
        store = folder / "s.sqlite"
        assert eventually(lambda: len(stored(store, "ablation")) >= 5)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        kept = set(stored(store, "ablation"))
        assert 5 <= len(kept) < 60
        resumed = paramhs("simplify", "s.toml", "--budget", 60, "--json", cwd=folder)
        assert resumed.returncode == 0, resumed.stderr
        assert set(stored(store, "ablation")) >= kept
        without_ablation(store)
        whole = paramhs("simplify", "s.toml", "--budget", 60, "--json", cwd=folder)
        assert _without_times(resumed.stdout) == _without_times(whole.stdout)

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (["none.sqlite"], "there is no"),
            (["none.toml"], "none.toml"),
            (["lost.sqlite"], "no scenario near lost.sqlite"),
            (["s.sqlite", "--store", "other.sqlite"], "is itself a store"),
            (["s.toml", "--out", "no/such/folder.json", "--budget", "20"], "cannot write"),
        ],
    )
    def test_bad_input_is_one_message(self, folder, words, problem):
        (folder / "lost.sqlite").write_bytes(b"SQLite format 3\0")
        message = paramhs("simplify", *words, cwd=folder)
        assert message.returncode in (2, 3)
        assert problem in flat(message.stderr)
        assert "Traceback" not in message.stderr


def _without_times(text):
    found = json.loads(text)
    return {**found, "ablation": {**found["ablation"], "target_time": 0}}
