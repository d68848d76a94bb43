"""Parts of one's own, and our own held to the same suites."""

import inspect
import time
import warnings
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from fractions import Fraction

import pytest

import paramhs
from paramhs import AskTell, BadInput, Boolean, Integer, Space, StoreError, tune
from paramhs.core import CostMetric, Incumbent, Instance, Run, Scenario, Status, Target, Task
from paramhs.core.random_streams import below
from paramhs.execution.driver import Workers
from paramhs.execution.storage import MemoryStore
from paramhs.execution.storage.sqlite import SqliteStore
from paramhs.execution.targets.supervised_target import KeptTarget
from paramhs.formats.scenario import read_scenario
from paramhs.search import (
    BothSides,
    Comparison,
    Configurator,
    FixedRuns,
    Focused,
    FreshRuns,
    FrontSearch,
    Growing,
    Harmonic,
    History,
    Learner,
    LStep,
    Narrowing,
    OneParameter,
    Operator,
    ParamHS,
    ParamILS,
    ParamRLS,
    RestartWalk,
    SeveralParameters,
    Step,
    Uniform,
    UniformRandom,
    comparison,
    configurators,
    operators,
)
from paramhs.search.registry import CLASSES, NAMED, register
from paramhs.testing import (
    check_comparison,
    check_configurator,
    check_operator,
    check_part,
    check_store,
    check_target,
)
from tests.support import scale
from tests.support.laws import DRAWS
from tests.support.targets import Quadratic

pytestmark = pytest.mark.forks

SPACE = Space({"x": range(6), "mode": ["a", "b", "c"], "flag": Boolean()})
LINE = Space({"x": range(12)})
UP = {"x": Integer(0, 9, default=0)}
CONDITIONAL = Space(
    {"m": ["b", "a"], "z": (0, 5), "y": (0, 3)},
    conditions={"z": "m == a"},
    forbidden=["m == b and y == 2"],
)


# Our own parts.


REGISTERED = [
    *(part for named in NAMED.values() for part in named.values() if part is not FreshRuns),
    *(UniformRandom(), Narrowing(), FreshRuns(3)),
]


PART_DRAWS = DRAWS // 5  # their laws are tested with their operators
PART_RUNS = scale.of(80, 200)


def test_every_part_is_among_those_held_to_a_suite():
    several = {FrontSearch}  # searches with several costs: tests/search/test_front.py
    assert {type(part) for part in REGISTERED} == set(CLASSES.values()) - several


@pytest.mark.parametrize("part", REGISTERED, ids=str)
def test_our_parts_conform(part):
    check_part(part, draws=PART_DRAWS, runs=PART_RUNS)


@pytest.mark.parametrize("space", [SPACE, LINE, CONDITIONAL], ids=["mixed", "line", "conditional"])
@pytest.mark.parametrize(
    "operator",
    [
        *NAMED["moves"].values(),
        *(OneParameter(step) for step in NAMED["step"].values()),
        *(OneParameter(LStep(2)), SeveralParameters(Uniform()), UniformRandom(), Narrowing()),
    ],
    ids=str,
)
def test_our_operators_keep_to_their_laws(operator, space):
    check_operator(operator, space, draws=DRAWS)


@pytest.mark.parametrize(
    "comparison", [Growing(1), Growing(5, 50), Focused("shared", 9), FixedRuns(7)], ids=str
)
def test_our_comparisons_conform(comparison):
    check_comparison(comparison)


@pytest.mark.parametrize(
    "configurator",
    [
        ParamRLS(OneParameter(), FreshRuns(3), "uniform"),
        ParamRLS(OneParameter(Uniform()), Growing(), replacement=False),
        ParamILS(OneParameter(Harmonic()), FreshRuns(2), walk=RestartWalk()),
        ParamHS(BothSides(), Growing()),
    ],
    ids=str,
)
def test_our_configurators_conform(configurator):
    check_configurator(configurator)


def test_our_stores_conform(tmp_path):
    from paramhs.testing.driving import SPACE as STORED

    check_store(MemoryStore, persistent=False)
    check_store(lambda: SqliteStore(tmp_path / "a.sqlite", STORED, {}), persistent=True)


# Wrong parts are found.


class Stays(OneParameter):
    def distribution(self, space, at, excluded=()):
        return {(at,): Fraction(1)}


