"""Several costs: the front, its verdict, its stores, and bad input."""

import json
import math
import time

import pytest

import paramhs
from paramhs.core.random_streams import stream
from tests.support.targets import noisy

SPACE = {"x": range(12), "y": range(4)}
TRAIN, TEST = [f"t{k}" for k in range(10)], [f"v{k}" for k in range(12)]
COSTS = ["minimise size", "minimise loss"]


def both(config, instance, seed):
    """Two costs that x trades and y only worsens."""
    rng = stream(seed, instance, repr(sorted(config.items())))
    x, y = config["x"], config["y"]
    noise = [math.exp(rng.gauss(0, 0.1)) for _ in range(2)]
    return {"loss": (1 + (11 - x) ** 2 / 11 + y) * noise[0], "size": (1 + x + y) * noise[1]}


def as_tuple(config, instance, seed):
    made = both(config, instance, seed)
    return made["size"], made["loss"]


def tuned(function=both, **settings):
    given = {"cost": COSTS, "budget": 250, "instances": TRAIN, "test_instances": TEST, "seed": 3}
    return paramhs.tune(function, SPACE, **{**given, **settings})


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return tuned(store=tmp_path_factory.mktemp("front") / "runs.sqlite")


def test_the_front_trades_one_cost_for_the_other(found):
    points = found.front.points
    assert 3 <= len(points) <= 8
    assert points[0].costs["size"] < found.front.default.costs["size"]
    ends = points[0].costs, points[-1].costs
    assert ends[0]["size"] < ends[1]["size"]
    assert ends[0]["loss"] > ends[1]["loss"]
    assert all(point.config["y"] <= 1 for point in points)


def test_each_point_has_a_verdict_on_each_cost_corrected_for_all_of_them(found):
    points = found.front.points
    assert found.front.is_verdict
    for point in points:
        assert {*point.verdicts} == {"size", "loss"}
        assert {one.comparisons for one in point.verdicts.values()} == {2 * len(points)}
    assert points[0].verdicts["size"].conclusion == "better"


def test_a_tuple_in_the_order_of_the_costs_is_the_same(found):
    assert tuned(as_tuple).front.to_json() == found.front.to_json()


def test_the_number_of_jobs_does_not_matter(found):
    assert tuned(jobs=2, executor="threads").front.to_json() == found.front.to_json()


def test_a_store_gives_the_same_front_and_resumes_to_it(found, tmp_path):
    assert paramhs.load(found.store).front.to_json() == found.front.to_json()
    short = tuned(store=tmp_path / "runs.sqlite", budget=120)
    assert short.front.is_verdict
    longer = tuned(store=tmp_path / "runs.sqlite")
    assert longer.front.to_json() == found.front.to_json()
    assert [run.others for run in paramhs.load(tmp_path / "runs.sqlite").runs] == [
        run.others for run in longer.runs
    ]


def test_the_recommendation_is_that_of_the_front(found):
    assert found.recommendation.startswith(found.front.recommendation)
    assert found.to_json()["front"] == json.loads(json.dumps(found.front.to_json()))
    assert "point" in str(found.front)


def test_pick_is_the_best_within_bounds(found):
    points = (found.front.default, *found.front.points)
    within = [point for point in points if point.costs["loss"] <= 6]
    picked = found.front.pick("loss <= 6")
    assert picked in within
    assert picked.costs["size"] == min(point.costs["size"] for point in within)
    with pytest.raises(paramhs.BadInput, match=r"no point is within 'loss <= 0'; loss is"):
        found.front.pick("loss <= 0")
    with pytest.raises(paramhs.BadInput, match="there is no cost 'time'"):
        found.front.pick("time <= 0")


def test_a_bound_chooses_one_point():
    result = tuned(subject_to="loss <= 6")
    chosen = result.front.chosen
    assert chosen.config == result.best
    assert chosen.costs["loss"] < 8
    assert "loss <= 6" in result.recommendation


