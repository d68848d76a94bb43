"""Commands as targets: what their outcomes mean, and searches over real scripts."""

import json
import math
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from paramhs.api.tune import tune_scenario
from paramhs.core.costs import Quality, Runtime, RuntimeThenQuality, score
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.runs import NO_INSTANCE, Instance, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Boolean, Integer, Space
from paramhs.execution.driver import Budget, Watcher
from paramhs.execution.settings import Running
from paramhs.execution.supervisor import Outcome
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets.command import (
    AclibLine,
    CommandTarget,
    IraceLine,
    JsonLine,
    LastNumber,
    Nothing,
    Pattern,
    Problem,
    Solved,
    Style,
    Template,
)
from paramhs.search.registry import CONFIGURATORS
from tests.support.children import PATIENCE, child, eventually, is_gone
from tests.support.commands import SPACE, command, searched

pytestmark = pytest.mark.forks

SAT = Instance("a.cnf", Problem("a.cnf", expected="SAT"))


def task(x=4, cutoff=10.0, instance=NO_INSTANCE, seed=7) -> Task:
    return Task(SPACE.config(x=x), instance, seed, cutoff)


def judged(outcome: Outcome, instance=NO_INSTANCE, cutoff=10.0, **more):
    return command(**more).judged(task(cutoff=cutoff, instance=instance), outcome)


def printed(text: str, code: int = 0, **more) -> Outcome:
    return Outcome(code=code, output=text.encode(), wall=2.0, cpu=1.0, **more)


@pytest.fixture
def supervised():
    """Targets under keepers, which are gone after the test."""
    started = []

    def supervised(target: CommandTarget, count: int = 1) -> Supervised:
        started.append(Supervised(target, count))
        return started[-1]

    yield supervised
    for one in started:
        one.close()


# What an outcome means.


def test_a_run_that_did_its_work():
    run = judged(printed("12\n"), reader=LastNumber())
    assert (run.status, run.runtime, run.quality, run.detail) == (Status.OK, 1.0, 12.0, "")
    assert judged(printed("12\n"), reader=LastNumber(), clock="wall").runtime == 2.0


def test_only_some_exit_codes_mean_solved():
    for code, status in [(10, Status.OK), (20, Status.OK), (0, Status.CRASHED)]:
        assert judged(printed("", code), solved=Solved((10, 20))).status is status
    detail = judged(printed("out\n", 3, errors=b"oh\n"), solved=Solved((10, 20))).detail
    assert detail == ("exit code 3 (expected 10, 20)\nits last output:\nout\nits last errors:\noh")


def test_a_death_by_a_signal_is_a_crash():
    run = judged(printed("12\n", -11), reader=LastNumber())
    assert (run.status, run.runtime) == (Status.CRASHED, 1.0)
    assert run.detail.startswith("it died of signal 11\n")


def test_a_bad_exit_code_is_reported_before_unreadable_output():
    run = judged(printed("oops", 1), reader=LastNumber())
    assert run.detail.startswith("exit code 1 (expected 0)\n")


def test_output_that_cannot_be_read_is_not_a_crash():
    run = judged(printed("oops"), reader=LastNumber())
    assert (run.status, run.quality) == (Status.UNREADABLE, None)
    what = "exit code 0, but no number was read: no number was printed"
    assert run.detail == f"{what}\nits last output:\noops"


def test_a_run_without_a_number_that_is_needed_is_not_a_crash():
    run = judged(printed("done"), reader=Nothing(), needs_number=True)
    assert run.status is Status.UNREADABLE
    assert run.reason == "exit code 0, but no number was read"
    assert judged(printed("done"), reader=Nothing()).status is Status.OK


def test_the_last_output_is_kept_of_a_failure():
    run = judged(printed("x" * 100_000 + "the end", 1, errors=b"y" * 100_000 + b"\xff last"))
    assert "the end" in run.detail
    assert "last" in run.detail
    assert len(run.detail) < 10_000


