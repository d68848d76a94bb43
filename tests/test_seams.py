"""Parts of one's own, and our own held to the same suites."""

import time
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from fractions import Fraction

import pytest

from laws import DRAWS
from paramhs import (
    Afresh,
    Anywhere,
    AskTell,
    BadInput,
    Boolean,
    BothSides,
    CostMetric,
    FixedRuns,
    Focused,
    FreshRuns,
    Growing,
    Harmonic,
    History,
    Incumbent,
    Instance,
    Integer,
    LStep,
    One,
    ParamHS,
    ParamILS,
    ParamRLS,
    Run,
    Scenario,
    Several,
    Space,
    Status,
    StoreError,
    Target,
    Task,
    Uniform,
    tune,
)
from paramhs.search.configurators import CONFIGURATORS
from paramhs.testing import (
    check_comparison,
    check_configurator,
    check_operator,
    check_store,
    check_target,
)
from paramhs.values.seeds import below
from paramhs.world.store import MemoryStore
from paramhs.world.store.sqlite import SqliteStore

SPACE = Space({"x": range(6), "mode": ["a", "b", "c"], "flag": Boolean()})
LINE = Space({"x": range(12)})
UP = {"x": Integer(0, 9, default=0)}
CONDITIONAL = Space(
    {"m": ["b", "a"], "z": (0, 5), "y": (0, 3)},
    conditions={"z": "m == a"},
    forbidden=["m == b and y == 2"],
)


# Our own parts.


@pytest.mark.parametrize("space", [SPACE, LINE, CONDITIONAL], ids=["mixed", "line", "conditional"])
@pytest.mark.parametrize(
    "operator",
    [
        One(),
        One(Uniform()),
        One(LStep(2)),
        Several(),
        Several(Uniform()),
        BothSides(),
        Anywhere(),
    ],
    ids=str,
)
def test_our_operators_keep_to_their_laws(operator, space):
    check_operator(operator, space, draws=DRAWS)


@pytest.mark.parametrize(
    "comparison",
    [
        Growing(),
        Growing(1),
        Growing(5, 50),
        Focused(),
        Focused("shared", 9),
        FixedRuns(7),
        FreshRuns(3),
    ],
    ids=str,
)
def test_our_comparisons_conform(comparison):
    check_comparison(comparison)


@pytest.mark.parametrize(
    "configurator",
    [
        *CONFIGURATORS.values(),
        ParamRLS(One(), FreshRuns(3), "uniform"),
        ParamRLS(One(Uniform()), Growing(), replacement=False),
        ParamILS(One(Harmonic()), FreshRuns(2), walk=Afresh()),
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


class Stays(One):
    def distribution(self, space, at, excluded=()):
        return {(at,): Fraction(1)}


class Biased(One):
    def sample(self, space, at, rng, excluded=()):
        moves = list(self.distribution(space, at, excluded))
        return moves[below(len(moves), rng)]


class Deaf(One):
    def sample(self, space, at, rng, excluded=()):
        return super().sample(space, at, rng)


class Forgetful(One):
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


@dataclass
class Quadratic(Target):
    """A target of one's own: a dataclass, so that its runs can be stored."""

    best: int

    def __call__(self, task: Task) -> Run:
        quality = (task.config["x"] - self.best) ** 2 + task.seed % 3
        return Run(task, Status.OK, 0.01, float(quality))


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


def test_what_cannot_say_what_it_is_needs_no_store_and_gets_none(tmp_path):
    assert tune(Undescribed(), LINE, budget=6).asked == 6
    with pytest.raises(BadInput, match=r"the target is a .*Undescribed, which does not say"):
        tune(Undescribed(), LINE, budget=6, store=tmp_path / "runs.sqlite")


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
    with pytest.raises(BadInput, match=r"subclass of paramhs\.CostMetric"):
        tune(lambda config: 1, LINE, budget=6, cost=NoFacts())


class Opaque:
    def __init__(self, inner):
        self.inner = inner
        self.operator = One()

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


def test_an_operator_that_says_what_it_is_is_told_apart(tmp_path):
    how = {"budget": 9, "store": tmp_path / "runs.sqlite"}
    tune(plain, LINE, configurator=ParamHS(Telling(3)), **how)
    tune(plain, LINE, configurator=ParamHS(Telling(3)), **how)
    with pytest.raises(StoreError, match=r"operator.inner: stored 3, now 4"):
        tune(plain, LINE, configurator=ParamHS(Telling(4)), **how)


@dataclass(frozen=True)
class Sweep:
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
class Towards:
    """Half of its moves go the way that the last winner went; it looks every so many races."""

    every: int = 5

    def given(self, history):
        won = [race for race in history.races if race.won]
        way = 0
        if won:
            way = won[-1].challenger.indices[0] - won[-1].incumbent.indices[0]
        return Leaning(max(-1, min(1, way)))

    def is_due(self, history, seen):
        return len(history.races) % self.every == 0

    def distribution(self, space, at, excluded=()):
        raise AssertionError("its law is that of what it is given a history")

    sample = order = distribution


@dataclass(frozen=True)
class Leaning(One):
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