def test_a_quality_and_the_runtime():
    def slow_is_good(config):
        time.sleep(0.002 * config["x"])
        return 10 - config["x"]

    result = paramhs.tune(slow_is_good, {"x": range(10)}, cost=["minimise", "runtime"], budget=15)
    assert result.front.metric.names == ("quality", "runtime")
    quick, *_, good = sorted(result.front.points, key=lambda point: point.costs["runtime"])
    assert quick.costs["quality"] > good.costs["quality"]


def test_a_command_in_python_reports_costs_by_name():
    program = paramhs.Command(
        """awk 'BEGIN {{ print "loss " 9 - {x}; print "size " 1 + {x} }}'""",
        read={"loss": paramhs.Pattern(r"loss (\S+)"), "size": "last number"},
    )
    result = paramhs.tune(program, {"x": range(10)}, cost=COSTS, budget=30)
    assert [result.front.default.costs[name] for name in ("size", "loss")] == [5, 5]
    assert {point.costs["size"] + point.costs["loss"] for point in result.front.points} == {10}
    one = paramhs.Command("echo {x}", read="last number")
    with pytest.raises(paramhs.BadInput, match="say where each is"):
        paramhs.tune(one, {"x": range(10)}, cost=COSTS, budget=30)


def test_a_maximised_cost_is_shown_in_its_own_sign():
    def trade(config):
        return {"size": 1 + config["x"], "accuracy": config["x"] / 9}

    result = paramhs.tune(trade, {"x": range(10)}, cost=["minimise size", "maximise accuracy"],
                          budget=30)  # fmt: skip
    best = max(result.front.points, key=lambda point: point.costs["accuracy"])
    assert best.costs == {"size": 10, "accuracy": 1.0}
    picked = result.front.pick("accuracy >= 0.5")
    assert picked.costs["accuracy"] >= 0.5
    assert all(p.costs["accuracy"] < 0.5 for p in result.front.points if p.number < picked.number)


def test_failed_runs_are_no_points():
    def fails(config, instance):
        if config["x"] > 7:
            raise ValueError("too large")
        return 1 + config["x"], 20 - config["x"]

    result = paramhs.tune(fails, {"x": range(12)}, instances=TRAIN, cost=COSTS, budget=150,
                          test_instances=TEST)  # fmt: skip
    assert all(point.config["x"] <= 7 for point in result.front.points)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ({"size": 1.0}, "expected 'size', 'loss'"),
        ((1.0,), r"expected 2 numbers \(size, loss\)"),
        (3.0, "expected 2 numbers"),
        ("12", "expected 2 numbers"),
        ((1.0, "b"), "expected a number"),
        ((1.0, math.nan), "nan"),
    ],
)
def test_what_is_not_two_numbers_is_said(returned, reason):
    with pytest.raises(paramhs.TargetError, match=reason):
        paramhs.tune(lambda config: returned, SPACE, cost=COSTS, budget=20)


def test_a_dictionary_where_there_is_one_cost_is_unreadable():
    with pytest.raises(paramhs.TargetError, match="expected a number"):
        paramhs.tune(lambda config: {"size": 1.0}, SPACE, budget=20)


def test_one_cost_has_no_front():
    result = paramhs.tune(noisy, {"x": range(20)}, instances=["a", "b"], budget=20)
    assert result.front is None
    assert "front" not in result.to_json()


def test_what_needs_one_cost_says_so(found):
    with pytest.raises(paramhs.BadInput, match="a portfolio has one cost"):
        paramhs.portfolio(found, both)
    with pytest.raises(paramhs.BadInput, match="simplify keeps the gain in one cost"):
        paramhs.simplify(both, found)
    with pytest.raises(paramhs.BadInput, match="ParamRLS cannot search with several costs"):
        tuned(configurator="paramrls")


def test_ask_and_tell_and_a_stop_by_gain_need_one_cost():
    with pytest.raises(paramhs.BadInput, match="ask and tell searches with one cost"):
        paramhs.AskTell(SPACE, cost=COSTS)
    with pytest.raises(paramhs.BadInput, match=r"budget\.stop predicts the gain in one cost"):
        tuned(budget=paramhs.Budget(runs=50, stop=0.01))