class Biased(OneParameter):
    def sample(self, space, at, rng, excluded=()):
        moves = list(self.distribution(space, at, excluded))
        return moves[below(len(moves), rng)]


class Deaf(OneParameter):
    def sample(self, space, at, rng, excluded=()):
        return super().sample(space, at, rng)


class Forgetful(OneParameter):
    def order(self, space, at, rng, excluded=()):
        order = super().order(space, at, rng, excluded)
        next(order)
        return order


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Stays(), "stays at"),
        (Biased(), "do not fit"),
        (Deaf(), "not in the law"),
        (Forgetful(), "leaves out"),
    ],
)
def test_wrong_operators_are_found(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_operator(wrong, LINE, draws=DRAWS)


@dataclass(frozen=True)
class Remembering(FixedRuns):
    def better(self, history, challenger, incumbent):
        won = yield from super().better(history, challenger, incumbent)
        object.__setattr__(self, "runs", self.runs + 1)
        return won


class Upside(FixedRuns):
    def better(self, history, challenger, incumbent):
        return not (yield from super().better(history, challenger, incumbent))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(Upside(3), "one lost"), (Remembering(3), "more than the history")],
)
def test_wrong_comparisons_are_found(wrong, message):
    with pytest.raises(AssertionError, match=message):
        check_comparison(wrong)


class Lossy(MemoryStore):
    def put(self, run, asked=None):
        super().put(run._replace(detail=""))


def test_wrong_stores_are_found():
    with pytest.raises(AssertionError, match="first answer"):
        check_store(Lossy, persistent=False)


# Parts of one's own in every interface.


class Undescribed(Target):
    def __call__(self, task: Task) -> Run:
        return Run(task, Status.OK, 0.0, 1.0)


def test_a_target_of_ones_own_conforms():
    check_target(Quadratic(3), Task(LINE.default, Instance("a"), 5))


@pytest.mark.parametrize("how", [{}, {"jobs": 2}, {"cutoff": 20.0}, {"executor": "threads"}])
def test_a_target_of_ones_own_is_tuned(how):
    result = tune(Quadratic(9), LINE, budget=60, **how)
    assert result.best["x"] == 9
    assert {run.runtime for run in result.runs} == {0.01}


class Slow(Target):
    def __call__(self, task: Task) -> Run:
        time.sleep(60 * (task.config["x"] > 5))
        return Run(task, Status.OK, 0.1, 1.0)


def test_a_target_of_ones_own_is_stopped_at_the_cutoff():
    result = tune(Slow(), UP, budget=8, cutoff=0.5, initial=[{"x": 9}])
    late = [run for run in result.runs if run.task.config["x"] > 5]
    assert late
    assert {run.status for run in late} == {Status.TIMEOUT}


class Raising(Target):
    def __call__(self, task: Task) -> Run:
        if task.config["x"] > 5:
            raise ZeroDivisionError("not today")
        return Run(task, Status.OK, 0.1, 1.0)


def test_a_target_of_ones_own_that_raises_has_crashed():
    result = tune(Raising(), UP, budget=8, executor="processes", initial=[{"x": 9}])
    crashed = [run for run in result.runs if run.task.config["x"] > 5]
    assert crashed
    assert all(run.status is Status.CRASHED and "not today" in run.detail for run in crashed)


def test_targets_of_ones_own_with_other_values_do_not_share_a_store(tmp_path):
    store = tmp_path / "runs.sqlite"
    assert tune(Quadratic(3), LINE, budget=60, store=store).best["x"] == 3
    with pytest.raises(StoreError, match=r"target.best: stored 3, now 9"):
        tune(Quadratic(9), LINE, budget=60, store=store)


def test_a_target_that_does_not_describe_itself_is_known_by_its_code_and_fields(tmp_path):
    store = tmp_path / "runs.sqlite"
    assert tune(Undescribed(), LINE, budget=6, store=store).asked == 6
    assert tune(Undescribed(), LINE, budget=6, store=store).asked == 6
    other = Undescribed()
    other.field = 1
    with pytest.raises(StoreError, match="the target changed"):
        tune(other, LINE, budget=6, store=store)


@dataclass(frozen=True)
class Worst(CostMetric):
    """The cost is how far the quality is from a number."""

    wanted: float

    def of(self, run):
        return (abs(run.quality - self.wanted),)


class NoFacts:
    def of(self, run):
        return (run.quality,)


