"""`paramhs saps` and SAPS in a scenario file, as a user has them."""

import json
import signal
import subprocess

import numba
import psutil
import pytest

from paramhs.bundled.instances.dimacs import Formula, dimacs
from paramhs.bundled.saps import Settings, kernel, solve
from paramhs.core.random_streams import stream
from tests.support.children import eventually
from tests.support.command_line import COMMAND, begin, environment, flat, paramhs
from tests.support.forker import HUNG
from tests.support.formulas import random_formula

FORMULA = random_formula(stream(0, "command"), 40, 220)

SCENARIO = """\
function = "paramhs.bundled.saps:saps"
instances = ["one.cnf", "two.wcnf"]

[space.alpha]
type = "real"
low = 1.05
high = 3.0

[budget]
runs = 30
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.cnf").write_text(dimacs(FORMULA), encoding="utf-8")
    weighted = Formula(FORMULA.variables, FORMULA.clauses, (2.0,) * len(FORMULA.clauses))
    (tmp_path / "two.wcnf").write_text(dimacs(weighted), encoding="utf-8")
    return tmp_path


def test_json_has_every_run(folder):
    given = {"alpha": 1.1, "rho": 0.5, "ps": 0.1, "wp": 0.02, "cutoff": 300, "runs": 4, "seed": 7}
    words = [f"--{name}={value}" for name, value in given.items()]
    done = paramhs("saps", "one.cnf", *words, "--smoothing=textbook", "--json", cwd=folder)
    message = json.loads(done.stdout)
    made = solve(FORMULA, Settings(1.1, 0.5, 0.1, 0.02), 300, 7, 4, "textbook")
    assert message.pop("steps_per_second") > 0
    assert message.pop("version") == 1
    names = ("best_false", "final_false", "null_flips", "best_step")
    assert message == {name: getattr(made, name).tolist() for name in names}


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_long_run_can_be_interrupted(folder, threads):
    words = ("saps", "one.cnf", f"--cutoff={10**12}", "--runs=3", "--threads", threads)
    running = begin(*words, cwd=folder)
    assert eventually(lambda: searches(running.pid))
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=HUNG)
    assert running.returncode == 130


def searches(pid: int) -> bool:
    """Whether a process is in machine code: a thread of its own works for long."""
    threads = psutil.Process(pid).threads()
    return any(thread.id != pid and thread.user_time > 0.5 for thread in threads)


def test_threads_change_nothing(folder):
    words = ("saps", "one.cnf", "--cutoff", 500, "--runs", 5, "--json")
    alone, together = (
        json.loads(paramhs(*words, "--threads", threads, cwd=folder).stdout) for threads in (1, 3)
    )
    assert {**alone, "steps_per_second": 0} == {**together, "steps_per_second": 0}


def test_people_see_means_and_how_many_were_solved(folder):
    done = paramhs("saps", "one.cnf", "--cutoff", "100", "--runs", "3", cwd=folder)
    assert done.returncode == 0
    assert "fewest false" in done.stdout
    assert "3 runs, 0 with all clauses true" in flat(done.stdout)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["one.cnf", "--alpha", "0.5"], "alpha must be a number from 1 to 1000, not 0.5"),
        (["one.cnf", "--rho", "1.5"], "rho must be a number from 0 to 1, not 1.5"),
        (["one.cnf", "--wp", "nan"], "wp must be a number from 0 to 1, not nan"),
        (["one.cnf", "--ps", "-1"], "ps must be a number from 0 to 1, not -1.0"),
        (["one.cnf", "--cutoff", "0"], "cutoff must be an integer of at least 1, not 0"),
        (["one.cnf", "--runs", "0"], "runs must be an integer of at least 1, not 0"),
        (["one.cnf", "--smoothing", "no"], "smoothing must be one of ubcsat, textbook, not 'no'"),
        (["none.cnf"], "none.cnf cannot be read: No such file or directory"),
    ],
)
def test_bad_input_is_one_message(folder, words, message):
    done = paramhs("saps", *words, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"paramhs: {message}"
    assert "Traceback" not in done.stderr


def test_it_is_said_once_that_a_solver_is_compiled(capfd, monkeypatch):
    compiled = numba.njit(lambda *_: None)  # as the solver is, but small
    monkeypatch.setattr(kernel, "search", compiled)
    for _ in range(2):
        solve(FORMULA, Settings(), 10, 0)
    assert capfd.readouterr().err.count("compiling the SAPS solver") == 1


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles_and_the_second_does_not(folder):
    # The folder of machine code is a new one, as after an installation.
    words = [*COMMAND, "saps", "one.cnf", "--cutoff", "10", "--json"]
    fresh = {**environment(), "NUMBA_CACHE_DIR": str(folder / "fresh")}
    first, second = (
        subprocess.run(words, cwd=folder, env=fresh, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert first.stderr.count("compiling the SAPS solver") == 1
    assert "compiling" not in second.stderr
    assert json.loads(first.stdout)["best_false"] == json.loads(second.stdout)["best_false"]


def test_a_scenario_file_tunes_it(folder):
    (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    done = paramhs("tune", "scenario.toml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 25 <= result["runs"] <= 30
    assert result["best_failed"] == 0
