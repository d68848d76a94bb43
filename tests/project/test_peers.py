"""The comparison with other configurators: what is ours of it, with none of them installed."""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from benchmarks.laboratory.cases import Case, CountedWork
from benchmarks.peers.__main__ import searches
from benchmarks.peers.client import BudgetSpent
from benchmarks.peers.evaluating import Bench, identity, opened
from benchmarks.peers.random_search import Racing, pairs
from benchmarks.peers.rows import Row, add_rows, read_rows
from benchmarks.peers.serving import Failed, Found, Search
from benchmarks.peers.spaces import LEVELS, thinned, understood
from benchmarks.peers.tables import mean_cell, median_cell, table
from benchmarks.peers.tools import HERE, TOOLS, Irace, Job, OurScript, ParamILS, Tool, features
from paramhs import Space
from paramhs.core import Instance, Scenario
from paramhs.core.space import Boolean, Categorical, Config, Integer, Ordinal, Real
from paramhs.execution.targets import FunctionTarget

SPACE = Space(
    {
        "x": Integer(0, 9, default=9),
        "noise-level": Real(0.0, 1.0, levels=65, default=0.5),
        "far": Real(0.001, 1000.0, log=True, default=1.0),
        "on": Boolean(default=False),
        "kind": Categorical(["a", "b"]),
        "size": Ordinal([1, 2, 5, 10, -1], default=2),
    },
    conditions={"kind": "on == true"},
)


def work(config: dict[str, float], instance: int) -> float:
    return config["x"] * 10 + instance


def case(limit: float = 80.0) -> Case:
    instances = tuple(Instance(str(n), n) for n in range(6))
    scenario = Scenario(SPACE, instances[:4], CountedWork(limit), deterministic=True)
    return Case("toy", scenario, FunctionTarget(work), instances[4:])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with opened(case(), tmp_path / "cache" / "runs.sqlite") as bench:
        yield bench


@dataclass(frozen=True)
class Scripted(Tool):
    """A tool that is a few lines of Python."""

    code: str
    name: str = "scripted"

    def command(self, job: Job) -> Sequence[str]:
        head = f"import json, sys; sys.path.insert(0, {str(HERE)!r})\n"
        head += "from client import *; client = Client(json.load(open('job.json'))['port'])\n"
        return [sys.executable, "-I", "-S", "-c", head + self.code]


def searched(tool: Tool, bench: Bench, folder: Path, *marks: int) -> tuple[Found, list[str]]:
    log = folder / "log.csv"
    job = Job(bench.case, 1, max(marks), folder)
    found = Search(tool, bench, job, marks, log).found()
    return found, log.read_text(encoding="utf-8").splitlines()


class TestBudget:
    def test_ends_at_exactly_the_given_number_of_runs(self, bench: Bench, tmp_path: Path) -> None:
        endless = "for n in range(100): client.cost({'x': n % 10}, n % 4, 1)"
        found, log = searched(Scripted(endless), bench, tmp_path, 23)
        assert found.runs == len(log) == 23
        assert log[13].split(",")[1:] == ["1", "1", "31.0"]

    def test_notes_the_incumbent_when_a_run_beyond_the_mark_is_asked_for(
        self, bench: Bench, tmp_path: Path
    ) -> None:
        telling = """
for n in range(1, 9):
    client.cost({'x': 1}, 0, 1)
    client.tell_incumbent({'x': n})
"""
        found, _ = searched(Scripted(telling), bench, tmp_path, 3, 5, 50)
        assert {mark: best["x"] for mark, best in found.best.items()} == {3: 3, 5: 5, 50: 8}

    def test_one_that_says_nothing_returns_the_default(self, bench: Bench, tmp_path: Path) -> None:
        found, _ = searched(Scripted("pass"), bench, tmp_path, 5)
        assert (found.best, found.runs) == ({5: SPACE.default}, 0)

    def test_one_that_breaks_is_no_result(self, bench: Bench, tmp_path: Path) -> None:
        with pytest.raises(Failed, match="cannot go on"):
            searched(Scripted("sys.exit('cannot go on')"), bench, tmp_path, 5)

    def test_no_tool_reaches_a_test_instance(self, bench: Bench, tmp_path: Path) -> None:
        with pytest.raises(IndexError):
            searched(Scripted("client.cost({'x': 1}, 4, 1)"), bench, tmp_path, 5)


