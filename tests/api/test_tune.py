import asyncio
import functools
import json
import math
import os
import re
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import BadInput, Budget, Integer, Result, TargetError, tune
from paramhs.core import Quality
from paramhs.core.arguments import named_instances
from paramhs.core.costs import Runtime, RuntimeThenQuality
from paramhs.core.errors import StoreError
from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Target, Task
from paramhs.core.scenario import FIXED_SEED
from paramhs.core.test_set import TestSet
from paramhs.execution.executors import executing
from paramhs.execution.targets import FunctionTarget
from paramhs.search import ParamRLS
from paramhs.search.comparison import FixedRuns, FreshRuns, Growing
from paramhs.search.configurators import ParamILS
from paramhs.search.operators import Harmonic, SeveralParameters
from tests.support.targets import SPACE, distance, noisy

pytestmark = pytest.mark.forks

TINY = {"x": range(10)}


def task(instance: object = None, seed: int = 5) -> Task:
    return Task(SPACE.default, NO_INSTANCE if instance is None else Instance("i", instance), seed)


def given_to(function) -> tuple[object, ...]:
    """What a function that returns nothing but keeps its arguments was called with."""
    FunctionTarget(function)(task("inst", 5))
    return tuple(function.got)


def keeping(signature: str):
    """A function with this signature that keeps what it is called with."""
    names = ", ".join(name for name in re.findall(r"[a-z]+", signature.replace("=0", "")))
    scope: dict[str, object] = {}
    exec(f"def f({signature}):\n    f.got = [{names}]\n    return 1.0", scope)
    return scope["f"]


CONFIG = SPACE.default.as_dict()


@pytest.mark.parametrize(
    ("signature", "got", "uses_seed"),
    [
        ("config", (CONFIG,), False),
        ("config, instance", (CONFIG, "inst"), False),
        ("config, seed", (CONFIG, 5), True),
        ("config, instance, seed", (CONFIG, "inst", 5), True),
        ("config, seed, instance", (CONFIG, 5, "inst"), True),
        ("params, problem", (CONFIG, "inst"), False),
        ("params, problem, number", (CONFIG, "inst", 5), True),
        ("config, seed=0", (CONFIG, 5), True),
        ("config, instance, /, seed", (CONFIG, "inst", 5), True),
        ("config, *args", (CONFIG, ("inst", 5)), True),
        ("*args", ((CONFIG, "inst", 5),), True),
    ],
)
def test_a_function_is_given_what_it_takes(signature, got, uses_seed):
    function = keeping(signature)
    assert given_to(function) == got
    assert FunctionTarget(function).uses_seed is uses_seed


@pytest.mark.parametrize("signature", ["", "a, b, c, d", "config, *, seed", "**kwargs"])
def test_a_function_that_cannot_be_called_so_is_refused(signature):
    with pytest.raises(BadInput) as caught:
        FunctionTarget(keeping(signature))
    assert "the target must be f(config), f(config, instance), f(config, seed)" in str(caught.value)
    assert "f(" + signature in str(caught.value)


def test_what_is_not_a_function_is_refused():
    with pytest.raises(BadInput, match="the target must be a function, not 3"):
        tune(3, TINY, budget=1)


class Callable:
    def __call__(self, config, seed):
        return 1.0

    def method(self, config, instance):
        return 2.0


def test_objects_methods_partials_and_builtins_are_functions_too():
    assert FunctionTarget(Callable())(task()).quality == 1.0
    assert FunctionTarget(Callable()).takes == ("seed",)
    assert FunctionTarget(Callable().method)(task()).quality == 2.0
    assert FunctionTarget(functools.partial(noisy, instance="i", seed=1)).takes == ()
    assert FunctionTarget(len)(task()).quality == 3.0


class Scalar:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.mark.parametrize(
    ("answer", "quality"),
    [
        (3, 3.0),
        (True, 1.0),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        (Scalar(2.5), 2.5),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
    ],
)
def test_anything_with_a_float_is_a_number(answer, quality):
    run = FunctionTarget(lambda config: answer)(task())
    assert (run.status, run.quality, run.detail) == (Status.OK, quality, "")


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (math.nan, "the function returned nan, which is not a number and cannot be compared"),
        (Scalar(math.nan), "the function returned nan, which is not a number"),
        (None, "the function returned None (NoneType); expected a number"),
        ("3.5", "the function returned '3.5' (str); expected a number"),
        (b"3.5", "the function returned b'3.5' (bytes); expected a number"),
        ([1, 2], "the function returned [1, 2] (list); expected a number"),
        (1j, "the function returned 1j (complex); expected a number"),
        (10**400, "(int); expected a number"),
        (Scalar(TypeError("two elements")), "(Scalar); expected a number"),
    ],
)
def test_what_is_no_number_is_named(answer, detail):
    run = FunctionTarget(lambda config: answer)(task())
    assert (run.status, run.quality) == (Status.UNREADABLE, None)
    assert detail in run.detail


