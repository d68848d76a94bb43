"""Answers of runs: recognised, compared with the default's, stored and shown."""

import html
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paramhs
from paramhs.analysis.solved_runs import NO_ANSWER, NONE_RETURNED
from paramhs.api.export import export_table
from paramhs.core.answers import NO_ANSWERS, agreement, is_answer, normal
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.runs import FAILURES, TIMEOUTS, Status
from paramhs.execution.driver import Watcher
from paramhs.execution.storage.stats import summary
from paramhs.execution.targets.command.answers import (
    AnswerKey,
    AnswerPattern,
    Conventions,
    recogniser_from,
    solved_from,
)
from paramhs.search.judge import Judge

find = Conventions().find

# Recognising.


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("c hello\ns SATISFIABLE\nv 1 -2 0\n", "sat"),
        ("s UNSATISFIABLE\r\n", "unsat"),
        ("s UNKNOWN\n", "unknown"),
        ("c s SATISFIABLE\n", None),
        ("s SATISFIABLE or not\n", None),
        ("s SATISFIABLE\nrestart\ns SATISFIABLE\n", "sat"),
        ("s UNSATISFIABLE\nrestart\ns SATISFIABLE\n", "unknown"),
        ("SATISFIABLE\nUNSATISFIABLE\n", "unknown"),
        ("o 14\no 12\ns OPTIMUM FOUND\n", 12.0),
        ("o 0\ns OPTIMUM FOUND\n", 0.0),
        ("INDETERMINATE\n", "unknown"),
        ("sat\n", "sat"),
        ("(error)\nunknown\n", "unknown"),
        ("timeout\n", "timeout"),
        ("sat\nunsat\nsat\n", "sat unsat sat"),
        ("sat\nunknown\nsat\n", "unknown"),
        ("it is sat\n", None),
        ("Optimization: 9\nOptimization : 2\nOPTIMUM FOUND\nOptimization : 2\n", 2.0),
        ("OPTIMUM FOUND\nOptimization : 2 5\n", "2 5"),
        ("x = 1\n----------\n", "sat"),
        ("x = 1\n----------\n==========\n", "optimal"),
        ("=====UNSATISFIABLE=====\n", "unsat"),
        ("=====UNKNOWN=====\n", "unknown"),
        ("Result - Optimal solution found\n\nObjective value:                8.0\n", 8.0),
        ("Result - Stopped on time limit\n\nObjective value:          1762.0\n", "timeout"),
        ("Problem is infeasible - 0.00 seconds\n", "infeasible"),
        ("Result - Linear relaxation unbounded\n", "unbounded"),
        ("+  2: mip =   8.0e+00 >=   tree is empty\nINTEGER OPTIMAL SOLUTION FOUND\n", 8.0),
        ("OPTIMAL LP SOLUTION FOUND\nTIME LIMIT EXCEEDED; SEARCH TERMINATED\n", "timeout"),
        ("*  5: obj =   6.8e+02 inf =   0.0\nOPTIMAL LP SOLUTION FOUND\n", 680.0),
        ("*  5: obj =   6.8e+02 inf =   0.0\nOPTIMAL LP SOLUTION FOUND\n"
         "Integer optimization begins...\n", "unknown"),
        ("*  5: obj =   6.8e+02 inf =   0.0\nOPTIMAL LP SOLUTION FOUND\n"
         "Integer optimization begins...\n+  9: mip =   6.5e+02 <=   6.8e+02   3.0%\n"
         "RELATIVE MIP GAP TOLERANCE REACHED; SEARCH TERMINATED\n", "sat"),
        ("PROBLEM HAS NO PRIMAL FEASIBLE SOLUTION\n", "infeasible"),
        ("LP HAS UNBOUNDED PRIMAL SOLUTION\n", "unbounded"),
        ("Model status        : Optimal\nObjective value     :  2.5e+00\n", 2.5),
        ("  Status            Optimal\n  Primal bound      8\n", 8.0),
        ("  Status            Time limit reached\n  Primal bound      8\n", "timeout"),
        ("  Status            Primal infeasible or unbounded\n", "infeasible or unbounded"),
        ("SCIP Status        : problem is solved [optimal solution found]\n"
         "Primal Bound       : +8.00000000000000e+00 (2 solutions)\n", 8.0),
        ("SCIP Status        : solving was interrupted [time limit reached]\n", "timeout"),
        ("SCIP Status        : problem is solved [infeasible]\n", "infeasible"),
        ("status: OPTIMAL\nobjective: 8\n", 8.0),
        ("status: FEASIBLE\nobjective: 8\n", "sat"),
        ("", None),
        ("42 bytes written\n", None),
    ],
)  # fmt: skip
def test_conventions(output, answer):
    assert find(output) == answer