def test_a_metric_of_ones_own_works_everywhere(tmp_path):
    result = tune(
        lambda config: config["x"], LINE, budget=60, cost=Worst(4.0), store=tmp_path / "a.sqlite"
    )
    assert result.best["x"] == 4
    with pytest.raises(StoreError, match=r"cost.wanted: stored 4.0, now 5.0"):
        tune(
            lambda config: config["x"],
            LINE,
            budget=60,
            cost=Worst(5.0),
            store=tmp_path / "a.sqlite",
        )
    search = AskTell(LINE, cost=Worst(4.0), deterministic=True)
    while task := search.ask():
        search.tell(task, task.config["x"])
    assert search.best["x"] == 4


def test_a_metric_without_its_facts_is_refused_with_the_way_out():
    with pytest.raises(BadInput, match=r"subclass of paramhs\.core\.CostMetric"):
        tune(lambda config: 1, LINE, budget=6, cost=NoFacts())


class Opaque(Operator):
    def __init__(self, inner):
        self.inner = inner
        self.operator = OneParameter()

    def distribution(self, *arguments):
        return self.operator.distribution(*arguments)

    def sample(self, *arguments):
        return self.operator.sample(*arguments)

    def order(self, *arguments):
        return self.operator.order(*arguments)


class Telling(Opaque):
    def describe(self):
        return {"inner": self.inner}


def test_an_operator_that_does_not_say_what_it_is_gets_no_store(tmp_path):
    how = {"budget": 9, "store": tmp_path / "runs.sqlite"}
    rules = ParamHS(Opaque(3))
    assert tune(lambda c: c["x"], LINE, budget=9, configurator=rules).asked == 9
    with pytest.raises(BadInput, match=r"the configurator's operator is a .*Opaque"):
        tune(lambda c: c["x"], LINE, configurator=rules, **how)


def plain(config):
    return config["x"]


def test_operators_with_descriptions_are_distinguished(tmp_path):
    how = {"budget": 9, "store": tmp_path / "runs.sqlite"}
    tune(plain, LINE, configurator=ParamHS(Telling(3)), **how)
    tune(plain, LINE, configurator=ParamHS(Telling(3)), **how)
    with pytest.raises(StoreError, match=r"operator.inner: stored 3, now 4"):
        tune(plain, LINE, configurator=ParamHS(Telling(4)), **how)


@dataclass(frozen=True)
class Sweep(Configurator):
    """A configurator of one's own: everything once, in order."""

    def search(self, history: History):
        best = None
        for config in history.scenario.space.configs():
            yield from history.ask((config, [history.pair(0)]))
            (cost,) = history.costs(config).values()
            if best is None or cost < best:
                best = cost
                yield Incumbent(config)
        return "swept"


def test_a_configurator_of_ones_own_works_everywhere(tmp_path):
    check_configurator(Sweep(), Scenario(LINE))
    result = tune(
        Quadratic(7), LINE, budget=50, configurator=Sweep(), store=tmp_path / "a.sqlite", jobs=2
    )
    assert (result.best["x"], result.stopped) == (7, "swept")
    search = AskTell(LINE, configurator=Sweep(), deterministic=True)
    while task := search.ask():
        search.tell(task, abs(task.config["x"] - 5))
    assert search.best["x"] == 5


class Minimal(Executor):
    """An executor of one's own."""

    def submit(self, function, /, *arguments):
        future = Future()
        future.set_result(function(*arguments))
        return future


def test_an_executor_of_ones_own_works():
    assert tune(Quadratic(9), LINE, budget=60, executor=Minimal()).best["x"] == 9


# An operator that learns.


@dataclass(frozen=True)
class Towards(Learner):
    """Half of its moves go the way that the last winner went; it looks every this many races."""

    every: int = 5

    def given(self, history):
        won = [race for race in history.races if race.won]
        way = 0
        if won:
            way = won[-1].challenger.indices[0] - won[-1].incumbent.indices[0]
        return Leaning(max(-1, min(1, way)))

    def cohort(self, history):
        return self.every