def test_a_number_that_fails_to_become_a_float_is_no_number():
    tensor = Scalar(RuntimeError("a Tensor with 2 elements cannot be converted to Scalar"))
    run = FunctionTarget(lambda config: tensor)(task())
    assert run.status is Status.UNREADABLE
    assert "expected a number" in run.detail


class Speechless:
    def __repr__(self):
        raise RuntimeError("no words")


def test_an_answer_that_cannot_be_shown_is_no_number():
    run = FunctionTarget(lambda config: Speechless())(task())
    assert run.status is Status.UNREADABLE
    assert "Speechless" in run.detail


def leaving(config):
    raise SystemExit(3)


def test_system_exit_is_a_crashed_run():
    run = FunctionTarget(leaving)(task())
    assert run.status is Status.CRASHED
    assert "SystemExit: 3" in run.detail


def test_a_long_traceback_keeps_its_end():
    def deep(config):
        raise ValueError("x" * 10_000 + "the end")

    run = FunctionTarget(deep)(task())
    assert len(run.detail) <= 4_000
    assert run.detail.rstrip().endswith("the end")


def test_an_exception_that_utf_8_cannot_write_is_a_crashed_run(tmp_path):
    def reading(config):
        if config["x"] != 4:
            raise FileNotFoundError("caf\udce9.cnf")
        return 1.0

    result = tune(reading, TINY, budget=20, store=tmp_path / "runs.sqlite")
    assert result.best["x"] == 4


def test_the_configuration_given_is_a_dictionary_of_ones_own():
    def greedy(config):
        config["x"] = 100
        return 1.0

    result = tune(greedy, TINY, budget=10)
    assert {run.task.config["x"] for run in result.runs} <= set(range(10))


@pytest.fixture
def result() -> Result:
    return tune(distance, {"x": range(20)}, budget=100)


def test_a_result_tells_what_was_found(result):
    assert result.best == {"x": 13}
    assert (result.best_cost, result.common_runs) == (0.0, 1)
    assert result.default == {"x": 9}
    assert result.default_cost == 4.0
    assert result.asked == len(result.runs) == len(list(result.runs)) == 20
    assert result.stopped == "all 20 configurations tried"
    assert result.trajectory[0].config == result.default
    assert result.trajectory[-1].config == result.best
    assert [p.cost for p in result.trajectory] == sorted(
        (p.cost for p in result.trajectory), reverse=True
    )
    assert 0 < result.target_time < result.wall_time


def test_a_result_can_be_read(result):
    first, best, default, search, incumbents, verdict = repr(result).splitlines()
    assert first == "Result after 20 runs (all 20 configurations tried)"
    assert best == "  best     x=13"
    assert default == "  default  x=9"
    assert search == "  search   mean on 1 common run: the best 0, the default 4"
    assert incumbents.startswith(f"  course   {len(result.trajectory)} incumbents, the last after")
    assert verdict == f"  verdict  {result.recommendation}"


@pytest.mark.parametrize("stored", [False, True])
def test_a_result_is_json(tmp_path, stored):
    path = tmp_path / "runs.sqlite" if stored else None
    result = tune(noisy, SPACE, budget=100, jobs=2, executor="threads", store=path)
    printed = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert printed["best"] == result.best.as_dict()
    assert printed["best_cost"] == result.best_cost
    assert printed["runs"] == result.asked
    assert printed["speculative_runs"] == result.speculative
    assert printed["stopped"].startswith("the budget of 100 runs is spent")
    assert [point["runs"] for point in printed["trajectory"]] == [p.runs for p in result.trajectory]


def test_a_result_without_a_finite_cost_is_json():
    result = tune(lambda config: math.inf, TINY, budget=10)
    printed = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert printed["best_cost"] is None
    assert printed["default_cost"] is None


def test_a_budget_smaller_than_the_first_comparison_gives_the_default():
    result = tune(noisy, SPACE, budget=1)
    assert result.best == result.default == SPACE.default
    assert result.trajectory == ()
    assert "not run" in repr(result)
    json.dumps(result.to_json(), allow_nan=False)


