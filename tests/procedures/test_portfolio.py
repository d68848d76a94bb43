"""Portfolios: the greedy choice, schedules, rounds of Hydra, verdicts and files."""

import json
import math
import subprocess
from itertools import combinations

import pytest

import paramhs
from paramhs.analysis.portfolio import Slice, find_schedule, in_parallel, in_turn
from paramhs.core.costs import Quality, Runtime
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance, Pair, Run, Status, Task
from paramhs.core.space import Space
from paramhs.formats.aslib import aslib_files
from paramhs.formats.portfolio_files import clasp_portfolio, is_clasp, shell_script
from paramhs.procedures.portfolio import winners

SPACE = Space({"x": range(20)})
TRAIN = [f"{family}{k}" for family in "ab" for k in range(8)]
TEST = [f"{family}{k}" for family in "ab" for k in range(8, 20)]


def cost(config, instance):
    """Two families that want opposite things."""
    want = 2 if instance.startswith("a") else 17
    return 1.0 + 0.3 * abs(config["x"] - want) + 0.01 * int(instance[1:])


@pytest.fixture(scope="module")
def found():
    return paramhs.tune(
        cost, {"x": paramhs.Integer(0, 19, default=9)}, instances=TRAIN, budget=120, seed=0
    )


def config(x):
    return SPACE.config({"x": x})


def run(x, name, seconds, status=Status.OK, quality=None, cutoff=10.0):
    return Run(Task(config(x), Instance(name), 1, cutoff), status, seconds, quality)


class TestChoice:
    def test_members_suit_different_families(self, found):
        both = paramhs.portfolio(found, cost, 2, runs=100, search=True)
        values = sorted(member["x"] for member in both.members)
        assert values[0] <= 6 < 13 <= values[1]
        assert both.gains[1] > 1.5
        assert {name[0] for name in both.rows[0].wins}.isdisjoint(
            {name[0] for name in both.rows[1].wins}
        )

    def test_the_first_member_is_the_best_single_configuration(self, found):
        assert paramhs.portfolio(found, cost, 2, runs=60).members[0] == found.best

    def test_a_member_beside_the_best_wins_on_some_instance(self, found):
        made = paramhs.portfolio(found, cost, 4, runs=200, search=True)
        assert all(row.wins for row in made.rows[1:])
        seconds = {0: (3.0, 3.0), 1: (2.0, 4.0), 2: (4.0, 1.0), 3: (2.5, 2.0)}
        members = {
            config(x): {
                Pair(Instance(name), 1): run(x, name, t)
                for name, t in zip("ab", times, strict=True)
            }
            for x, times in seconds.items()
        }
        assert list(winners(members, Runtime())) == [config(0), config(1), config(2)]

    def test_no_more_runs_are_made_than_allowed(self, found):
        assert paramhs.portfolio(found, cost, 3, runs=0).runs == 0
        made = paramhs.portfolio(found, cost, 3, runs=50, search=True)
        assert made.runs <= 50

    def test_greedy_keeps_sixty_three_percent_of_the_possible_gain(self, found):
        made = paramhs.portfolio(found, cost, 2, runs=2_000)
        assert len(made.members) == 2
        known = list(found.history.configs)

        def mean(*configs):
            return sum(min(cost(c, name) for c in configs) for name in TRAIN) / len(TRAIN)

        start = mean(found.best)
        possible = start - min(mean(found.best, *pair) for pair in combinations(known, 1))
        assert start - mean(*made.members) >= (1 - 1 / math.e) * possible

    def test_a_search_without_noise_and_one_optimum_has_no_portfolio(self):
        def one(config, instance):
            return 1.0 + config["x"]

        result = paramhs.tune(one, {"x": range(20)}, instances=TRAIN, budget=100)
        alone = paramhs.portfolio(result, one, 3, runs=100, search=True, test_instances=TEST)
        assert alone.members == (result.best,)
        assert "Keep the best" in alone.recommendation
        assert "3 members were asked for" in alone.why_fewer

    @pytest.mark.parametrize("size", [1, 21, "3", True])
    def test_a_wrong_size_is_refused(self, found, size):
        with pytest.raises(BadInput, match="2 to 20 members"):
            paramhs.portfolio(found, cost, size)


class TestVerdict:
    def test_a_portfolio_is_compared_with_the_best_and_the_default(self, found):
        made = paramhs.portfolio(found, cost, 2, runs=100, search=True, test_instances=TEST)
        assert set(made.verdicts) == {
            f"{how} against {whom}"
            for how in ("parallel", "sequential")
            for whom in ("best", "default")
        }
        assert {verdict.comparisons for verdict in made.verdicts.values()} == {4}
        told = made.verdicts["parallel against default"]
        expected = sum(cost(found.default, n) for n in TEST) / sum(
            min(cost(member, n) for member in made.members) for n in TEST
        )
        assert told.ratio.estimate == pytest.approx(expected)
        assert told.names == ("default", "portfolio")
        assert made.verdicts["sequential against best"].conclusion == "better"
        assert "take the time of all" in made.recommendation
        json.dumps(made.to_json(), allow_nan=False)