@given(st.text())
def test_any_output_can_be_searched(output):
    answer = find(output)
    assert answer is None or isinstance(answer, str | float)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")), st.sampled_from("a 0"))
def test_what_stands_before_and_after_an_answer_does_not_matter(noise, letter):
    text = f"noise {noise}{letter}"
    assert find(f"{text}\ns SATISFIABLE\n{text}\n") == "sat"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_exactly(number):
    assert find(f"Result - Optimal solution found\nObjective value: {number!r}\n") == number


SMT = "(declare-const x Int)(assert (> x 2)){}(check-sat)"
LP = "Minimize\n obj: 3 x + 2 y\nSubject To\n c1: x + y >= {}\nBounds\n x <= 10\n y <= 10\n"
LP += "General\n x y\nEnd\n"
CNF = "p cnf 1 {}\n1 0\n{}"
REAL = [
    (["z3", "FILE"], "smt2", SMT.format(""), "sat"),
    (["z3", "FILE"], "smt2", SMT.format("(assert (< x 1))"), "unsat"),
    (["z3", "rlimit=10", "FILE"], "smt2", SMT.format(""), "unknown"),
    (["minisat", "FILE"], "cnf", CNF.format(1, ""), "sat"),
    (["cadical", "FILE"], "cnf", CNF.format(2, "-1 0\n"), "unsat"),
    (["clasp", "FILE"], "cnf", CNF.format(2, "-1 0\n"), "unsat"),
    (["clingo", "FILE"], "lp", "{a;b}. :- not a, not b. #minimize{3:a; 2:b}.", 2.0),
    (["cbc", "FILE", "solve"], "lp", LP.format(3.5), 8.0),
    (["cbc", "FILE", "solve"], "lp", LP.format(35), "infeasible"),
    (["glpsol", "--lp", "FILE"], "lp", LP.format(3.5), 8.0),
    (["glpsol", "--lp", "FILE"], "lp", LP.format(35), "infeasible"),
]