def test_a_program_that_could_not_be_started_is_a_crash():
    run = judged(Outcome(trouble="there is no program"))
    assert (run.status, run.detail) == (Status.CRASHED, "there is no program")


def test_a_run_stopped_for_its_memory_is_a_crash():
    run = judged(printed("7", -9, limit="memory"), reader=LastNumber(), memory=3e9)
    assert (run.status, run.quality) == (Status.CRASHED, None)
    assert run.detail.startswith("stopped: it used more than 3 GB of memory")


@pytest.mark.parametrize("clock", ["cpu", "wall"])
def test_a_run_stopped_at_the_cutoff_keeps_its_quality(clock):
    outcome = printed("best 9\n", -15, limit=clock)
    run = judged(outcome, reader=LastNumber(), clock=clock, cutoff=0.5)
    assert (run.status, run.quality) == (Status.TIMEOUT, 9.0)
    assert run.runtime == (1.0 if clock == "cpu" else 2.0)
    assert run.detail == "stopped at the cutoff"


def test_sleeping_and_working_runs_are_distinguished():
    run = judged(printed("", -15, limit="wall"), clock="cpu")
    assert (run.status, run.runtime, run.detail) == (
        Status.TIMEOUT,
        10.0,
        "stopped at the limit on wall time",
    )


def test_a_run_stopped_before_any_output_has_timed_out():
    run = judged(printed("", -15, limit="cpu"), reader=LastNumber())
    assert (run.status, run.quality) == (Status.TIMEOUT, None)


def test_without_a_cutoff_a_stopped_run_has_the_time_it_took():
    for outcome, more in (
        (printed("", -15, limit="wall"), {}),
        (printed("Result for SMAC: TIMEOUT, 1.5, 0, 3, 7"), {"reader": AclibLine()}),
    ):
        run = judged(outcome, cutoff=math.inf, **more)
        assert (run.status, run.runtime) == (Status.TIMEOUT, 1.5 if more else 1.0)


@pytest.mark.parametrize("text", ["c done\ns UNKNOWN\n", "INDETERMINATE\n"])
def test_a_solver_that_gives_up_has_timed_out(text):
    run = judged(printed(text, 0), solved=Solved((10, 20)), cutoff=10.0)
    assert (run.status, run.runtime, run.detail) == (Status.TIMEOUT, 10.0, "it gave up")
    assert judged(printed(text, 10), solved=Solved((10, 20))).status is Status.OK
    assert judged(printed(text, -11), solved=Solved((10, 20))).status is Status.CRASHED


def test_a_solver_that_ends_without_an_answer_when_its_time_is_over_has_timed_out():
    """By the wall clock, which is what it may go by itself."""
    assert judged(printed("", 0), solved=Solved((10, 20)), cutoff=1.9).status is Status.TIMEOUT
    assert judged(printed("", 0), solved=Solved((10, 20)), cutoff=2.1).status is Status.CRASHED


def test_an_answer_after_the_cutoff_has_timed_out():
    run = judged(printed("3"), reader=LastNumber(), cutoff=0.9)
    assert (run.status, run.runtime, run.quality) == (Status.TIMEOUT, 1.0, 3.0)


def test_limits_follow_the_clock():
    assert command(clock="wall", memory=1e9).limits(5.0)[:3] == (5.0, math.inf, 1e9)
    assert command(clock="cpu").limits(5.0)[:2] == (20.0, 5.0)
    assert command(clock="cpu", wall_limit=7.0).limits(5.0)[:2] == (7.0, 5.0)
    assert command(clock="cpu").limits(math.inf)[:2] == (math.inf, math.inf)


# Believing the target.


def aclib(text: str, **more):
    return judged(printed(f"Result for SMAC: {text}\n", **more), reader=AclibLine())