def test_runs_of_a_stored_result_can_be_listed_and_counted(tmp_path):
    result = tune(distance, {"x": range(20)}, budget=100, store=tmp_path / "runs.sqlite")
    assert len(list(result.runs)) == 20
    assert len(result.runs) == 20


def test_maximise_finds_the_largest_and_shows_it_with_its_sign():
    result = tune(lambda config: 2 * config["x"], TINY, budget=50, cost="maximise")
    assert result.best["x"] == 9
    assert (result.best_cost, result.default_cost) == (18.0, 8.0)
    assert tune(lambda c: c["x"], TINY, budget=50, cost=Quality(maximise=True)).best["x"] == 9


@pytest.mark.parametrize(
    ("function", "deterministic"),
    [
        (lambda config: config["x"], True),
        (lambda config, instance: config["x"], True),
        (lambda config, seed: config["x"], False),
        (lambda config, instance, seed: config["x"], False),
    ],
)
def test_a_function_without_a_seed_is_run_once_an_instance(function, deterministic):
    result = tune(function, {"x": range(4)}, instances=["a", "b"], budget=200)
    pairs = [(run.task.config, run.task.instance) for run in result.runs]
    assert (len(set(pairs)) == len(pairs)) is deterministic


def test_a_function_without_a_seed_can_be_said_to_be_noisy():
    result = tune(lambda config: config["x"], {"x": range(4)}, budget=50, deterministic=False)
    assert len(result.history.costs(result.best)) > 1


@pytest.mark.parametrize(
    ("given", "names", "values"),
    [
        (None, ["-"], [None]),
        (["a.cnf", "b.cnf"], ["a.cnf", "b.cnf"], ["a.cnf", "b.cnf"]),
        ([Path("d/a")], ["d/a"], [Path("d/a")]),
        ([1, 2.5, True, None], ["1", "2.5", "true", "null"], [1, 2.5, True, None]),
        ([[1, 2], {"n": 3}], ["[1, 2]", '{"n": 3}'], [[1, 2], {"n": 3}]),
        ({"easy": 1, "hard": 2}, ["easy", "hard"], [1, 2]),
        ({1: "x"}, ["1"], ["x"]),
        ((n for n in range(2)), ["0", "1"], [0, 1]),
    ],
)
def test_instances_have_names(given, names, values):
    instances = named_instances(given)
    assert [instance.name for instance in instances] == names
    assert [instance.value for instance in instances] == values