class TestRuns:
    def test_are_made_once(self, bench: Bench) -> None:
        config = SPACE.config(x=3)
        costs = [bench.cost(config, bench.case.scenario.instances[2], seed) for seed in (1, 2, 2)]
        assert (costs, bench.made) == ([32.0] * 3, 1)

    def test_over_the_limit_cost_ten_times_the_limit(self, bench: Bench) -> None:
        assert bench.cost(SPACE.default, bench.case.scenario.instances[0], 1) == 800.0

    def test_are_judged_on_all_test_instances(self, bench: Bench) -> None:
        assert bench.held_out(SPACE.config(x=2)) == 24.5

    def test_of_another_limit_are_others(self) -> None:
        assert identity(case()) == identity(case()) != identity(case(limit=70.0))


class TestSameSpace:
    def test_values_move_to_the_nearest_level(self) -> None:
        texts = {"noise-level": "0.5079", "far": "1.2", "x": "3", "on": "true", "size": "-1"}
        found = understood(SPACE, texts)
        assert (found["noise-level"], found["far"], found["x"]) == (0.515625, 1.24093776075, 3)
        assert (found["on"], found["kind"], found["size"]) == (True, "a", -1)

    def test_every_level_is_understood_as_itself(self) -> None:
        rng = Random(1)
        for config in (SPACE.sample(rng) for _ in range(50)):
            texts = {name: str(value) for name, value in config.items()}
            assert understood(SPACE, texts | {"on": texts["on"].lower()}) == config

    def test_what_is_not_active_does_not_count(self) -> None:
        assert understood(SPACE, {"kind": "b"}) == SPACE.default

    def test_lists_keep_ends_and_default(self) -> None:
        for name, parameter in thinned(SPACE).parameters.items():
            whole = SPACE.parameters[name]
            assert parameter.levels <= LEVELS
            assert parameter.default == whole.default
            assert parameter.value(0) == whole.value(0)
            assert parameter.value(parameter.levels - 1) == whole.value(whole.levels - 1)


class TestParamILS:
    tool = ParamILS("ParamILS", ())
    words = ("2", "", "80.0", "2147483647", "-1", "-x", "3", "-on", "true")

    def job(self, folder: Path) -> Job:
        return Job(case(), 1, 10, folder)

    def test_asks_for_runs_by_a_command(self, tmp_path: Path) -> None:
        asked = self.tool.request(self.job(tmp_path), self.words)
        assert asked == (2, -1, SPACE.config(x=3, on=True))

    @pytest.mark.parametrize(
        ("cutoff", "cost", "told"),
        [
            ("80.0", 32.0, "SAT, 32.0, 0, 0.0, -1"),
            ("20.0", 32.0, "TIMEOUT, 20.0, 0, 0.0, -1"),
            ("80.0", 800.0, "TIMEOUT, 80.0, 0, 0.0, -1"),
            ("80.0", None, "ABORT, 0.0, 0, 0.0, -1"),
        ],
    )
    def test_work_is_reported_up_to_the_cutoff(
        self, tmp_path: Path, cutoff: str, cost: float | None, told: str
    ) -> None:
        words = (*self.words[:2], cutoff, *self.words[3:])
        answer = self.tool.answer(self.job(tmp_path), words, cost)
        assert answer == f"Result for ParamILS: {told}"

    def test_reads_its_trajectory(self, tmp_path: Path) -> None:
        job = self.job(tmp_path)
        assert self.tool.incumbent(job) is None
        (tmp_path / "out").mkdir()
        lines = "\"Total Time\"\n0, 5, 1, 0, 0, noise-level='0.5', x='9'\n1, 4, 1, 1, 0, x='4'\n"
        (tmp_path / "out" / "focused-traj_1.csv").write_text(lines, encoding="utf-8")
        assert self.tool.incumbent(job) == SPACE.config(x=4)

    def test_its_program_talks_to_the_evaluator(self, bench: Bench, tmp_path: Path) -> None:
        @dataclass(frozen=True)
        class Calling(ParamILS):
            def command(self, job: Job) -> Sequence[str]:
                text = (job.folder / "scenario.txt").read_text(encoding="utf-8")
                program = text.split("\n")[0].removeprefix("algo = ")
                call = f'{program} 1 "" 80.0 2147483647 -1 -x 3 -kind a -on true'
                return ["bash", "-c", f"{call} >> said.txt; {call} >> said.txt"]

        found, _ = searched(Calling("calling", ()), bench, tmp_path, 1)
        said = (tmp_path / "said.txt").read_text(encoding="utf-8").splitlines()
        assert found.runs == 1
        assert [line.split()[3] for line in said] == ["SAT,", "ABORT,"]

    def test_its_files_have_lists_and_conditions(self, tmp_path: Path) -> None:
        self.tool.write(self.job(tmp_path), 1)
        lines = (tmp_path / "parameters.txt").read_text(encoding="utf-8").splitlines()
        assert "x {0, 2, 3, 4, 6, 8, 9} [9]" in lines
        assert "kind | on in {true}" in lines


