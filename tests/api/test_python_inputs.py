"""What Python users bring: spaces and numbers of other libraries, objects as values, texts."""

import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import paramhs
from paramhs import BadInput, Budget, Categorical, Integer, Ordinal, Real, Space
from paramhs.core.space.from_description import space_of
from paramhs.formats.space_files import read_space
from paramhs.formats.space_objects import space_from

ConfigSpace = pytest.importorskip("ConfigSpace")


def by_x(config, instance=None):
    return (config["x"] - 3) ** 2


class TestObjects:
    def test_the_target_receives_the_object_and_stores_keep_the_name(self):
        space = Space(
            {"layers": Categorical({"small": (64,), "large": (64, 32)}), "depth": [None, 3]}
        )
        config = space.config(layers=(64, 32), depth=None)
        assert config.as_dict() == {"layers": "large", "depth": "None"}
        assert config.arguments() == {"layers": (64, 32), "depth": None}
        assert space.from_key(config.key) == config

    def test_a_search_over_objects_finds_the_best(self):
        result = paramhs.tune(
            lambda config: len(config["layers"] or ()), {"layers": [(1, 2), None, (3,)]}, budget=9
        )
        assert result.best.arguments() == {"layers": None}
        assert pickle.loads(pickle.dumps(result.best)).arguments() == {"layers": None}

    def test_functions_and_classes_have_readable_names(self):
        space = Space({"f": [len, dict, by_x]})
        assert list(space.parameters["f"].choices) == ["len", "dict", "by_x"]

    def test_lists_of_objects_make_names_in_constructors_too(self):
        assert Categorical([None, 3], default="None").choices == ("None", 3)
        ordinal = Ordinal([None, (1,), (1, 2)])
        assert ordinal.argument(ordinal.index("(1, 2)")) == (1, 2)
        assert Categorical([float("inf"), 1.5]).choices == ("inf", 1.5)

    def test_equal_numbers_of_different_types_stay_different_beside_objects(self):
        space = Space({"x": [True, 1, None]})
        assert [space.config(x=one).arguments()["x"] for one in (True, 1, None)] == [True, 1, None]
        assert space.size() == 3

    def test_functions_without_a_name_of_their_own_are_numbered(self):
        first, second = (lambda x: x), (lambda x: -x)
        choices = Categorical([first, second])
        assert choices.choices == ("lambda 1", "lambda 2")
        assert choices.argument(1) is second
        with pytest.raises(BadInput, match="must differ"):
            Categorical([first, first])

    def test_names_hold_no_addresses_and_are_short(self):
        class Kernel:
            pass

        names = Categorical([Kernel(), Kernel(), partial(by_x), tuple(range(500))]).choices
        assert names[:2] == ("Kernel 1", "Kernel 2")
        assert all(len(name) <= 60 and " at 0x" not in name for name in names)

    def test_a_loaded_search_gets_its_objects_back_or_is_refused(self, tmp_path):
        def cost(config):
            return config["x"][0] + config["y"]

        def space():
            return Space({"x": Categorical({"a": (1,), "b": (0,)}), "y": range(4)})

        store = tmp_path / "runs.sqlite"
        paramhs.tune(cost, space(), budget=20, store=store)
        with pytest.raises(BadInput, match=r"names of the values of 'x'.*load\(store, space="):
            paramhs.simplify(cost, paramhs.load(store), budget=20)
        loaded = paramhs.load(store, space=space())
        assert loaded.best.arguments() == {"x": (0,), "y": 0}
        assert paramhs.simplify(cost, loaded, budget=20).config == loaded.best
        with pytest.raises(paramhs.StoreError, match="another space: 'y' differs"):
            paramhs.load(store, space={**space().parameters, "y": range(5)})

    def test_another_object_under_the_same_name_is_another_space(self):
        first, second = (Space({"x": Categorical({"a": (1,), "b": (n,)})}) for n in (2, 3))
        assert first != second
        assert first == Space({"x": Categorical({"a": (1,), "b": (2,)})})
        assert space_of(first.describe()) == first

    def test_a_store_refuses_another_object_under_the_same_name(self, tmp_path):
        def cost(config):
            return config["x"][0]

        store = tmp_path / "runs.sqlite"
        paramhs.tune(cost, {"x": Categorical({"a": (1,), "b": (2,)})}, budget=4, store=store)
        with pytest.raises(paramhs.StoreError, match="x"):
            paramhs.tune(cost, {"x": Categorical({"a": (1,), "b": (0,)})}, budget=4, store=store)

    def test_a_default_is_given_by_its_name(self):
        space = Space({"depth": Categorical({"none": None, "three": 3}, default="none")})
        assert space.default.as_dict() == {"depth": "none"}

    def test_objects_with_equal_names_are_refused(self):
        with pytest.raises(BadInput, match="must differ"):
            Space({"x": [None, "None"]})