class TestParallel:
    def test_the_first_that_solves_ends_all(self):
        made = in_parallel([run(0, "i", 3.0), run(1, "i", 2.0)], Runtime())
        assert (made.runtime, made.task.config["x"]) == (2.0, 1)

    def test_a_crash_ends_nothing(self):
        made = in_parallel([run(0, "i", 0.1, Status.CRASHED), run(1, "i", 2.0)], Runtime())
        assert (made.status, made.runtime) == (Status.OK, 2.0)

    def test_a_wrong_answer_that_comes_first_is_the_portfolios(self):
        wrong = run(0, "i", 1.0, Status.WRONG)
        assert in_parallel([wrong, run(1, "i", 2.0)], Runtime()).status is Status.WRONG
        assert in_parallel([wrong, run(1, "i", 0.5)], Runtime()).status is Status.OK

    def test_the_best_quality_takes_as_long_as_the_slowest(self):
        made = in_parallel(
            [run(0, "i", 3.0, quality=1.0), run(1, "i", 9.0, quality=2.0)], Quality()
        )
        assert (made.quality, made.runtime) == (1.0, 9.0)


class TestSchedule:
    def test_slices_are_spent_one_after_the_other(self):
        plan = (Slice(config(0), 2.0), Slice(config(1), 8.0))
        runs = {config(0): run(0, "i", 9.0), config(1): run(1, "i", 3.0)}
        assert in_turn(plan, runs, Runtime()).runtime == 5.0
        runs[config(1)] = run(1, "i", 10.0, Status.TIMEOUT)
        assert in_turn(plan, runs, Runtime()).status is Status.TIMEOUT

    def test_a_crash_frees_the_rest_of_its_slice(self):
        plan = (Slice(config(0), 2.0), Slice(config(1), 8.0))
        runs = {config(0): run(0, "i", 0.5, Status.CRASHED), config(1): run(1, "i", 3.0)}
        assert in_turn(plan, runs, Runtime()).runtime == 3.5

    def test_a_member_that_is_fast_where_it_solves_comes_first(self):
        members = {config(0): {}, config(1): {}}
        for k in range(10):
            pair = Pair(Instance(f"i{k}"), 1)
            fast = k < 5
            late = Status.OK if not fast else Status.TIMEOUT
            members[config(0)][pair] = run(0, pair.instance, 0.1 if fast else 10.0, Status.OK)
            members[config(1)][pair] = run(1, pair.instance, 10.0 if fast else 4.0, late)
        plan = find_schedule(members, Runtime(), 10.0)
        assert [part.config["x"] for part in plan] == [0, 1]
        assert plan[0].seconds < 1
        assert sum(part.seconds for part in plan) == pytest.approx(10.0)

    def test_no_slice_is_cut_where_the_first_member_alone_is_as_good(self):
        pairs = [Pair(Instance(f"i{k}"), 1) for k in range(6)]
        members = {config(x): {p: run(x, p.instance, 1.0 + x) for p in pairs} for x in range(3)}
        assert find_schedule(members, Runtime(), 10.0) == (Slice(config(0), 10.0),)

    def test_a_quality_has_no_slices(self):
        assert find_schedule({config(0): {}, config(1): {}}, Quality(), 10.0) == ()


SCENARIO = """\
command = "sh solver.sh {mode} {instance}"
instances = ["easy-1", "easy-2", "easy-3", "hard-1", "hard-2", "hard-3"]
test_instances = ["easy-4", "easy-5", "easy-6", "easy-7", "hard-4", "hard-5", "hard-6", "hard-7"]
cost = "runtime"
cutoff = 5
deterministic = true
read = {time_regex = "time (.*)"}
[space]
mode = ["slow", "easy", "hard"]
[budget]
runs = 40
"""
SLOPE = """\
command = "sh -c 'echo $(({x} + {instance}))'"
read = "last number"
cost = "minimise"
deterministic = true
cutoff = 5
instances = ["1", "2", "3", "4", "5", "6", "7", "8"]
[space]
x = {type = "integer", low = 1, high = 100000, default = 90000, log = true}
[budget]
runs = 24
"""
SOLVER = """\
case $1 in slow) t=2;; *) case $2 in *$1*) t=0.5;; *) t=4;; esac;; esac
echo "time $t"
echo "solved $2 by $1"
"""


@pytest.fixture
def stored(tmp_path, run_cli):
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    (tmp_path / "solver.sh").write_text(SOLVER)
    assert run_cli("tune", "scenario.toml", "--no-report").returncode == 0
    return tmp_path


@pytest.fixture
def run_cli(tmp_path):
    def call(*words):
        import sys

        line = [sys.executable, "-m", "paramhs", *words]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