@pytest.mark.parametrize(("words", "suffix", "text", "answer"), REAL)
def test_real_solvers(tmp_path, words, suffix, text, answer):
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]} here")
    file = tmp_path / f"a.{suffix}"
    file.write_text(text)
    made = subprocess.run(
        [str(file) if word == "FILE" else word for word in words],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert find(made.stdout) == answer


def test_what_the_user_says():
    assert AnswerPattern(r"cost (\S+)").find("cost 3\ncost 4.50\n") == 4.5
    assert AnswerPattern(r"cost (\S+)").find("nothing") is None
    assert AnswerKey("a.b").find('{"a": {"b": "UNSAT"}}\n') == "unsat"
    assert AnswerKey("a.b").find('{"a": 3}\n') is None
    assert recogniser_from({"json": "x"}) == AnswerKey("x")
    for bad in ({"regexp": "x"}, {"regex": "("}, {"regex": "(a)(b)"}, "x"):
        with pytest.raises(BadInput):
            recogniser_from(bad)
    assert solved_from(["SAT", "unsat"]).answers == ("sat", "unsat")
    assert solved_from([0, 10]).codes == (0, 10)
    for bad in ([], ["sat", 0], {"regexp": "x"}, 3.5):
        with pytest.raises(BadInput):
            solved_from(bad)


# Comparing.


@pytest.mark.parametrize(
    ("answer", "reference", "found"),
    [
        ("sat", "sat", "same"),
        ("sat", "unsat", "contradiction"),
        ("unsat", "infeasible", "same"),
        ("sat", "optimal", "weaker"),
        ("sat", 12.0, "weaker"),
        (12.0, "optimal", "same"),
        (12.0, "infeasible", "contradiction"),
        (12.0, 12.001, "same"),
        (12.0, 12.01, "contradiction"),
        ("infeasible or unbounded", "infeasible", "weaker"),
        ("infeasible", "infeasible or unbounded", "same"),
    ],
)
def test_agreement(answer, reference, found):
    assert agreement(answer, reference) == found


ANSWERS = st.sampled_from(["sat", "unsat", "optimal", "infeasible", "unbounded"]) | st.floats(-9, 9)


@given(ANSWERS, ANSWERS)
def test_a_contradiction_is_one_both_ways(first, second):
    both = [agreement(first, second), agreement(second, first)]
    assert both.count("contradiction") in (0, 2)
    assert agreement(first, first) == "same"


def test_words_are_normal():
    assert normal("SATISFIABLE") == normal("Sat") == "sat"
    assert normal(" 12.50 ") == 12.5
    assert normal("My Answer") == "My Answer"
    assert not any(map(is_answer, (*NO_ANSWERS, None)))


# In a search. `quick` makes the solver give up, or lie, at once.

SOLVER = """
import sys, time
quick, instance = sys.argv[1:3]
if quick == "unknown":
    print("unknown")
elif quick == "wrong":
    print("unsat")
elif quick == "nothing":
    print("done")
else:
    until = time.process_time() + 0.03 * int(quick)
    while time.process_time() < until: pass
    print("sat")
"""
VALUES = ["8", "6", "unknown", "wrong", "nothing"]
INSTANCES = [f"i{k}" for k in range(6)]


@pytest.fixture
def solver(tmp_path):
    path = tmp_path / "solver.py"
    path.write_text(SOLVER)
    return f"{sys.executable} {path} {{quick}} {{instance}}"


def space(values=VALUES):
    return {"quick": paramhs.Categorical(values, default=values[0])}


def by_value(result):
    return {run.task.config["quick"]: run.status for run in result.runs}


@pytest.mark.parametrize("how", [{}, {"jobs": 3}, {"capping": "none"}])
def test_a_solver_that_gives_up_at_once_does_not_win(solver, tmp_path, how):
    result = paramhs.tune(
        paramhs.Command(solver), space(), instances=INSTANCES, cost="runtime", cutoff=5.0,
        budget=60, store=tmp_path / "s.sqlite", **how,
    )  # fmt: skip
    assert result.best["quick"] in ("8", "6")
    statuses = by_value(result)
    assert statuses.get("unknown", Status.UNSOLVED) is Status.UNSOLVED
    assert statuses.get("nothing", Status.UNSOLVED) is Status.UNSOLVED
    assert statuses.get("wrong", Status.WRONG) is Status.WRONG
    assert {"unknown", "nothing", "wrong"} & statuses.keys()
    again = paramhs.load(tmp_path / "s.sqlite")
    assert by_value(again) == statuses
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db:
        stored = db.execute(
            "SELECT config, status FROM readable WHERE asked IS NOT NULL"
        ).fetchall()
    assert {c.removeprefix("quick=").strip('"'): s for c, s in stored} == {
        value: status.value for value, status in statuses.items()
    }


def test_a_search_with_answers_resumes_as_it_was(solver, tmp_path):
    def tuned(budget, store):
        return paramhs.tune(
            paramhs.Command(solver), space(), instances=INSTANCES, cost="runtime", cutoff=5.0,
            budget=budget, store=tmp_path / store,
        )  # fmt: skip

    for budget in (3, 7, 12, 20):
        result = tuned(budget, "s.sqlite")
    assert result.best["quick"] in ("8", "6")


def answering(answers):
    def f(config, instance):
        return paramhs.Answered(answers(config["x"], instance), cost=float(config["x"]))

    return f


def test_the_default_is_run_first_wherever_answers_are_compared():
    result = paramhs.tune(
        answering(lambda x, i: "unsat" if x < 4 else "sat"),
        {"x": paramhs.Integer(0, 9, default=9)}, instances=INSTANCES, budget=200,
    )  # fmt: skip
    assert result.best["x"] == 4
    met = set()
    for run in result.runs:
        instance = run.task.instance
        if run.task.config == result.default:
            met.add(instance)
        assert instance in met
    assert {run.status for run in result.runs if run.task.config["x"] < 4} == {Status.WRONG}


def test_without_answers_nothing_is_added():
    space_ = {"x": paramhs.Integer(0, 9, default=9)}
    plain = paramhs.tune(lambda c, i: float(c["x"]), space_, instances=INSTANCES, budget=60)
    none = paramhs.tune(answering(lambda x, i: None), space_, instances=INSTANCES, budget=60)
    assert [r.task for r in plain.runs] == [r.task for r in none.runs]


def test_an_incumbent_that_answers_wrongly_later_is_none_any_more():
    """Only the last instances show it."""

    def answers(x, instance):
        return 1.0 if x == 0 and instance in INSTANCES[3:] else 2.0

    for seed in range(5):
        result = paramhs.tune(
            answering(answers), {"x": paramhs.Integer(0, 3, default=3)}, instances=INSTANCES,
            budget=40, seed=seed,
        )  # fmt: skip
        wrong = {r.task.config for r in result.runs if r.status is Status.WRONG}
        assert result.best not in wrong


def test_numbers_are_compared_with_a_tolerance():
    def best(tolerance):
        return paramhs.tune(
            answering(lambda x, i: 100.0 + (x < 5)), {"x": paramhs.Integer(0, 9, default=9)},
            instances=INSTANCES, budget=100, answer_tolerance=tolerance,
        ).best["x"]  # fmt: skip

    assert (best(None), best(0.1)) == (5, 0)


def test_where_the_default_has_no_answer_the_first_is_the_reference():
    result = paramhs.tune(
        answering(lambda x, i: "unknown" if x == 9 else "sat" if x > 4 else "unsat"),
        {"x": paramhs.Integer(0, 9, default=9)}, instances=["a"], budget=60,
    )  # fmt: skip
    said = {r.answer for r in result.runs if r.status is Status.OK} - {"unknown"}
    assert len(said) == 1
    assert any(r.status is Status.WRONG for r in result.runs)


@pytest.mark.parametrize(
    ("default", "second"),
    [
        ((Status.TIMEOUT, None), Status.UNSOLVED),
        ((Status.OK, "sat"), Status.UNSOLVED),
        ((Status.OK, None), Status.OK),  # this solver's answers are not recognised
    ],
)
def test_silence_is_no_answer_once_any_configuration_has_answered(default, second):
    """Not even where the default never ends: nothing can be told by its answers there."""
    configs = paramhs.Space({"x": paramhs.Integer(0, 2, default=0)})
    place = paramhs.core.Instance("a")
    scenario = paramhs.core.Scenario(configs, (place,), paramhs.core.Runtime(), cutoff=5.0)
    judge = Judge(scenario, configs.default)

    def run(x, status, answer):
        task = paramhs.core.Task(configs.config({"x": x}), place, 1, 5.0)
        judged = judge(paramhs.core.Run(task, status, 1.0, None, "", answer))
        judge.note(judged)
        return judged.status

    run(0, *default)
    assert run(1, Status.OK, "sat") is Status.OK
    assert run(2, Status.OK, None) is second


def test_a_default_that_is_wrong_stops_the_search(solver):
    command = paramhs.Command(solver, expected={"i3": "unsat"})
    with pytest.raises(
        TargetError, match="the default configuration gave a wrong answer"
    ) as caught:
        paramhs.tune(
            command, space(["1", "2"]), instances=INSTANCES, cost="runtime", cutoff=5.0, budget=90
        )
    assert "WRONG ANSWER: sat, but i3 is unsat" in str(caught.value)


def test_expected_answers_come_from_a_file_too(solver, tmp_path):
    (tmp_path / "right.txt").write_text("# known\ni0 SAT\ni1 satisfiable\n")
    command = paramhs.Command(solver, expected=tmp_path / "right.txt")
    result = paramhs.tune(
        command, space(["1", "wrong"]), instances=INSTANCES[:2], cost="runtime", cutoff=5.0,
        budget=8,
    )  # fmt: skip
    assert result.best["quick"] == "1"
    assert any("but i0 is sat" in r.detail or "but i1 is sat" in r.detail for r in result.runs)


@pytest.mark.parametrize(
    "how",
    [
        {"solved": ["sat", "unsat"]},
        {"solved": {"regex": "^sat$"}},
        {"answer": {"regex": "^(sat|unsat)$"}},
        {"expected": "SAT"},
    ],
)
def test_the_setting_solved_is_obeyed(solver, how):
    result = paramhs.tune(
        paramhs.Command(solver, **how), space(["3", "unknown", "nothing"]), instances=INSTANCES,
        cost="runtime", cutoff=5.0, budget=30,
    )  # fmt: skip
    assert result.best["quick"] == "3"
    assert {s for v, s in by_value(result).items() if v != "3"} == {Status.UNSOLVED}


def test_a_verdict_compares_answers_as_well(tmp_path):
    """The search cannot know: its instances are all alike."""
    result = paramhs.tune(
        answering(lambda x, i: "sat" if x == 9 or i < "t" else "unsat"),
        {"x": paramhs.Integer(0, 9, default=9)}, instances=INSTANCES, budget=60,
        test_instances=[f"t{k}" for k in range(8)], store=tmp_path / "s.sqlite",
    )  # fmt: skip
    assert result.best["x"] == 0
    assert "keep the default" in result.recommendation.lower()
    assert result.verdict == paramhs.load(tmp_path / "s.sqlite").verdict


def test_a_default_that_contradicts_itself_proves_nothing():
    def f(config, instance, seed):
        return paramhs.Answered("sat" if seed % 3 else "unsat", float(config["x"]))

    space = {"x": paramhs.Integer(0, 9, default=9)}
    with pytest.warns(paramhs.ParamhsWarning, match="WRONG ANSWER"):
        (verdict,) = paramhs.validate(
            f, space, [{"x": 9}, {"x": 0}], instances=[f"t{k}" for k in range(8)], runs=40
        )
    assert verdict.conclusion == "unclear"
    assert "it gave wrong answers itself" in verdict.recommendation


def test_a_configuration_with_a_wrong_answer_is_never_better():
    def f(config, instance, seed):
        wrong = config["x"] == 0 and instance == "t7"
        return paramhs.Answered("unsat" if wrong else "sat", float(config["x"] + 1))

    space = {"x": paramhs.Integer(0, 9, default=9)}
    with pytest.warns(paramhs.ParamhsWarning, match="WRONG ANSWER"):
        (verdict,) = paramhs.validate(
            f, space, [{"x": 9}, {"x": 0}], instances=[f"t{k}" for k in range(8)]
        )
    assert verdict.conclusion == "worse"
    assert "gave wrong answers" in verdict.recommendation


def test_an_own_loop_may_tell_answers():
    search = paramhs.AskTell({"x": paramhs.Integer(0, 9, default=9)}, instances=INSTANCES)
    for _ in range(80):
        task = search.ask()
        if task is None:
            break
        x = task.config["x"]
        search.tell(task, float(x), answer="unsat" if x < 4 else "sat")
    assert search.best["x"] >= 4


def test_numbers_on_standard_error_are_found(tmp_path):
    script = "import sys; print('ratio', 10 - int(sys.argv[1]), file=sys.stderr)"
    command = paramhs.Command(
        f'{sys.executable} -c "{script}" {{x}}', read=paramhs.Pattern(r"ratio (\d+)")
    )
    result = paramhs.tune(command, {"x": paramhs.Integer(0, 9, default=0)}, budget=30)
    assert result.best["x"] == 9
    assert math.isfinite(result.best_cost)


# Saying what was answered, the same in every view.


def test_every_status_is_of_one_kind():
    kinds = [(Status.OK,), TIMEOUTS, (Status.CAPPED,), FAILURES]
    assert Counter(status for kind in kinds for status in kind) == Counter(Status)


def scenario_file(tmp_path, command, more="", values=("1", "2", "3")):
    path = tmp_path / "s.toml"
    listed = ", ".join(f'"{value}"' for value in values)
    path.write_text(
        f"command = '{command}'\ncost = 'runtime'\ncutoff = '5 s'\ninstances = ['a', 'b', 'c']\n"
        f"test_instances = 0\n{more}\n[space.quick]\ntype = 'categorical'\nvalues = [{listed}]\n"
        "[budget]\nruns = 12\n"
    )
    for name in "abc":
        (tmp_path / name).write_text(name)
    return path


def views(path):
    """What each view prints for a scenario, by the view's name."""

    def printed(*words):
        done = subprocess.run(
            [sys.executable, "-m", "paramhs", *map(str, words)],
            capture_output=True, text=True, env={**os.environ, "COLUMNS": "1000"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    store = path.with_suffix(".sqlite")
    tuned = printed("tune", path)
    found = {"tune": tuned, "show": printed("show", store)}
    for name, words in (("tune", ("tune", path)), ("show", ("show", store))):
        answers = json.loads(printed(*words, "--json"))["answers"]
        found[f"{name} --json"] = "\n".join(map(str, answers.values()))
    page = path.with_suffix(".html").read_text()
    found["report"] = html.unescape(page)
    found["Result"] = repr(paramhs.load(store))
    return found


@pytest.mark.parametrize(
    ("more", "is_said"), [("", True), ("solved = [0]", False), ('expected = "sat"', False)]
)
def test_every_view_says_that_nothing_was_recognised(tmp_path, more, is_said):
    found = views(scenario_file(tmp_path, "true {quick} {instance}", more))
    assert {name: NO_ANSWER in text for name, text in found.items()} == dict.fromkeys(
        found, is_said
    )


def test_a_function_without_answers_is_not_said_to_have_an_exit_code():
    result = paramhs.tune(lambda config: None, {"x": [1, 2]}, cost="runtime", cutoff=5.0, budget=3)
    assert NONE_RETURNED in repr(result)
    assert "exit code" not in repr(result)
    quality = paramhs.tune(lambda config: 1.0, {"x": [1, 2]}, budget=3)
    assert quality.answers.lines == []


def test_every_view_says_that_configurations_disagree(tmp_path):
    """The default knows nothing; the others contradict each other."""
    (tmp_path / "solver.py").write_text(
        "import sys; print({'1': 'unknown', '2': 'sat', '3': 'unsat'}[sys.argv[1]])"
    )
    command = f"{sys.executable} {tmp_path / 'solver.py'} {{quick}} {{instance}}"
    path = scenario_file(tmp_path, command)
    found = views(path)
    for text in found.values():
        assert "2 configurations disagree on instance" in text
        assert "set `expected`" in text
    result = paramhs.load(path.with_suffix(".sqlite"))
    assert len(result.answers.disagreements) == len(
        {r.task.instance for r in result.runs if r.status is Status.WRONG}
    )
    (tmp_path / "given").mkdir()
    known = scenario_file(tmp_path / "given", command, 'expected = "sat"')
    assert "disagree" not in "".join(views(known).values())


@pytest.mark.parametrize("solves", [False, True])
def test_a_default_that_solves_nothing_is_said_at_the_start_and_at_the_end(tmp_path, solves):
    heard = []

    class Ears(Watcher):
        def notice(self, text):
            heard.append(text)

    result = paramhs.tune(
        answering(lambda x, i: "sat" if solves or x < 9 else "unknown"),
        {"x": paramhs.Integer(0, 9, default=9)}, cost="work", instances=INSTANCES, budget=40,
        store=tmp_path / "s.sqlite", watcher=Ears(),
    )  # fmt: skip
    said = "the default solved none of its"
    of_default = sum(run.task.config == result.default for run in result.runs)
    assert any(f"{said} 3 runs" in text for text in heard) is not solves
    for found in (result, paramhs.load(tmp_path / "s.sqlite")):
        assert any(f"{said} {of_default} runs" in w for w in found.answers.warnings) is not solves


def test_runs_for_the_answers_of_the_default_are_counted(tmp_path):
    """They are part of the budget, and every view says how many there were."""
    result = paramhs.tune(
        answering(lambda x, i: "sat"), {"x": paramhs.Integer(0, 9, default=9)},
        instances=[f"i{k}" for k in range(30)], budget=100, store=tmp_path / "s.sqlite",
    )  # fmt: skip
    of_default = [r for r in result.runs if r.task.config == result.default]
    assert 0 < result.answers.references <= len(of_default)
    assert result.asked == len(result.runs) <= 100
    assert f"of which {result.answers.references} to have its answers" in repr(result)
    again = paramhs.load(tmp_path / "s.sqlite")
    assert again.answers == result.answers


def test_speculative_runs_are_exported_as_they_would_be_judged(tmp_path):
    """Runs that were never requested are compared with the same answers."""
    store = tmp_path / "s.sqlite"
    result = paramhs.tune(
        answering(lambda x, i: "sat" if x > 6 else "unsat"),
        {"x": paramhs.Integer(0, 9, default=9)}, instances=INSTANCES, budget=40, store=store,
        jobs=4, executor="threads",
    )  # fmt: skip
    with closing(sqlite3.connect(store)) as db:
        ids = dict(db.execute("SELECT key, id FROM configs"))
        wrong = next(r for r in result.runs if r.status is Status.WRONG)
        db.execute(
            "INSERT OR REPLACE INTO runs SELECT record, config, instance, seed + 1000000, cutoff,"
            " 'ok', runtime, quality, '', answer, NULL, NULL, session, finished, elapsed FROM runs"
            " WHERE config = ? AND status = 'wrong' LIMIT 1",
            (ids[wrong.task.config.key],),
        )
        db.commit()
    out = io.BytesIO()
    export_table(store, "runs", "jsonl", out)
    rows = [json.loads(line) for line in out.getvalue().decode().splitlines()]
    speculative = [row for row in rows if row["run"] is None]
    assert speculative
    assert {row["status"] for row in rows if row["config.x"] <= 6} == {"wrong"}
    about = summary(store)
    assert about["statuses"].get("wrong") == sum(r.status is Status.WRONG for r in result.runs)
    assert about["speculative"] == len(speculative)


OBEYS = """
import sys, time
quick, cutoff = sys.argv[1], float(sys.argv[2])
needs = {"slow": 0.4, "fast": 0.05, "never": 1e9}[quick]
until = time.process_time() + min(needs, cutoff)
while time.process_time() < until: pass
if needs <= cutoff: print("sat")
"""


@pytest.mark.parametrize("capping", ["none", "preserving", "aggressive"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_run_that_obeyed_a_smaller_cutoff_is_censored(tmp_path, capping, jobs):
    """It printed nothing because it was told to stop early, which says nothing about more time."""
    path = tmp_path / "solver.py"
    path.write_text(OBEYS)
    result = paramhs.tune(
        paramhs.Command(f"{sys.executable} {path} {{quick}} {{cutoff}} {{instance}}"),
        {"quick": paramhs.Categorical(["fast", "slow", "never"])}, instances=INSTANCES,
        cost="runtime", cutoff=1.0, budget=20, capping=capping, jobs=jobs,
        store=tmp_path / "s.sqlite",
    )  # fmt: skip
    assert result.best["quick"] == "fast"
    late = [r for r in result.runs if r.answer is None]
    assert late
    for run in late:
        capped = run.task.cutoff < 1.0
        assert run.status is (Status.CAPPED if capped else Status.TIMEOUT)
    assert {r.status for r in late} <= {Status.CAPPED, Status.TIMEOUT}
    if jobs == 1:  # else a run that was made ahead with a larger cutoff is stored with that
        again = paramhs.load(tmp_path / "s.sqlite")
        assert [r[:2] for r in again.runs] == [r[:2] for r in result.runs]


def test_right_answers_can_be_given_for_functions(tmp_path):
    """A configuration that contradicts them is wrong, also where the default has no answer."""

    def tuned(expected, default=9):
        return paramhs.tune(
            answering(lambda x, i: "unknown" if x == 9 else "sat" if x > 4 else "unsat"),
            {"x": paramhs.Integer(0, 9, default=default)}, instances=INSTANCES, budget=60,
            expected=expected, store=tmp_path / f"{default}.sqlite",
        )  # fmt: skip

    result = tuned(dict.fromkeys(INSTANCES, "SAT"))
    wrong = {r.task.config["x"] for r in result.runs if r.status is Status.WRONG}
    assert wrong
    assert max(wrong) <= 4 < result.best["x"]
    assert result.answers.disagreements == ()
    assert paramhs.load(tmp_path / "9.sqlite").answers == result.answers
    with pytest.raises(TargetError, match=r"WRONG ANSWER: unsat, but i\d is sat"):
        tuned("sat", default=3)
    with pytest.raises(BadInput, match="no instance is called 'nowhere'"):
        tuned({"nowhere": "sat"})


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
def test_the_number_that_zstd_prints_on_standard_error_is_read(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}{k * k} " for k in range(3000)))
    path = tmp_path / "s.toml"
    path.write_text(
        "command = 'zstd -v -{level} -f -o /dev/null {instance}'\ncost = 'minimise'\n"
        "read = {regex = '=> +([0-9.]+) '}\ncutoff = '10 s'\ninstances = '*.txt'\n"
        "test_instances = 0\n[space.level]\ntype = 'integer'\nlow = 1\nhigh = 19\ndefault = 3\n"
        "[budget]\nruns = 12\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "paramhs", "check", str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "standard error" in done.stdout
    assert "nothing in the output matches" not in done.stdout
    assert "crashed" not in done.stdout