class TestNumpy:
    def test_scalars_are_numbers(self):
        result = paramhs.tune(
            by_x, {"x": np.arange(6)}, instances=np.arange(3), budget=np.int64(40), seed=np.int64(2)
        )
        assert result.best["x"] == 3
        assert type(result.best["x"]) is int

    def test_ranges_of_scalars_are_ranges(self):
        space = Space({"n": (np.int64(1), np.int64(9)), "x": (np.float64(0), np.float32(1))})
        assert isinstance(space.parameters["n"], Integer)
        assert isinstance(space.parameters["x"], Real)

    def test_scalars_and_arrays_make_parameters(self):
        assert Integer(np.int64(1), np.int32(9), default=np.int64(2)) == Integer(1, 9, default=2)
        levels = np.int64(9)
        assert Real(np.float64(1), np.float32(9), levels) == Real(1, 9, 9)
        assert Ordinal(np.array([1, 2, 4]), default=np.int64(2)) == Ordinal([1, 2, 4], default=2)
        assert Integer(1, 9, special=np.array([-1])) == Integer(1, 9, special=[-1])
        assert Space({"n": (1, 9)}).config(n=np.int64(3))["n"] == 3

    def test_every_budget_may_be_a_scalar(self):
        def cost(config, instance):
            return abs(config["x"] - 3) + instance

        space = {"x": range(6), "y": range(2)}
        found = paramhs.tune(cost, space, instances=np.arange(6), budget=np.int64(40))
        assert paramhs.simplify(cost, found, budget=np.int64(20)).config["x"] == 3
        twins = [{"x": np.int64(0)}, {"x": 3}]
        (verdict,) = paramhs.validate(cost, space, twins, instances=range(8), runs=np.int64(6))
        assert verdict.instances == 6
        assert paramhs.portfolio(found, cost, np.int64(2), runs=np.int64(0)).members

    def test_ask_and_tell_take_scalars(self):
        search = paramhs.AskTell({"x": range(9)}, instances=np.arange(3))
        tasks = search.ask(np.int64(2))
        search.tell(tasks[0], np.float32(3.0), runtime=np.float64(1))
        search.tell({"x": np.int64(3)}, np.int64(3), instance=np.int64(1), seed=np.int64(8))
        assert repr(search).startswith("AskTell after 2 runs")

    def test_initial_configurations_may_hold_scalars(self):
        result = paramhs.tune(by_x, {"x": range(5)}, initial=[{"x": np.int64(3)}], budget=9)
        assert result.best["x"] == 3


class TestSpaces:
    def test_a_configuration_space_is_accepted_as_it_is(self):
        brought = ConfigSpace.ConfigurationSpace({"a": (0.1, 10.0), "n": (1, 9), "c": ["x", "y"]})
        brought.add(ConfigSpace.EqualsCondition(brought["n"], brought["c"], "x"))
        brought.add(
            ConfigSpace.ForbiddenAndConjunction(
                ConfigSpace.ForbiddenEqualsClause(brought["c"], "x"),
                ConfigSpace.ForbiddenEqualsClause(brought["n"], 9),
            )
        )
        space = space_from(brought)
        assert space.default.as_dict() == dict(brought.get_default_configuration())
        assert "n" not in space.config(c="y")
        with pytest.raises(BadInput, match="forbidden"):
            space.config(c="x", n=9)

    def test_objects_of_a_configuration_space_reach_the_target(self):
        brought = ConfigSpace.ConfigurationSpace()
        brought.add(
            ConfigSpace.Categorical("z", [None, (1, 2), "a"], default=(1, 2)),
            ConfigSpace.OrdinalHyperparameter("o", [len, None]),
            ConfigSpace.Float("x", (0, 1)),
        )
        brought.add(ConfigSpace.EqualsCondition(brought["x"], brought["z"], (1, 2)))
        brought.add(ConfigSpace.ForbiddenEqualsClause(brought["o"], None))
        space = space_from(brought)
        assert space.default.arguments() == dict(brought.get_default_configuration())
        assert "x" not in space.config(z=None)
        with pytest.raises(BadInput, match="forbidden"):
            space.config(o=None)

    def test_rounding_may_switch_a_parameter_off_and_says_so(self):
        space = Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, conditions={"b": "a > 0.501"})
        with pytest.warns(paramhs.ParamhsWarning, match=r"a = 0.5 for 0.503, b is inactive then"):
            result = paramhs.tune(
                lambda c: c["a"], space, budget=5, initial=[{"a": 0.503, "b": 0.5}]
            )
        assert result.scenario.initial[0].as_dict() == {"a": 0.5}
        with pytest.raises(BadInput, match="b is not active beside the other values"):
            paramhs.tune(lambda c: c["a"], space, budget=5, initial=[{"a": 0.25, "b": 0.3}])

    def test_a_path_is_read(self, tmp_path):
        file = tmp_path / "solver.pcs"
        file.write_text("x {1, 2, 3} [2]\n")
        for path in (file, str(file)):
            assert list(space_from(path).parameters["x"].choices) == ["1", "2", "3"]
        with pytest.raises(BadInput, match=r"nothing\.pcs"):
            space_from(tmp_path / "nothing.pcs")

    def test_anything_else_is_refused_with_what_is_expected(self):
        with pytest.raises(BadInput, match="a dictionary of parameters, a Space, the path"):
            paramhs.tune(by_x, 7, budget=3)