@pytest.mark.forks
class TestCommand:
    def test_a_store_becomes_a_portfolio_with_files(self, stored, run_cli):
        (stored / "features.csv").write_text(
            "instance,size\n"
            + "".join(f"{k}-{n},{n}\n" for k in ("easy", "hard") for n in (1, 2, 3))
        )
        words = ("-k", "3", "--runs", "20", "--out", "out", "--aslib", "features.csv", "--json")
        done = run_cli("portfolio", "scenario.sqlite", *words)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        modes = {member["config"]["mode"] for member in told["members"]}
        assert {"easy", "hard"} <= modes
        assert told["verdicts"]["parallel against best"]["ratio"]["estimate"] == pytest.approx(4)
        script = stored / "out" / "portfolio.sh"
        for mode in ("parallel", "schedule"):
            line = ["bash", str(script), mode, "hard-9"]
            ran = subprocess.run(line, cwd=stored, capture_output=True, text=True, check=False)
            assert (ran.returncode, "solved hard-9" in ran.stdout) == (0, True), ran.stderr
        assert (stored / "out" / "aslib" / "algorithm_runs.arff").exists()
        again = json.loads(run_cli("portfolio", "scenario.sqlite", *words).stdout)
        assert again["members"] == told["members"], "the same runs, from the store"

    def test_it_is_printed_for_people(self, stored, run_cli):
        done = run_cli("portfolio", "scenario.toml", "--runs", "20")
        assert "portfolio of" in done.stdout
        assert "schedule on one core" in done.stdout
        assert "p =" in done.stdout

    def test_a_smaller_budget_names_one_best(self, tmp_path, run_cli):
        (tmp_path / "slope.toml").write_text(SLOPE)
        bests = []
        for runs in ("120", "40"):
            words = ("tune", "slope.toml", "--portfolio", "2", "--runs", runs, "--no-report")
            done = run_cli(*words, "--json")
            assert done.returncode == 0, done.stderr
            told = json.loads(done.stdout)
            bests.append(told["best"])
            assert told["portfolio"]["members"][0]["config"] == told["best"]
        assert bests[0] != bests[1], "the runs of the larger budget are still in the store"

    def test_a_script_names_what_is_missing(self, stored, run_cli):
        run_cli("portfolio", "scenario.sqlite", "--runs", "20", "--out", "out")
        line = ["bash", str(stored / "out" / "portfolio.sh"), "both", "easy-1"]
        ran = subprocess.run(line, cwd=stored, capture_output=True, text=True, check=False)
        assert ran.returncode == 2
        assert "parallel or schedule" in ran.stderr


class TestFiles:
    def portfolio(self, *commands):
        from paramhs.analysis.portfolio import Portfolio

        members = tuple(config(k) for k in range(len(commands)))
        return Portfolio(members, (), (), (), 1, 0, {}, commands, Runtime())

    def test_words_of_a_command_stay_words(self):
        text = shell_script(
            self.portfolio("solve '--x=a b; rm' INSTANCE.cnf --seed=SEED", "solve"), (0,), 5, "p.sh"
        )
        assert (
            """timeout --foreground "$2" solve '--x=a b; rm' "$INSTANCE".cnf --seed="$SEED";;"""
            in text
        )

    def test_a_member_without_an_answer_ends_nothing(self, tmp_path):
        made = self.portfolio("sh -c 'echo unknown'", "sh -c 'sleep 0.2; echo sat'")
        script = tmp_path / "p.sh"
        script.write_text(shell_script(made, (0,), 30, "p.sh"))
        told = subprocess.run(
            ["bash", script, "parallel", "i"], capture_output=True, text=True, check=True
        )
        assert told.stdout == "sat\n"

    def test_a_function_has_no_script(self):
        with pytest.raises(BadInput, match="function"):
            shell_script(self.portfolio("", ""), (0,), 5, "p.sh")

    def test_clasps_file_has_a_line_of_options_for_each_member(self):
        made = self.portfolio("clasp INSTANCE --quiet=2 --heuristic=Vsids", "clasp --restarts=no")
        assert is_clasp(made)
        expected = "[paramhs0]: --heuristic=Vsids\n[paramhs1]: --restarts=no\n"
        assert clasp_portfolio(made) == expected
        assert not is_clasp(self.portfolio("kissat INSTANCE"))

    def test_a_selector_loads_the_export_and_learns_from_it(self, tmp_path):
        reader = pytest.importorskip("asf.scenario.aslib_reader")
        if not reader.ASLIB_AVAILABLE:
            pytest.skip("asf without its extra aslib")
        names = [f"it's {k}" for k in range(20)]
        runs = [
            run(x, name, 1.0 if (k % 2 == x) else 9.0)
            for k, name in enumerate(names)
            for x in (0, 1)
        ]
        features = {name: {"parity": float(k % 2), "size": 1.0} for k, name in enumerate(names)}
        files = aslib_files("two", [config(0), config(1)], runs, features, Runtime(), 10.0)
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        read = reader.read_aslib_scenario(str(tmp_path))
        frames = [one for one in read if hasattr(one, "columns")]
        assert any(list(frame.columns) == ["member0", "member1"] for frame in frames)
        assert any({"parity", "size"} <= set(frame.columns) for frame in frames)

    def test_an_instance_without_features_is_refused(self):
        with pytest.raises(BadInput, match="no features"):
            aslib_files("two", [config(0)], [run(0, "i", 1.0)], {}, Runtime(), 10.0)