class TestIrace:
    def test_starts_at_the_default_by_its_own_names(self, tmp_path: Path) -> None:
        Irace().write(Job(case(), 3, 40, tmp_path), 5)
        names, values = (tmp_path / "default.txt").read_text(encoding="utf-8").splitlines()
        assert names == "x noise_level far on kind size"
        assert values == '"9" "0.5" "1.0" "false" NA "2"'
        facts = (tmp_path / "job.txt").read_text(encoding="utf-8").splitlines()
        assert {"seed 3", "runs 40", "deterministic 1", "instances 4"} <= set(facts)

    def test_is_understood_by_them(self, tmp_path: Path) -> None:
        words = ["noise_level=0.25", "x=4", "on=false", "kind=NA"]
        found = Irace().understood(Job(case(), 1, 1, tmp_path), words)
        assert found == SPACE.config({"noise-level": 0.25, "x": 4})


class TestRandomSearch:
    def racing(self, budget: int) -> Racing:
        class Counting:
            left = budget

            def cost(self, config: Config, number: int, seed: int) -> float:
                if not self.left:
                    raise BudgetSpent
                self.left -= 1
                return work(dict(config), number)  # type: ignore[arg-type]

            def tell_incumbent(self, config: Config) -> None:
                pass

        rng = Random(1)
        return Racing(Counting(), pairs(4, True, rng), SPACE.default, rng)  # type: ignore[arg-type]

    def test_the_worse_leaves_after_its_first_run(self) -> None:
        racing = self.racing(7)
        racing.best = SPACE.config(x=2)
        for _ in range(4):
            racing.intensify()
        racing.challenge(SPACE.config(x=3))
        assert racing.client.left == 2  # type: ignore[attr-defined]
        assert racing.best["x"] == 2

    def test_survivors_were_run_on_all_pairs_of_the_best(self) -> None:
        racing = self.racing(100)
        for _ in range(6):  # of which two find no pair left
            racing.intensify()
        before = set(racing.known)
        racing.challenge(SPACE.config(x=1))
        assert racing.best["x"] == 1
        assert set(racing.known) == before
        assert len(before) == 4


class TestResults:
    def rows(self) -> list[Row]:
        found = [("ours", 0.5), ("theirs", 0.8)]
        return [
            Row("toy", "b", tool, seed, 300, 300, 10 * part * (1 + seed / 100), 10.0, 1.5, "x=1, 2")
            for tool, part in found
            for seed in (1, 2, 3)
        ]

    def test_are_continued_where_they_ended(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.csv"
        assert list(read_rows(file)) == []
        add_rows(file, self.rows()[:2])
        add_rows(file, self.rows()[2:])
        assert list(read_rows(file)) == self.rows()

    def test_the_best_is_bold(self) -> None:
        heading, _, line = table(self.rows(), mean_cell).splitlines()
        assert heading == "| scenario | runs | ours | theirs |"
        assert line == "| toy | 300 | **0.510 ± 0.003** | 0.816 ± 0.005 |"

    def test_a_tool_without_searches_has_no_number(self) -> None:
        rows = [*self.rows(), replace(self.rows()[0], runs=1_000)]
        assert table(rows, median_cell).splitlines()[-1] == "| toy | 1,000 | 0.505 of 1 | - |"

    def test_one_search_gives_all_marks_of_an_anytime_tool(self) -> None:
        assert list(searches(OurScript("any", ""), (300, 1_000))) == [(300, 1_000)]
        assert list(searches(Irace(), (300, 1_000))) == [(1_000,), (300,)]
        assert list(searches(TOOLS["SMAC3"], (300, 1_000))) == [(300,)]


def test_scripts_of_peers_need_only_what_is_required() -> None:
    required = re.findall(r"^(\w+)==", (HERE / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    for script in ("optuna_search.py", "smac_search.py", "client.py"):
        tree = ast.parse((HERE / script).read_text(encoding="utf-8"))
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        names = {alias.name for n in imports if isinstance(n, ast.Import) for alias in n.names}
        names |= {str(n.module) for n in imports if isinstance(n, ast.ImportFrom)}
        tops = {name.split(".")[0] for name in names} - sys.stdlib_module_names
        assert tops <= {"client", *required}, script


def test_features_are_the_sizes_of_a_formula(tmp_path: Path) -> None:
    file = tmp_path / "f.cnf"
    file.write_text("c made\np cnf 12 34\n1 0\n", encoding="ascii")
    assert features(Instance("f", file)) == [12.0, 34.0]
    assert features(Instance("g", 7)) == []