@dataclass(frozen=True)
class Leaning(OneParameter):
    """The harmonic step, or one step this way, each with probability one half."""

    way: int = 0

    def __init__(self, way=0):
        object.__setattr__(self, "step", Harmonic())
        object.__setattr__(self, "way", way)

    def distribution(self, space, at, excluded=()):
        law = super().distribution(space, at, excluded)
        step = self._step(space, at, excluded)
        if step is None or not law:
            return law
        return {move: p / 2 + (Fraction(1, 2) if move == (step,) else 0) for move, p in law.items()}

    def sample(self, space, at, rng, excluded=()):
        step = self._step(space, at, excluded)
        if step is not None and rng.random() < 0.5:
            return (step,)
        return super().sample(space, at, rng, excluded)

    def _step(self, space, at, excluded):
        to = at.indices[0] + self.way
        if not self.way or not 0 <= to < space.listed[0].levels:
            return None
        step = space.moved(at, ((0, to),))
        return None if step is None or step in excluded else step


LONG = Space({"x": range(200)})


def test_an_operator_that_learns_keeps_to_its_law_given_a_history():
    history = History(Scenario(LINE), 0)
    check_operator(Towards(), LINE, history=history)
    low, high = LINE.config(x=3), LINE.config(x=5)
    history.decide(high, low, True)
    check_operator(Towards(), LINE, high, history=history)
    law = Towards().given(history).distribution(LINE, high)
    assert law[(LINE.config(x=6),)] > Fraction(1, 2)


def test_a_search_that_learns_conforms_and_is_stored(tmp_path):
    check_configurator(ParamHS(Towards()), Scenario(LONG))
    tune(
        Quadratic(9), LONG, budget=60, configurator=ParamHS(Towards()), store=tmp_path / "a.sqlite"
    )


@pytest.mark.parametrize("jobs", [2, 8])
def test_jobs_do_not_change_a_search_that_learns(jobs):
    def steps(**how):
        result = tune(
            Quadratic(150), LONG, budget=400, configurator=ParamHS(Towards()), seed=5, **how
        )
        return [(point.config, point.runs, point.cost) for point in result.trajectory]

    alone = steps()
    assert len(alone) > 3
    assert steps(jobs=jobs, executor="threads") == alone


# Parts that are not finished are refused, and the missing method is named.


class HalfOperator(Operator):
    def sample(self, space, at, rng, excluded=()):
        return ()


class HalfLearner(Learner):
    def cohort(self, history):
        return 1


class HalfStep(Step):
    def weight(self, distance):
        return Fraction(1)

    def reach(self, levels, at):
        return range(levels)

    def mass(self, levels, at):
        return levels - 1


class HalfComparison(Comparison):
    def start(self, history, config):
        return True
        yield

    def better(self, history, challenger, incumbent):
        return True
        yield


class HalfConfigurator(Configurator):
    """Nothing of it is written."""


class HalfWorkers(Workers):
    jobs = 3
    workers = "three"


class HalfTarget(Target):
    """Nothing of it is written."""


class HalfKept(KeptTarget):
    def __call__(self, task):
        return Run(task, Status.OK, 0.0, 1.0)

    def job(self):
        return None


@pytest.mark.parametrize(
    ("half", "missing"),
    [
        (HalfTarget, "__call__"),
        (HalfKept, "run"),
        (HalfOperator, "distribution"),
        (HalfLearner, "given"),
        (HalfStep, "quantile"),
        (HalfComparison, "is_final"),
        (HalfConfigurator, "search"),
        (HalfWorkers, "notices"),
    ],
)
def test_a_half_written_part_cannot_be_made(half, missing):
    with pytest.raises(TypeError, match=rf"abstract method '?{missing}"):
        half()


def stranger(**methods):
    """An object that derives from nothing of ours."""
    return type("Stranger", (), {name: lambda *_: None for name in methods["having"]})()


@pytest.mark.parametrize(
    ("part", "having", "message"),
    [
        ("operator", ["sample", "order"], "has no method distribution"),
        ("operator", ["given"], "must derive from Learner"),
        ("operator", ["distribution", "sample", "order"], "must derive from Operator"),
        ("comparison", ["start", "better"], "has no method is_final"),
        ("comparison", [], "has no method better"),
    ],
)
def test_a_stranger_is_no_part_and_the_missing_method_is_named(part, having, message):
    with pytest.raises(BadInput, match=message):
        ParamHS(**{part: stranger(having=having)})


@pytest.mark.parametrize(("having", "message"), [([], "no method search"), (["search"], "derive")])
def test_a_stranger_is_no_configurator(having, message):
    with pytest.raises(BadInput, match=message):
        tune(plain, LINE, budget=9, configurator=stranger(having=having))