class TestTexts:
    def test_amounts_may_be_texts(self):
        assert Budget(wall_time="10 min") == Budget(wall_time=600.0)
        result = paramhs.tune(by_x, {"x": range(5)}, cutoff="5 s", executor="threads", budget=3)
        assert result.scenario.cutoff == 5

    def test_a_wrong_amount_says_what_is_expected(self):
        with pytest.raises(BadInput, match=r"the cutoff: expected seconds.*not '5 parsecs'"):
            paramhs.tune(by_x, {"x": range(5)}, cutoff="5 parsecs", budget=3)
        with pytest.raises(BadInput, match=r"memory: expected bytes.*not 'much'"):
            paramhs.tune(by_x, {"x": range(5)}, memory="much", budget=3)

    def test_a_share_of_the_instances_is_held_out(self):
        result = paramhs.tune(
            by_x, {"x": range(5)}, instances=range(20), test_instances=0.4, budget=40
        )
        assert len(result.scenario.instances) == 12
        assert result.verdict.instances == 8

    @pytest.mark.parametrize("share", [1.5, -0.1])
    def test_a_wrong_share_blames_the_test_instances(self, share):
        with pytest.raises(BadInput, match="test_instances"):
            paramhs.tune(by_x, {"x": range(5)}, instances=range(9), test_instances=share, budget=9)


class TestFiles:
    TEXT = "x {1,2,3} [2]\nmode {a,b} [a]\n"

    @pytest.mark.parametrize("kind", [str, Path])
    def test_a_path_is_a_text_or_a_path(self, tmp_path, kind):
        file = tmp_path / "space.pcs"
        file.write_text(self.TEXT)
        assert Space.read(kind(file)) == read_space(kind(file)).space == space_from(kind(file))

    def test_what_is_read_in_another_way_is_said(self, tmp_path):
        file = tmp_path / "space.pcs"
        file.write_text(self.TEXT + "y {1,2} [1]\ny | mode in {a, c}\n")
        with pytest.warns(paramhs.ParamhsWarning, match="c"):
            Space.read(file)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(BadInput, match=r"none\.pcs"):
            Space.read(tmp_path / "none.pcs")


async def awaited(config):
    return 1.0


async def yields(config):
    yield 1.0


class Awaited:
    async def method(self, config):
        return 1.0

    async def __call__(self, config):
        return 1.0


@pytest.mark.parametrize(
    "function", [awaited, Awaited().method, Awaited(), yields, partial(awaited)]
)
def test_an_async_function_is_refused_before_it_is_called(function):
    with pytest.raises(BadInput, match=r"asyncio\.run"):
        paramhs.tune(function, {"x": range(3)}, budget=3)


def test_jobs_may_be_a_scalar():
    assert paramhs.tune(by_x, {"x": range(5)}, budget=9, jobs=np.int64(1)).best["x"] == 3


def test_a_function_that_returns_what_must_be_awaited_is_told_so(recwarn):
    with pytest.raises(paramhs.TargetError, match=r"asyncio\.run"):
        paramhs.tune(lambda config: awaited(config), {"x": range(3)}, budget=3)
    assert not recwarn.list


def test_additional_information_of_smac3_is_ignored():
    def train(config, seed=0):
        return (config["x"] - 3) ** 2, {"epochs": 7}

    assert paramhs.tune(train, {"x": range(6)}, budget=40).best["x"] == 3