def test_the_time_of_a_wrapper_is_believed():
    run = aclib("SAT, 0.25, 1, 3, 7")
    assert (run.status, run.runtime, run.quality) == (Status.OK, 0.25, 3.0)
    assert judged(printed("5 0.5"), reader=IraceLine()).runtime == 0.5
    assert judged(printed("5 t=0.5"), reader=Pattern(r"^\d", "t=(.*)")).runtime == 0.5
    assert judged(printed('{"c": 5, "t": 0.5}'), reader=JsonLine("c", "t")).runtime == 0.5


def test_a_time_beyond_the_cutoff_is_a_timeout():
    assert aclib("SAT, 12.5, 1, 3, 7").status is Status.TIMEOUT
    run = aclib("TIMEOUT, 9.99, 1, 3, 7")
    assert (run.status, run.runtime, run.quality) == (Status.TIMEOUT, 10.0, 3.0)


def test_a_wrapper_says_itself_that_it_crashed_whatever_its_exit_code():
    run = aclib("CRASHED, 0.5, 1, 3, 7")
    assert (run.status, run.runtime) == (Status.CRASHED, 0.5)
    assert run.detail.startswith("the target reported a crash\nits last output:\nResult for")
    assert aclib("SAT, 0.5, 1, 3, 7", code=1).status is Status.OK


@pytest.mark.parametrize("time", ["inf", "-1"])
@pytest.mark.parametrize("reader", [AclibLine(), IraceLine(), Pattern(time="t=(.*)")])
def test_a_time_that_cannot_be_is_not_believed(reader, time):
    output = f"Result for SMAC: SAT, {time}, 2, 3, 4\nt={time}\n5 {time}\n"
    run = judged(printed(output), reader=reader)
    assert 0 <= run.runtime < math.inf
    assert run.status is not Status.OK


def test_abort_stops_the_search_and_shows_the_call():
    with pytest.raises(TargetError) as caught:
        aclib("ABORT, 0, 0, 0, 7")
    assert str(caught.value) == (
        "the target reported ABORT: ABORT, 0, 0, 0, 7\nThe call was /bin/true -x 4"
    )


# Wrong answers.


@pytest.mark.parametrize(
    ("outcome", "more"),
    [
        (printed("s UNSATISFIABLE\n"), {}),
        (printed("", 20), {"solved": Solved((10, 20))}),
        (printed("Result for SMAC: UNSAT, 0.1, 0, 0, 7"), {"reader": AclibLine()}),
        (printed("s UNSATISFIABLE\n5"), {"reader": LastNumber()}),
    ],
)
def test_an_answer_that_is_not_the_expected_one_is_wrong(outcome, more):
    run = judged(outcome, SAT, **more)
    assert run.status is Status.WRONG
    assert run.detail.startswith("WRONG ANSWER: unsat, but a.cnf is sat")
    right = Instance("b.cnf", Problem("b.cnf", expected="UNSAT"))
    assert judged(outcome, right, **more).status is Status.OK
    unknown = Instance("c.cnf", Problem("c.cnf"))
    assert judged(outcome, unknown, **more).status is Status.OK


def test_an_answer_line_is_more_than_an_exit_code():
    more = {"solved": Solved((0, 10, 20))}
    assert judged(printed("s SATISFIABLE\n", 20), SAT, **more).status is Status.OK
    assert judged(printed("s UNKNOWN\n", 0), SAT, **more).status is Status.OK


def test_a_run_that_was_stopped_is_not_wrong():
    outcome = printed("s UNSATISFIABLE\n", -15, limit="cpu")
    assert judged(outcome, SAT).status is Status.TIMEOUT


def test_a_wrapper_may_say_itself_that_the_answer_is_wrong():
    run = aclib("WRONG ANSWER, 0.1, 0, 0, 7")
    assert run.status is Status.WRONG
    assert run.detail.startswith("WRONG ANSWER, reported by the target itself")