class Unfinished(Executor):
    """`Executor` has a `submit` that raises without a word."""


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (Unfinished(), "no method submit"),
        (stranger(having=[]), "no method submit"),
        (stranger(having=["submit"]), r"derive from concurrent\.futures\.Executor"),
    ],
)
def test_an_unfinished_executor_is_refused(executor, message):
    with pytest.raises(BadInput, match=message):
        tune(plain, LINE, budget=9, executor=executor)


class Silent(Growing):
    """A start that returns instead of yielding: it would be "not iterable" deep inside."""

    def start(self, history, config):
        return None


class Hasty(Growing):
    def better(self, history, challenger, incumbent):
        return True


class Mute(Configurator):
    def search(self, history):
        return None


@pytest.mark.parametrize(
    ("rules", "returned"),
    [
        (ParamHS(OneParameter(), Silent()), "None"),
        (ParamHS(OneParameter(), Hasty()), "True"),
        (Mute(), "None"),
    ],
)
def test_a_method_without_a_yield_is_named(rules, returned):
    with pytest.raises(BadInput, match=f"search, start and better must be.*returned {returned}"):
        tune(plain, LINE, budget=9, configurator=rules)


# A part is listed in one place.


@pytest.fixture
def registry():
    """The list of parts, which is as it was afterwards."""
    tables = [CLASSES, *NAMED.values()]
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@dataclass(frozen=True)
class Lazy(OneParameter):
    """A new operator, with a setting of its own."""

    patience: int = 3


SCENARIO_FILE = """
function = "tests.support.targets:noisy"
[space]
x = [0, 9]
[budget]
runs = 9
[configurator]
"""


@pytest.mark.usefixtures("registry")
def test_a_part_is_added_in_one_place(tmp_path):
    register(Lazy(), "lazy")
    check_part(Lazy(), draws=DRAWS)
    file = tmp_path / "scenario.toml"
    file.write_text(f'{SCENARIO_FILE}moves = "lazy"\npatience = 7\nstep = "uniform"\n')
    rules = read_scenario(file).configurator
    assert rules == ParamHS(Lazy(Uniform(), patience=7))
    result = tune(plain, LINE, budget=30, configurator=rules, store=tmp_path / "a.sqlite")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = paramhs.load(tmp_path / "a.sqlite")
    assert again.history.races == result.history.races


@pytest.mark.usefixtures("registry")
def test_a_configurator_is_added_in_one_place():
    register(ParamHS(Lazy(), Growing(3)), "mine")
    assert tune(plain, LINE, budget=9, configurator="mine").asked == 9
    assert AskTell(LINE, configurator="mine").ask()


@pytest.mark.usefixtures("registry")
def test_a_part_of_ones_own_may_be_defined_again():
    register(Lazy(), "lazy")
    again = type("Lazy", (OneParameter,), {"__module__": __name__})
    register(again(), "lazy")
    assert NAMED["moves"]["lazy"] == again()


def test_a_stored_search_needs_no_registered_parts_to_be_read(tmp_path):
    store = tmp_path / "a.sqlite"
    result = tune(plain, LINE, budget=30, configurator=ParamHS(Lazy()), store=store)
    assert paramhs.load(store).history.races == result.history.races != []


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("part", "name", "message"),
    [
        (3, "three", "int is not a part: it derives from none of Configurator, Operator"),
        (HalfOperator, "half", "HalfOperator is not finished: it has no method distribution"),
        (Lazy(), "one", "one is the name of another part, OneParameter"),
        (Sweep, "sweep", r"Sweep is a class, .*: write Sweep\(\)"),
        (
            type("OneParameter", (OneParameter,), {"__module__": "__main__"}),
            "",
            "OneParameter is the name of another part",
        ),
    ],
)
def test_what_cannot_be_registered_is_refused(part, name, message):
    register(Lazy())
    with pytest.raises(BadInput, match=message):
        register(part, name)


MADE_BY_LEARNERS = {"Mixture", "Narrowed", "Stratified"}


def test_every_part_of_ours_is_registered_and_exported():
    ours = {
        name
        for module in (operators, comparison, configurators)
        for name in module.__all__
        if inspect.isclass(part := getattr(module, name))
        and issubclass(part, Operator | Learner | Step | Comparison | Configurator)
        and not inspect.isabstract(part)
    }
    assert ours - MADE_BY_LEARNERS <= CLASSES.keys()
    assert CLASSES.keys() <= set(paramhs.search.__all__)