def test_an_instance_is_given_by_its_value():
    seen = set()
    function = lambda config, instance: seen.add(instance) or 0.0  # noqa: E731
    tune(function, {"x": range(3)}, instances={"one": (1, 2), "two": "text"}, budget=30)
    assert seen == {(1, 2), "text"}


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        ([object()], "instance 0 is a object, which has no name that its runs"),
        ([1, {1, 2}], "instance 1 is a set, which has no name"),
        ("a.cnf", "instances must be a list, not the text 'a.cnf'"),
        ([], "the list of instances is empty"),
        ({}, "the list of instances is empty"),
        (["a", "b", "a"], "instance 'a' is listed twice"),
        ([1, "1"], "instance '1' is listed twice"),
        (["a", Path("a")], "instance 'a' is listed twice"),
    ],
)
def test_bad_instances_are_named(instances, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        tune(lambda config, instance: 1.0, TINY, instances=instances, budget=10)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"configurator": "irace"}, "there is no configurator 'irace'; there are 'paramhs', 'para"),
        (
            {"cost": "min"},
            "there is no cost 'min'; there are 'minimise', 'maximise', 'work', 'runtime'",
        ),
        (
            {"executor": "gpu"},
            "executor must be one of inline, threads, processes, dask, not 'gpu'",
        ),
        ({"executor": 3}, "3 is not an executor: it has no method submit"),
        ({"jobs": 0}, "jobs must be at least 1, not 0"),
        ({"budget": 0}, "the budget's runs must be a positive number, not 0"),
        ({"cutoff": 0}, "the cutoff must be a positive number of seconds, not 0"),
        ({"cutoff": 10**400}, "a positive number of seconds, not <an integer of about 400 digits>"),
        (
            {"cutoff": 10**5000},
            "positive number of seconds, not <an integer of about 5,000",
        ),
        ({"cutoff": "5 m"}, "the cutoff: expected seconds, or a text such as '90 s'"),
        ({"memory": 10**400}, "memory must be a positive number of bytes, not <an integer"),
        ({"jobs": 10**5000}, "jobs must be at most 1,024, not <an integer of about 5,000 digits>"),
        ({"store": 5}, "store must be the path of a file, not 5"),
        ({"store": "a\0b"}, "store must be the path of a file; no path has a NUL in it: 'a\\x00b'"),
        ({"warm_start": [5]}, "warm_start must be the path of a file, not 5"),
        ({"initial": 5}, "initial must be a list of configurations, not 5"),
        ({"initial": {"x": 1}}, "initial must be a list of configurations, not {'x': 1}"),
        ({"seed": 10**400}, "seed must be an integer of at most 300 digits"),
        ({"seed": 10**5000}, "seed must be an integer of at most 300 digits"),
        ({"instances": [1, 10**5000]}, "instance 1 has too many digits to serve as a name"),
        ({"cutoff": math.nan}, "the cutoff must be a positive number of seconds, not nan"),
        ({"cost": "runtime"}, "tuning for runtime needs a cutoff"),
        ({"space": {}}, "a space needs at least one parameter"),
    ],
)
def test_what_is_wrong_is_named_with_the_choices(wrong, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        tune(**{"function": distance, "space": TINY, "budget": 10, **wrong})


@pytest.mark.parametrize("wrong", [{"budget": "ten"}, {"instances": 5}, {"seed": "x" * 3}])
def test_an_argument_of_the_wrong_type_is_bad_input_or_works(wrong):
    with suppress(BadInput):
        tune(**{"function": distance, "space": TINY, "budget": 10, **wrong})


@pytest.mark.parametrize("argument", ["store", "warm_start"])
def test_a_name_that_no_file_system_takes_is_refused(argument):
    with pytest.raises(StoreError, match=r"File name too long|there is no store aaa"):
        tune(distance, TINY, budget=10, **{argument: "a" * 5000})


def test_a_bad_argument_leaves_no_file(tmp_path):
    with pytest.raises(BadInput):
        tune(distance, TINY, budget=10, store=tmp_path / "a", configurator="irace")
    with pytest.raises(BadInput):
        tune(distance, TINY, budget=10, store=tmp_path / "a", jobs=0)
    assert list(tmp_path.iterdir()) == []


class Panic(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize("executor", ["inline", "threads", "processes"])
@pytest.mark.parametrize("error", [Panic("out of range"), asyncio.CancelledError("too late")])
def test_whatever_a_function_raises_is_a_crash_with_its_reason(executor, error, capfd):
    def fails(config):
        if config["x"] != 4:
            raise error
        return 1.0

    result = tune(fails, TINY, budget=12, executor=executor)
    crashed = [run for run in result.runs if run.status is Status.CRASHED]
    assert len(crashed) > 5
    assert {str(error) in run.detail for run in crashed} == {True}
    assert capfd.readouterr() == ("", "")


def test_a_function_may_change_the_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    def moves(config):
        os.chdir(tmp_path / "elsewhere")
        time.sleep(0.03)
        return config["x"]

    for budget in (20, 30):
        result = tune(moves, TINY, budget=budget, store="runs.sqlite", executor="inline")
        monkeypatch.chdir(tmp_path)
    assert len(result.runs) == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "runs.sqlite"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


class Paused(Target):
    """Times out this many times, each time as if this process had been stopped meanwhile."""

    def __init__(self, times, number=signal.SIGCONT):
        self.left, self.number = times, number

    def __call__(self, task):
        self.left -= 1
        if self.left < 0:
            return Run(task, Status.OK, 0.1, 1.0)
        os.kill(os.getpid(), self.number)
        return Run(task, Status.TIMEOUT, 2.0)


@pytest.mark.skipif(not hasattr(signal, "SIGCONT"), reason="nothing can be stopped there")
def test_a_run_that_timed_out_while_all_was_stopped_is_made_again():
    with executing(Paused(2), "inline", 1, 1.0) as (_, run):
        assert run(task()).status is Status.OK
    with executing(Paused(9), "inline", 1, 1.0) as (_, run):
        assert run(task()).status is Status.TIMEOUT  # no process is stopped all the time
    with executing(Paused(1, 0), "inline", 1, 1.0) as (_, run):  # no signal
        assert run(task()).status is Status.TIMEOUT
    assert signal.getsignal(signal.SIGCONT) == signal.SIG_DFL


def test_inline_judges_the_cutoff_when_the_run_is_over():
    def slow(config):
        total = 0
        for k in range(40_000 if config["x"] > 4 else 1):
            total += k
        return config["x"]

    result = tune(slow, TINY, budget=20, cutoff=1e-4, executor="inline", cost="runtime")
    assert result.best["x"] <= 4
    slow_runs = [run for run in result.runs if run.task.config["x"] > 4]
    assert {run.status for run in slow_runs} == {Status.TIMEOUT}


def test_a_configurator_may_be_given_itself():
    result = tune(distance, {"x": range(20)}, budget=100, configurator=ParamRLS())
    assert result.best["x"] == 13


@given(st.integers(0, 2**64))
def test_any_seed_will_do(seed):
    assert tune(distance, TINY, budget=50, seed=seed).best["x"] == 9


def test_a_default_that_returns_nan_stops_with_its_name():
    with pytest.raises(TargetError, match="returned nan"):
        tune(lambda config: math.nan, TINY, budget=50)


def test_a_smaller_budget_on_a_store_counts_no_run_as_speculative(tmp_path):
    path = tmp_path / "runs.sqlite"
    tune(noisy, SPACE, budget=100, store=path)
    result = tune(noisy, SPACE, budget=Budget(runs=40), store=path)
    assert result.asked == tune(noisy, SPACE, budget=40).asked
    assert result.to_json()["speculative_runs"] == 0


def scaled(factor, config):
    return abs(config["x"] - factor)


def test_functions_that_bind_other_values_do_not_share_a_store(tmp_path):
    store = tmp_path / "runs.sqlite"
    how = {"budget": 20, "deterministic": True, "store": store}
    assert tune(partial(scaled, 2), {"x": range(10)}, **how).best["x"] == 2
    assert tune(partial(scaled, 2), {"x": range(10)}, **how).best["x"] == 2
    with pytest.raises(StoreError):
        tune(partial(scaled, 8), {"x": range(10)}, **how)


def greedy(config):
    return len(bytearray(int(config["x"] > 4) * 2_000_000_000))


def sleepy(config):
    time.sleep(60 * (config["x"] > 4))
    return 1.0


def test_an_executor_of_ones_own_limits_memory():
    with ThreadPoolExecutor(1) as pool:
        result = tune(greedy, UP, budget=5, memory=1e9, executor=pool)
    assert {run.status for run in result.runs if run.task.config["x"] > 4} == {Status.CRASHED}


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_of_ones_own_stops_runs_at_the_cutoff(kind):
    with kind(1) as pool:
        result = tune(sleepy, UP, budget=5, cutoff=0.5, executor=pool)
    assert {run.status for run in result.runs if run.task.config["x"] > 4} == {Status.TIMEOUT}


UP = {"x": Integer(0, 9, default=0)}


@pytest.mark.parametrize("runs", [0, -1, 2.5])
def test_a_verdict_has_runs(runs):
    with pytest.raises(BadInput, match="at least 1 run of each side"):
        TestSet((Instance("a"),), held_out=True, runs=runs)


@pytest.mark.parametrize("penalty", [0, 0.5, -1, math.inf, math.nan, "a"])
def test_a_penalty_is_at_least_one(penalty):
    for cost in (Runtime, RuntimeThenQuality):
        with pytest.raises(BadInput, match="a penalty must be a number of at least 1"):
            cost(penalty)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ParamRLS(Harmonic()),
        lambda: ParamRLS(SeveralParameters),
        lambda: ParamRLS(comparison=Growing),
        lambda: ParamILS(comparison=5),
        lambda: Growing(2.5),
        lambda: FixedRuns(1.5),
        lambda: FreshRuns("3"),
        lambda: tune(distance, SPACE, budget=5, configurator=ParamRLS),
    ],
)
def test_parts_that_do_not_fit_are_bad_input(make):
    with pytest.raises(BadInput):
        make()


def test_a_deterministic_target_is_given_one_fixed_seed_in_the_search_and_in_the_verdict():
    seeds = []

    def cost(config, instance, seed):
        seeds.append((instance, seed))
        return abs(config["x"] - 7) + len(instance)

    result = tune(
        cost,
        {"x": Integer(0, 9, default=0)},
        instances=["a", "bb", "ccc"],
        test_instances=[f"t{k}" for k in range(6)],
        deterministic=True,
        budget=60,
    )
    assert result.verdict.second.cost < result.verdict.first.cost
    assert {seed for _, seed in seeds} == {FIXED_SEED}
    assert {instance for instance, _ in seeds} >= {"a", "bb", "ccc", "t0", "t5"}