def test_a_wrong_answer_is_the_worst_in_every_metric():
    wrong = judged(printed("s UNSATISFIABLE\n5"), SAT, reader=LastNumber())
    crash = judged(printed("", 1))
    late = judged(printed("", -15, limit="cpu"))
    for metric in (Quality(), Quality(maximise=True), Runtime(), RuntimeThenQuality()):
        worst = score([metric.of(wrong)])
        assert worst[0] == 1.0
        assert worst >= max(score([metric.of(crash)]), score([metric.of(late)]))
    for metric in (Runtime(), RuntimeThenQuality(), RuntimeThenQuality(maximise=True)):
        for other in (crash, late):
            assert score([metric.of(wrong)]) > score([metric.of(other)])
            one_wrong = [metric.of(wrong)] + [(0.0,) * len(metric.of(other))] * 99
            assert score(one_wrong) > score([metric.of(other)] * 100)


@pytest.mark.parametrize(("answer", "status"), [("right", Status.OK), ("left", Status.WRONG)])
def test_a_checker_reads_the_output(supervised, answer, status):
    target = command(
        f"echo {answer} {{params}}", checker="grep -q '^right -x 4$'", reader=LastNumber()
    )
    run = supervised(target)(task())
    assert (run.status, run.quality) == (status, 4.0)
    if status is Status.WRONG:
        what = "WRONG ANSWER, reported by the checker grep -q '^right -x 4$' (exit code 1)"
        assert run.detail.startswith(what)


def test_a_checker_receives_the_instance_and_its_output_is_kept(supervised):
    script = 'echo "no: $1 $2"; exit 1'
    target = command(
        "echo {params}",
        checker=["/bin/sh", "-c", script, "-", "{instance}", "{seed}"],
        reader=LastNumber(),
    )
    run = supervised(target)(task(instance=Instance("two words.cnf")))
    assert run.status is Status.WRONG
    assert run.detail.endswith("its last output:\nno: two words.cnf 7")


def test_a_long_certificate_is_checked_whole(supervised):
    code = "print('v ' + '1 ' * 2_500_000)"
    check = "import sys; sys.exit(len(sys.stdin.read()) != 5_000_003)"
    target = command(
        [sys.executable, "-c", code, "{params}"],
        checker=[sys.executable, "-c", check],
    )
    assert supervised(target)(task()).status is Status.OK


def test_failures_are_not_checked(supervised):
    target = command(["/bin/sh", "-c", "exit 1", "{params}"], checker="false")
    assert supervised(target)(task()).status is Status.CRASHED


# Commands and their words.


def test_the_words_of_a_task():
    target = command("/bin/true -i {instance} -s {seed} -c {cutoff} {params} {info}")
    on = task(3, 5.0, Instance("short", Problem("/far/a b.cnf", "sat info")), 99)
    words = ("/bin/true", "-i", "/far/a b.cnf", "-s", "99", "-c", "5", "-x", "3", "sat info")
    assert target.words(on) == words
    assert target.shown(on) == "/bin/true -i '/far/a b.cnf' -s 99 -c 5 -x 3 'sat info'"
    assert target.command_line(on.config) == "/bin/true -i INSTANCE -s SEED -c CUTOFF -x 3 INFO"
    assert target.uses_seed
    assert not command().uses_seed


def test_an_instance_is_its_path_or_its_name_or_nothing():
    target = command("/bin/true {instance} {params}")
    assert target.words(task(instance=Instance("name", "/a/path")))[1] == "/a/path"
    assert target.words(task(instance=Instance("name")))[1] == "name"
    assert target.words(task())[1] == ""


def test_a_cutoff_that_is_none_is_a_large_number():
    assert command("/bin/true {cutoff} {params}").words(task(cutoff=math.inf))[1] == "1e9"


def test_the_identities_of_irace_are_whole_numbers_that_stay():
    target = command("/bin/true {config_id} {instance_id} {params}")
    _, one, instance, *_ = target.words(task(1, instance=Instance("i")))
    assert target.words(task(1, instance=Instance("i")))[1:3] == (one, instance)
    assert target.words(task(2, instance=Instance("i")))[1] != one
    assert int(one) > 0 < int(instance)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no-such-xyz {params}", "there is no program no-such-xyz on the PATH"),
        ("./none {params}", "there is no program ./none in {folder}"),
        ("./sub {params}", "./sub is a folder, not a program"),
        (
            "./plain {params}",
            "./plain may not be executed: chmod +x {folder}/plain, or name its interpreter"
            " before it",
        ),
    ],
)
def test_a_program_that_cannot_work_is_reported_at_once(tmp_path, text, message):
    (tmp_path / "sub").mkdir()
    (tmp_path / "plain").touch()
    with pytest.raises(BadInput) as caught:
        command(text, tmp_path)
    assert str(caught.value) == message.replace("{folder}", str(tmp_path))
    with pytest.raises(BadInput, match="there is no program no-such-xyz"):
        command(checker="no-such-xyz")


def test_a_program_that_changes_is_noticed(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho 1\n")
    script.chmod(0o755)
    target = command("./script {params}", tmp_path)
    before = target.source
    assert before == target.source != ""
    script.write_text("#!/bin/sh\necho 2\n")
    assert target.source not in ("", before)


def test_pipes_and_devices_that_a_command_names_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    text = "/bin/true pipe /dev/stdin /dev/stdout /proc/self/fd/0 {params}"
    target = command(text, tmp_path, checker="/bin/true /dev/stdin")
    assert target.source == target.source != ""


def test_what_defines_its_answers_is_described():
    one = command(reader=LastNumber(), solved=Solved((0, 10)), clock="wall", memory=1e9)
    described = json.dumps(one.describe())
    for other in (
        command(reader=Nothing(), solved=Solved((0, 10)), clock="wall", memory=1e9),
        command(reader=LastNumber(), solved=Solved((0,)), clock="wall", memory=1e9),
        command(reader=LastNumber(), solved=Solved((0, 10)), clock="cpu", memory=1e9),
        command(reader=LastNumber(), solved=Solved((0, 10)), clock="wall"),
        command(
            reader=LastNumber(), solved=Solved((0, 10)), clock="wall", memory=1e9, checker="false"
        ),
    ):
        assert json.dumps(other.describe()) != described


# Runs under a keeper.


def test_a_pattern_that_takes_for_ever_is_given_up(supervised, monkeypatch):
    monkeypatch.setattr("paramhs.execution.supervisor.run_kinds.READ_SECONDS", 0.3)
    target = command(
        "echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab {params}", reader=Pattern(r"(?:a+)+$")
    )
    run = supervised(target)(task())
    assert run.status is Status.UNREADABLE
    assert "reading its output took more than 0.3 s" in run.reason
    assert supervised(command("echo {params}", reader=LastNumber()))(task()).quality == 4.0


def test_a_failure_is_kept_in_few_words(supervised):
    code = "import sys; print('x' * 1_000_000); print('y' * 1_000_000, file=sys.stderr)"
    target = command([sys.executable, "-c", code, "{params}"], reader=IraceLine())
    run = supervised(target)(task())
    assert run.status is Status.UNREADABLE
    assert len(run.detail) < 10_000
    assert len(judged(Outcome(trouble="z" * 10**6)).detail) < 10_000
    wrong = supervised(command("echo 1 {params}", checker=["/bin/false", "w" * 100_000]))(task())
    assert wrong.status is Status.WRONG
    assert len(wrong.detail) < 10_000


def test_a_run_that_kills_its_keeper_is_a_crashed_run(supervised):
    run = supervised(command(["/bin/sh", "-c", "kill -9 $PPID", "{params}"]))(task())
    assert run.status is Status.CRASHED
    assert "does the target send signals to its parent?" in run.detail


def test_a_command_is_run_with_its_limits(supervised):
    target = command(["/bin/sh", "-c", "while :; do :; done", "{params}"])
    run = supervised(target)(task(cutoff=0.2))
    assert (run.status, run.detail) == (Status.TIMEOUT, "stopped at the cutoff")
    assert run.runtime >= 0.2


def test_processor_time_is_the_runtime(supervised):
    code = "import time\nwhile time.process_time() < 0.15: pass\ntime.sleep(0.3)\nprint(5)"
    target = command([sys.executable, "-c", code, "{params}"], reader=LastNumber())
    run = supervised(target)(task(cutoff=10.0))
    assert (run.status, run.quality) == (Status.OK, 5.0)
    assert run.runtime >= 0.15
    wall = command([sys.executable, "-c", code, "{params}"], reader=LastNumber(), clock="wall")
    assert supervised(wall)(task(cutoff=60.0)).runtime >= 0.4


def test_the_answer_after_sigterm_is_read(supervised):
    script = "trap 'echo best 17; exit 0' TERM; sleep 1000 & wait"
    target = command(
        ["/bin/sh", "-c", script, "{params}"], reader=LastNumber(), clock="wall", grace=PATIENCE
    )
    run = supervised(target)(task(cutoff=0.2))
    assert (run.status, run.quality) == (Status.TIMEOUT, 17.0)
    assert run.runtime >= 0.2


# Searches.

SCRIPT = """#!/bin/sh
# noise from the seed, a valley at 13
d=$(($1 - 13)); [ $d -lt 0 ] && d=$((-d))
echo "cost $((10 * d + $2 % 7))"
"""


class Listening(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "script.sh"
    path.write_text(SCRIPT)
    path.chmod(0o755)
    return path


def test_a_script_is_tuned_end_to_end(script):
    before = set(psutil.Process().children(recursive=True))
    target = command("./script.sh {x} {seed}", script.parent, reader=LastNumber())
    result = searched(target, 150)
    assert result.best["x"] == 13
    assert {run.status for run in result.runs} == {Status.OK}
    left = set(psutil.Process().children(recursive=True)) - before
    assert eventually(lambda: all(map(is_gone, left)))


def test_two_jobs_find_the_same_in_the_same_order(script):
    target = command("./script.sh {x} {seed}", script.parent, reader=LastNumber())
    one, two = (searched(target, 120, jobs=jobs, seed=3) for jobs in (1, 2))

    def steps(result):
        return [(point.config, point.runs, point.cost) for point in result.trajectory]

    assert len(steps(one)) > 1
    assert steps(one) == steps(two)


def test_a_search_resumes_from_its_store(script, tmp_path):
    target = command("./script.sh {x} {seed}", script.parent, reader=LastNumber())
    whole = searched(target, 60)
    searched(target, 25, store=tmp_path / "runs.sqlite")
    resumed = searched(target, 60, store=tmp_path / "runs.sqlite")
    assert [p.config for p in resumed.trajectory] == [p.config for p in whole.trajectory]


def test_a_store_of_another_reader_is_refused(script, tmp_path):
    store = tmp_path / "runs.sqlite"
    more = {"folder": script.parent, "clock": "wall"}
    searched(command("./script.sh {x} {seed}", reader=LastNumber(), **more), 10, store=store)
    with pytest.raises(Exception, match="reader"):
        searched(command("./script.sh {x} {seed}", reader=IraceLine(), **more), 10, store=store)


def test_a_wrong_answer_is_a_loud_line(tmp_path):
    code = "if [ $1 -ge 10 ]; then echo 's UNSATISFIABLE'; else echo 's SATISFIABLE'; fi; echo $1"
    target = command(["/bin/sh", "-c", code, "-", "{x}", "{instance}"], reader=LastNumber())
    listening = Listening()
    result = searched(
        target, 40, Quality(maximise=True), (SAT,), watcher=listening, store=tmp_path / "s.sqlite"
    )
    assert result.best["x"] == 9
    wrong = [run for run in result.runs if run.status is Status.WRONG]
    assert {run.task.config["x"] for run in wrong} <= set(range(10, 21))
    loud = [text for text in listening.notices if text.startswith("WRONG")]
    assert len(loud) == len(wrong) > 0
    first, *_, call = loud[0].splitlines()
    assert first == "WRONG ANSWER: unsat, but a.cnf is sat"
    assert call.startswith("  the call was /bin/sh -c 'if [ $1")


def test_a_target_that_says_abort_stops_the_search():
    code = "echo 'Result for ParamILS: ABORT, 0, 0, 0, 1'"
    target = command(["/bin/sh", "-c", code, "-", "{x}"], reader=AclibLine())
    with pytest.raises(TargetError, match="the target reported ABORT"):
        searched(target, 40)


def test_a_command_that_always_fails_is_shown_with_its_last_words():
    target = command(["/bin/sh", "-c", "echo out of luck >&2; exit 9", "-", "{x}"])
    with pytest.raises(TargetError) as caught:
        searched(target, 40)
    text = str(caught.value)
    assert "The last call was /bin/sh -c 'echo out of luck >&2; exit 9' - 4" in text
    assert "exit code 9 (expected 0)" in text
    assert "its last errors:\nout of luck" in text


def test_a_search_survives_failures_of_every_kind():
    code = """case $1 in
    1) kill -9 $$;; 2) exit 3;; 3) echo no number;; 5) while :; do sleep 100; done;;
    *) echo $(($1 > 7 ? $1 - 7 : 7 - $1));; esac"""
    target = command(["/bin/sh", "-c", code, "-", "{x}"], reader=LastNumber(), clock="wall")
    scenario = Scenario(SPACE, (NO_INSTANCE,), Quality(), 0.5, deterministic=True)
    result = tune_scenario(
        scenario, target, CONFIGURATORS["paramhs"], budget=Budget(runs=200), running=Running(jobs=2)
    )
    assert result.best["x"] == 7
    assert result.stopped == "all 21 configurations tried"
    statuses = {run.task.config["x"]: run.status for run in result.runs}
    assert [statuses[x] for x in (1, 2, 3, 5)] == [
        Status.CRASHED,
        Status.CRASHED,
        Status.UNREADABLE,
        Status.TIMEOUT,
    ]


def test_a_command_with_an_executor_of_ones_own_leaves_no_keeper(script):
    before = set(psutil.Process().children(recursive=True))
    target = command("./script.sh {x} {seed}", script.parent, reader=LastNumber())
    with ThreadPoolExecutor(2) as pool:
        result = searched(target, 20, jobs=2, executor=pool)
        assert {run.status for run in result.runs} == {Status.OK}
        left = set(psutil.Process().children(recursive=True)) - before
        assert eventually(lambda: all(map(is_gone, left)), 5.0)


def test_booleans_and_conditions_reach_a_program(supervised, tmp_path):
    space = Space(
        {"turbo": Boolean(default=False), "k": Integer(1, 5)}, conditions={"k": "turbo == true"}
    )
    target = CommandTarget(Template("echo {params}", space, Style("--name=value")), tmp_path)
    assert target.words(Task(space.config(turbo=True, k=2), NO_INSTANCE, 1)) == (
        "echo",
        "--turbo",
        "--k=2",
    )
    assert target.words(Task(space.config(turbo=False), NO_INSTANCE, 1)) == ("echo",)


SEARCH = """
import sys
from pathlib import Path
from tests.support.commands import command, searched
from paramhs.execution.targets.command import LastNumber
code = "touch begun; sleep 0.5; echo $1"
words = ["/bin/sh", "-c", code, "-", "{x}", "{seed}"]
target = command(words, Path(sys.argv[1]), reader=LastNumber())
result = searched(target, 40)
print(result.stopped, sorted({run.status for run in result.runs}))
"""


def test_ctrl_c_lets_the_run_in_flight_finish(tmp_path):
    with child(SEARCH, tmp_path) as process:
        assert eventually((tmp_path / "begun").exists)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert out == "interrupted [<Status.OK: 'ok'>]\n", err


def test_a_second_ctrl_c_ends_the_run_at_once(tmp_path):
    with child(SEARCH.replace("sleep 0.5", "sleep 1000"), tmp_path) as process:
        assert eventually((tmp_path / "begun").exists)
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        assert eventually(lambda: process.poll() is not None)
        assert eventually(lambda: all(map(is_gone, family)))
