import json
import math
import queue
import re
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs import Budget
from paramhs.cli.init import _contents, schema
from paramhs.core import Quality, Runtime, RuntimeThenQuality
from paramhs.core.capping import Capping
from paramhs.core.errors import BadInput
from paramhs.core.quantities import seconds
from paramhs.core.runs import NO_INSTANCE
from paramhs.core.space import Boolean, Categorical, Integer, Ordinal, Real, Space
from paramhs.formats.scenario import read_scenario, read_scenario_space
from paramhs.formats.scenario.schema import settings, size
from paramhs.formats.scenario.source_map import Source, toml_lines
from paramhs.search import (
    BothSides,
    FixedRuns,
    Focused,
    FreshRuns,
    Growing,
    Harmonic,
    IteratedRace,
    Learned,
    LStep,
    OneParameter,
    ParamHS,
    ParamILS,
    ParamRLS,
    SeveralParameters,
    Uniform,
)
from paramhs.search.registry import CONFIGURATORS
from tests.support import scale

TARGET = """\
def f(config, instance, seed):
    return 0.0


def plain(config):
    return 0.0


class Holder:
    @staticmethod
    def inner(config, seed):
        return 1.0


number = 3
"""

MINIMAL = """\
function = "{module}:f"

[space.k]
type = "integer"
low = 1
high = 50

[budget]
runs = 100
"""

COMPLETE = """\
function = "{module}:f"
forbidden = ["k > 40 and mode == fast", "k < depth"]
instances = ["a.cnf", "b.cnf"]
cost = "runtime, then maximise"
cutoff = "2 min"
deterministic = true
seed = 7
jobs = 3
executor = "threads"
store = "kept/runs.sqlite"

[space.k]
type = "integer"
low = 0
high = 50
step = 5
default = 25

[space.alpha]
type = "real"
low = 1
high = 100.0
levels = 5
log = true
default = 10
condition = "mode in {{fast, slow}}"

[space.mode]
type = "categorical"
values = ["off", "fast", "slow"]
default = "slow"

[space.depth]
type = "ordinal"
values = [1, 2, 4, 8]
default = 4

[space.restarts]
type = "boolean"
default = true
condition = "k >= 10"

[budget]
runs = 1000
target_time = "1.5 h"
wall_time = 86400

[configurator]
name = "paramils"
moves = "one"
step = "l-step"
length = 2
comparison = "fixed"
runs = 20
random_starts = 5
kicks = 4
p_restart = 0.5
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a fresh module beside the scenario file; `sys.path` is put back afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"target_of_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(TARGET, encoding="utf-8")
    return name


@pytest.fixture
def read(tmp_path, module):
    def reading(text):
        path = tmp_path / "scenario.toml"
        path.write_text(text.replace("{module}", module).replace("{{", "{").replace("}}", "}"))
        return read_scenario(path)

    return reading


@pytest.fixture
def problems(read, tmp_path):
    """What is found of a bad file, line by line, without the file's name."""

    def of(text):
        with pytest.raises(BadInput) as caught:
            read(text)
        lines = str(caught.value).splitlines()
        name = str(tmp_path / "scenario.toml")
        assert all(line.startswith(name) for line in lines), lines
        return [line.removeprefix(name).removeprefix(", ").removeprefix(": ") for line in lines]

    return of


def with_configurator(lines):
    return MINIMAL + "\n[configurator]\n" + lines


def with_space(lines):
    return MINIMAL + "\n" + lines


TIMED = """
function = "{module}:f"
cost = "runtime"
cutoff = 5
space = {{k = {{type = "integer", low = 1, high = 50}}}}
budget = {{runs = 10}}
"""


class TestCapping:
    def test_where_time_counts_capping_is_preserving_by_default(self, read):
        assert read(TIMED).scenario.capping == Capping("preserving")
        assert read(TIMED + 'capping = "none"').scenario.capping == Capping()
        fixed = read(TIMED + 'capping = "aggressive"\ncapping_factor = 2').scenario
        assert fixed.capping == Capping("aggressive", 2.0)
        assert read(MINIMAL).scenario.capping == Capping()

    @pytest.mark.parametrize(
        ("lines", "problem"),
        [
            ('cost = "minimise"\ncapping = "preserving"', "capping: applies only where time"),
            ('cost = "runtime"\ncapping = "most"', "'aggressive' (it is 'most')"),
            ('cost = "runtime"\ncapping_factor = 2.0', "capping_factor: applies only with"),
            (
                'cost = "runtime"\ncapping = "aggressive"\ncapping_factor = 0.5',
                "greater than or equal to 1",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, problems, lines, problem):
        found = problems(TIMED.replace('cost = "runtime"', lines))
        assert any(problem in line for line in found), found


class TestGoodFiles:
    def test_minimal_file_takes_the_usual_for_everything_else(self, read, tmp_path):
        found = read(MINIMAL)
        assert found.scenario.space == Space({"k": range(1, 51)})
        assert found.scenario.instances == (NO_INSTANCE,)
        assert found.scenario.cost == Quality()
        assert math.isinf(found.scenario.cutoff)
        assert not found.scenario.deterministic
        assert found.configurator == CONFIGURATORS["paramhs"]
        assert found.budget == Budget(runs=100)
        assert (found.seed, found.jobs, found.executor) == (0, 1, None)
        assert found.store == tmp_path / "scenario.sqlite"

    def test_complete_file_sets_everything(self, read, tmp_path, module):
        found = read(COMPLETE)
        assert found.scenario.space == Space(
            {
                "k": Integer(0, 50, 5, default=25),
                "alpha": Real(1, 100, 5, log=True, default=10),
                "mode": Categorical(["off", "fast", "slow"], default="slow"),
                "depth": Ordinal([1, 2, 4, 8], default=4),
                "restarts": Boolean(default=True),
            },
            conditions={"alpha": "mode in {fast, slow}", "restarts": "k >= 10"},
            forbidden=["k > 40 and mode == fast", "k < depth"],
        )
        names = [(instance.name, instance.value) for instance in found.scenario.instances]
        assert names == [("a.cnf", "a.cnf"), ("b.cnf", "b.cnf")]
        assert found.scenario.cost == RuntimeThenQuality(maximise=True)
        assert found.scenario.cutoff == 120
        assert found.scenario.deterministic
        assert found.target.name == f"{module}:f"
        assert found.budget == Budget(1000, 5400.0, 86400.0)
        assert found.configurator == ParamILS(OneParameter(LStep(2)), FixedRuns(20), 5, 4, 0.5)
        assert (found.seed, found.jobs, found.executor) == (7, 3, "threads")
        assert found.store == tmp_path / "kept" / "runs.sqlite"

    def test_function_without_a_seed_is_taken_to_be_deterministic(self, read):
        assert read(MINIMAL.replace(":f", ":plain")).scenario.deterministic

    def test_function_without_a_seed_can_be_said_to_be_random(self, read):
        text = "deterministic = false\n" + MINIMAL.replace(":f", ":plain")
        assert not read(text).scenario.deterministic

    def test_function_is_found_beside_the_file_from_any_folder(self, read, monkeypatch):
        monkeypatch.chdir("/")
        assert read(MINIMAL).target.function({}, None, 0) == 0.0

    def test_function_inside_a_class_is_found(self, read):
        assert read(MINIMAL.replace(":f", ":Holder.inner")).target.function({}, 0) == 1.0

    def test_function_may_be_one_that_python_can_import(self, read):
        found = read(MINIMAL.replace("{module}:f", "builtins:len"))
        assert found.target.name == "builtins:len"

    def test_parameters_keep_the_order_of_the_file(self, read):
        assert list(read(COMPLETE).scenario.space.parameters) == [
            *("k", "alpha", "mode", "depth", "restarts")
        ]

    def test_instances_may_be_numbers(self, read):
        found = read('instances = [1, 2.5, "three"]\n' + MINIMAL)
        assert [i.value for i in found.scenario.instances] == [1, 2.5, "three"]

    def test_values_keep_their_types(self, read):
        text = '[space.v]\ntype = "categorical"\nvalues = [true, 2, 0.5, "x"]\n'
        values = read(with_space(text)).scenario.space.parameters["v"].values
        assert [type(value) for value in values] == [bool, int, float, str]

    def test_budget_may_have_no_limit(self, read):
        assert read(MINIMAL.replace("runs = 100", "")).budget == Budget()

    def test_file_with_a_byte_order_mark_is_read(self, tmp_path, module):
        path = tmp_path / "scenario.toml"
        path.write_text(MINIMAL.replace("{module}", module), encoding="utf-8-sig")
        assert read_scenario(path).budget == Budget(runs=100)

    def test_file_with_windows_line_ends_is_read(self, tmp_path, module):
        path = tmp_path / "scenario.toml"
        text = MINIMAL.replace("{module}", module).replace("\n", "\r\n")
        path.write_bytes(text.encode())
        assert read_scenario(path).budget == Budget(runs=100)

    @pytest.mark.parametrize(
        ("name", "metric"),
        [
            ("minimise", Quality()),
            ("maximise", Quality(maximise=True)),
            ("runtime", Runtime()),
            ("runtime, then minimise", RuntimeThenQuality()),
            ("runtime, then maximise", RuntimeThenQuality(maximise=True)),
        ],
    )
    def test_each_cost_has_its_name(self, read, name, metric):
        assert read(f'cost = "{name}"\ncutoff = 5\n' + MINIMAL).scenario.cost == metric


SHORT = """\
function = "{module}:f"
conditions = {rate = "mode == slow"}
forbidden = ["k > 40 and flag"]

[space]
rate = [0.001, 1.0]
k = [1, 50]
mixed = [0, 1.5]
mode = ["fast", "slow"]
either = [true, "auto", 3]
flag = true
off = false

[budget]
runs = 100
"""


class TestShorthand:
    def test_space_is_written_as_in_python(self, read):
        assert read(SHORT).scenario.space == Space(
            {
                "rate": (0.001, 1.0),
                "k": (1, 50),
                "mixed": (0, 1.5),
                "mode": ["fast", "slow"],
                "either": [True, "auto", 3],
                "flag": Boolean(default=True),
                "off": bool,
            },
            conditions={"rate": "mode == slow"},
            forbidden=["k > 40 and flag"],
        )

    @pytest.mark.parametrize("values", ["[1, 2, 4]", "[0.5]", "[1, 2.5, 3]"])
    def test_numbers_that_are_no_range_are_refused_with_the_way_out(self, problems, values):
        (line,) = problems(SHORT.replace("[1, 50]", values))
        assert line.startswith("line 7, space.k: a list of numbers is a range, [low, high]; for")
        assert "{type = 'ordinal', values = [...]}" in line

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            ("[]", "space.k: a parameter needs at least one value"),
            ("[5, 1]", "space.k: an integer parameter's range is empty: low 5 > high 1"),
            ('["a", "a"]', "space.k: values must differ"),
            ('["a", []]', "space.k.1: should be a text, a number or a boolean"),
            ("5", "space.k: should be a table or a list or a boolean (it is 5)"),
            ('"a"', "space.k: should be a table or a list or a boolean (it is 'a')"),
        ],
    )
    def test_mistake_is_placed_at_its_line(self, problems, value, says):
        (line,) = problems(SHORT.replace("[1, 50]", value))
        assert line.startswith(f"line 7, {says}")

    def test_condition_of_no_parameter_is_refused(self, problems):
        (line,) = problems(SHORT.replace("{rate = ", "{rat = "))
        assert line.startswith("line 2, conditions.rat: no parameter is called 'rat'")

    def test_two_conditions_of_one_parameter_are_refused(self, problems):
        text = SHORT.replace(
            "rate = [0.001, 1.0]",
            'rate = {type = "real", low = 0.001, high = 1, condition = "flag"}',
        )
        (line,) = problems(text)
        assert line.startswith("line 2, conditions.rate: rate already has a condition")

    def test_conditions_may_be_added_to_a_space_in_a_file(self, read, tmp_path):
        (tmp_path / "mine.pcs").write_text("k integer [1, 9] [5]\nmode categorical {a, b} [a]\n")
        text = 'function = "{module}:f"\nspace = "mine.pcs"\nconditions = {k = "mode == b"}\n'
        assert read(text + "budget = {}\n").scenario.space.size() == 10

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('condition = "k > 3"\n' + MINIMAL, "line 1, condition: there is no such setting;"
             " did you mean conditions?"),
            (MINIMAL.replace("low = 1", 'low = 1\nconditions = "k > 3"'),
             "line 6, space.k.conditions: there is no such setting; did you mean condition?"),
            (MINIMAL + "jobs = 2\n", "line 10, budget.jobs: there is no such setting in [budget];"
             " it belongs at the top, before the first [table]"),
            (MINIMAL.replace("low = 1", "low = 1\nseed = 1"), "line 6, space.k.seed: there is no"
             " such setting in [space.k]; it belongs at the top, before the first [table]"),
            ("levels = 5\n" + MINIMAL, "line 1, levels: there is no such setting here; it belongs"
             " in [space.NAME]"),
            ("wall_time = 5\n" + MINIMAL, "line 1, wall_time: there is no such setting here; it"
             " belongs in [budget]"),
            ("cutof = 5\n" + MINIMAL, "line 1, cutof: there is no such setting; did you mean"
             " cutoff?"),
        ],
    )  # fmt: skip
    def test_advice_on_a_wrong_name_never_names_it_again(self, problems, text, says):
        assert problems(text) == [says]


class TestInitial:
    @pytest.fixture
    def with_initial(self, read):
        return lambda initial: read(f"initial = {initial}\n" + SHORT)

    def test_tables_are_configurations_with_defaults_elsewhere(self, with_initial):
        found = with_initial('[{k = 3, mode = "slow", rate = 1.0}, {flag = false}, {k = 3.0}]')
        space = found.scenario.space
        assert found.scenario.initial == (
            space.config(k=3, mode="slow", rate=1.0),
            space.config(flag=False),
            space.config(k=3),
        )

    def test_lists_of_tables_have_lines_of_their_own(self, problems):
        text = SHORT + "[[initial]]\nk = 3\n[[initial]]\nk = 51\n"
        (line,) = problems(text)
        assert line == "line 18, initial.1: configuration 2: k: 51 is not in 1 .. 50"

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("begin.jsonl", '{"k": 3, "mode": "slow"}\n\n{"flag": false, "k": 4}\n'),
            ("begin.csv", "k,mode,flag\n3,slow,\n4,,FALSE\n"),
            ("begin.txt", 'k "mode" flag\n3 slow NA\n4 <NA> false # no\n'),
        ],
    )
    def test_file_has_one_a_line(self, with_initial, tmp_path, name, text):
        (tmp_path / name).write_text(text)
        found = with_initial(f'"{name}"')
        space = found.scenario.space
        assert found.scenario.initial == (
            space.config(k=3, mode="slow"),
            space.config(k=4, flag=False),
        )

    def test_same_configuration_is_kept_once(self, with_initial):
        assert len(with_initial("[{k = 3}, {k = 3}, {k = 4}]").scenario.initial) == 2

    def test_number_between_two_levels_is_the_nearest_and_that_is_said(self, with_initial):
        found = with_initial('[{mode = "slow", rate = 0.011}]')
        assert found.scenario.initial[0]["rate"] == pytest.approx(0.016609375)
        (note,) = found.notes
        assert (
            "line 1, initial: configuration 1 is rounded to the nearest levels: rate = 0.01" in note
        )

    @pytest.mark.parametrize(
        ("initial", "says"),
        [
            ("[{kk = 3}]", "initial.0: configuration 1: no parameter is called 'kk'; there are"),
            ("[{k = true}]", "initial.0: configuration 1: k: 'True' is not a number"),
            ("[{k = 45, flag = true}]", "is forbidden by 'k > 40 and flag == true'"),
            ('[{mode = "slow", k = 3}, {mode = "quick"}]', "initial.1: configuration 2: mode: 'qu"),
            ("[{rate = 0.5}]", "initial.0: configuration 1: rate is not active beside the other"),
            ("[3]", "initial.0: should be a table"),
            ("3", "initial: should be a list or a text"),
            ('"nowhere.csv"', "initial: there is no file nowhere.csv"),
        ],
    )
    def test_bad_configuration_is_refused_with_its_line(self, problems, initial, says):
        (line,) = problems(f"initial = {initial}\n" + SHORT)
        assert line.startswith("line 1, initial")
        assert says in line

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('{"k": 3}\n{"k": 77}\n', "begin.json, line 2: k: 77 is not in 1 .. 50"),
            ('{"k": 3}\n[1]\n', "begin.json, line 2: expected a JSON object"),
            ('{"k": 3}\n{"k": \n', "begin.json, line 2: expected one JSON object"),
            ('{"k": ' + "9" * 5000 + "}\n", "begin.json, line 1: expected one JSON object"),
            ('{"k": ' * 10**5, "begin.json, line 1: expected one JSON object"),
        ],
        ids=["range", "list", "cut", "huge", "deep"],
    )
    def test_bad_line_is_named(self, problems, tmp_path, text, says):
        (tmp_path / "begin.json").write_text(text)
        (line,) = problems('initial = "begin.json"\n' + SHORT)
        assert says in line

    def test_huge_cell_of_a_table_is_named(self, problems, tmp_path):
        (tmp_path / "begin.csv").write_text("k\n" + "9" * 200_000 + "\n")
        (line,) = problems('initial = "begin.csv"\n' + SHORT)
        assert "begin.csv, line 2: not a line of CSV: field larger than field limit" in line

    def test_stores_of_earlier_searches_are_named(self, read, tmp_path):
        (tmp_path / "old.sqlite").touch()
        found = read('warm_start = ["old.sqlite"]\n' + SHORT)
        assert found.warm_start == (tmp_path / "old.sqlite",)
        assert read(SHORT).warm_start == ()

    def test_store_that_is_not_there_is_refused(self, problems):
        (line,) = problems('warm_start = ["old.sqlite"]\n' + SHORT)
        assert line == "line 1, warm_start.0: there is no file old.sqlite"


class TestConfigurators:
    @pytest.mark.parametrize("name", sorted(CONFIGURATORS))
    def test_name_alone_is_the_configurator_of_that_name(self, read, name):
        assert read(with_configurator(f'name = "{name}"')).configurator == CONFIGURATORS[name]

    def test_paramrls_is_the_algorithm_of_that_name(self, read):
        assert read(with_configurator('name = "paramrls"')).configurator == ParamRLS()
        made = read(with_configurator('name = "paramrls"\nreplacement = false\nstart = "uniform"'))
        assert made.configurator == ParamRLS(start="uniform", replacement=False)

    @pytest.mark.parametrize(
        ("lines", "operator"),
        [
            ('moves = "one"', OneParameter(Harmonic())),
            ('moves = "several"', SeveralParameters(Harmonic())),
            ('moves = "both sides"', BothSides()),
            ('moves = "learned"', Learned(Harmonic())),
            ('step = "uniform"', Learned(Uniform())),
            ('step = "l-step"', Learned(LStep(1))),
            ('step = "l-step"\nlength = 3', Learned(LStep(3))),
            ('name = "paramhs-plain"', SeveralParameters(Harmonic())),
            ('name = "paramhs-plain"\nstep = "uniform"', SeveralParameters(Uniform())),
            ('moves = "one"\nstep = "harmonic"', OneParameter(Harmonic())),
        ],
    )
    def test_moves_and_steps_make_the_operator(self, read, lines, operator):
        assert read(with_configurator(lines)).configurator == ParamHS(operator, Growing())

    @pytest.mark.parametrize(
        ("lines", "comparison"),
        [
            ('comparison = "growing"\nmin_runs = 5\nmax_runs = 50', Growing(5, 50)),
            ("min_runs = 2", Growing(2, 2000)),
            ('comparison = "focused"', Focused()),
            ('comparison = "focused"\norder = "shared"\nmax_runs = 9', Focused("shared", 9)),
            ('comparison = "fixed"', FixedRuns(100)),
            ('comparison = "fixed"\nruns = 7', FixedRuns(7)),
            ('comparison = "fresh"\nruns = 7', FreshRuns(7)),
        ],
    )
    @pytest.mark.parametrize("name", ["paramhs", "random"])
    def test_comparison_is_made_from_its_settings(self, read, name, lines, comparison):
        text = with_configurator(f'name = "{name}"\n{lines}')
        assert read(text).configurator.comparison == comparison

    def test_paramils_is_focused_and_basic_on_demand(self, read):
        assert read(with_configurator('name = "paramils"')).configurator == ParamILS()
        basic = read(with_configurator('name = "paramils"\ncomparison = "fixed"')).configurator
        assert basic == ParamILS(comparison=FixedRuns(100))

    def test_race_is_made_from_its_settings(self, read):
        text = 'candidates = 9\nsurvivors = 2\nfirst_test = 4\nconfidence = 0.9\ntest = "t"'
        made = read(with_configurator(f'name = "race"\nmoves = "one"\nmax_runs = 50\n{text}'))
        assert made.configurator == IteratedRace(OneParameter(Harmonic()), 9, 2, 4, 0.9, "t", 50)

    def test_random_search_keeps_its_operator_whatever_its_comparison(self, read):
        made = read(with_configurator('name = "random"\nmin_runs = 5')).configurator
        assert made.operator == CONFIGURATORS["random"].operator
        assert made.comparison == Growing(5)

    @pytest.mark.parametrize(
        "lines",
        [
            'comparison = "fresh"',
            'step = "l-step"\nlength = 0',
            "min_runs = 0",
            "min_runs = 9\nmax_runs = 3",
            'name = "paramils"\nkicks = 0',
            'name = "paramils"\np_restart = 1.5',
            'name = "paramils"\nrandom_starts = -1',
            'comparison = "fixed"\nruns = -1',
            'comparison = "fixed"\nruns = 0',
            'comparison = "focused"\nmax_runs = 0',
            'name = "race"\nconfidence = 1.0',
            'name = "race"\ncandidates = 3\nsurvivors = 3',
            'name = "race"\nfirst_test = 1',
        ],
    )
    def test_impossible_settings_are_refused_at_the_table_s_line(self, problems, lines):
        (line,) = problems(with_configurator(lines))
        assert line.startswith("line 11, configurator")

    @pytest.mark.parametrize(
        "lines",
        [
            'name = "random"\nmoves = "one"',
            'moves = "both sides"\nstep = "uniform"',
            'step = "uniform"\nlength = 4',
            "runs = 50",
            'comparison = "fixed"\nmin_runs = 7',
            'name = "paramhs"\nkicks = 9',
            'name = "paramils"\nmin_runs = 2',
            'name = "race"\ncomparison = "growing"',
            "candidates = 9",
            'order = "shared"',
        ],
    )
    def test_setting_that_would_have_no_effect_is_refused(self, problems, lines):
        (line,) = problems(with_configurator(lines))
        assert "configurator" in line


class TestBadFiles:
    def test_missing_file_is_named(self, tmp_path):
        with pytest.raises(BadInput, match=r"cannot read .*nothing\.toml: No such file"):
            read_scenario(tmp_path / "nothing.toml")

    def test_folder_is_not_a_file(self, tmp_path):
        with pytest.raises(BadInput, match=r"cannot read .*: Is a directory"):
            read_scenario(tmp_path)

    def test_text_in_another_encoding_is_refused(self, tmp_path):
        path = tmp_path / "latin.toml"
        path.write_bytes('store = "Lösungen.sqlite"\n'.encode("latin-1"))
        with pytest.raises(BadInput, match="not UTF-8"):
            read_scenario(path)

    def test_syntax_error_has_its_line(self, problems):
        (line,) = problems(MINIMAL.replace("low = 1", "low = = 1"))
        assert "line 5" in line

    def test_empty_file_lacks_all_that_is_needed(self, problems):
        assert problems("") == [
            "space: is missing",
            "budget: is missing",
            "set either `function` or `command` as the target",
        ]

    def test_all_problems_are_listed_each_with_its_line_and_place(self, problems):
        text = (
            'function = "{module}:f"\n'
            "jobs = 0\n"
            'color = "red"\n'
            "[space.k]\n"
            'type = "integer"\n'
            "low = 1.5\n"
            "hihg = 3\n"
            "[budget]\n"
            'runs = "many"\n'
            'wall_time = "1 fortnight"\n'
        )
        found = problems(text)
        starts = [
            "line 2, jobs: ",
            "line 3, color: there is no such setting",
            "line 4, space.k.high: is missing",
            "line 6, space.k.low: ",
            "line 7, space.k.hihg: there is no such setting",
            "line 9, budget.runs: ",
            "line 10, budget.wall_time: ",
        ]
        for line, start in zip(found, starts, strict=True):
            assert line.startswith(start), line

    def test_value_of_the_wrong_type_is_shown(self, problems):
        (line,) = problems(MINIMAL.replace("high = 50", 'high = "fifty"'))
        assert line.startswith("line 6, space.k.high: ")
        assert "integer" in line
        assert "'fifty'" in line

    def test_text_is_not_taken_for_a_number(self, problems):
        (line,) = problems(MINIMAL.replace("runs = 100", 'runs = "100"'))
        assert line.startswith("line 9, budget.runs: ")

    def test_boolean_is_not_taken_for_a_number(self, problems):
        (line,) = problems("seed = true\n" + MINIMAL)
        assert line.startswith("line 1, seed: ")

    def test_unknown_choice_lists_those_there_are(self, problems):
        (line,) = problems('cost = "cheap"\n' + MINIMAL)
        assert line.startswith("line 1, cost: ")
        assert "'minimise'" in line
        assert "'cheap'" in line

    def test_unknown_configurator_lists_those_there_are(self, problems):
        (line,) = problems(with_configurator('name = "smac"'))
        assert line.startswith("line 12, configurator.name: ")
        assert "'paramils'" in line

    def test_unknown_type_is_placed_at_its_line_in_plain_words(self, problems):
        (line,) = problems(MINIMAL.replace('"integer"', '"int"'))
        assert line.startswith("line 4, space.k.type: ")
        assert "should be real, integer, ordinal, categorical or boolean (it is 'int')" in line

    def test_missing_type_is_said_in_plain_words(self, problems):
        (line,) = problems(MINIMAL.replace('type = "integer"\n', ""))
        assert line.startswith("line 3, space.k.type: should be real, integer,")
        assert line.endswith("(it is missing)")

    def test_value_that_cannot_be_one_is_one_problem(self, problems):
        text = '[space.v]\ntype = "categorical"\nvalues = [["a"], "b"]\n'
        (line,) = problems(with_space(text))
        assert line.startswith("line 13, space.v.values")

    def test_instance_that_cannot_be_one_is_one_problem(self, problems):
        (line,) = problems('instances = [["a"], "b"]\n' + MINIMAL)
        assert line.startswith("line 1, instances")

    def test_empty_ranges_are_all_found_at_once(self, problems):
        text = MINIMAL.replace("low = 1", "low = 51") + (
            '[space.r]\ntype = "real"\nlow = 2\nhigh = 1\n'
            '[space.c]\ntype = "categorical"\nvalues = []\n'
        )
        assert problems(text) == [
            "line 3, space.k: an integer parameter's range is empty: low 51 > high 50",
            "line 10, space.r: a real parameter's range is empty: low 2.0 >= high 1.0",
            "line 14, space.c: a parameter needs at least one value",
        ]

    @pytest.mark.parametrize(
        "lines",
        [
            'type = "real"\nlow = 0\nhigh = 1\nlog = true',
            'type = "real"\nlow = 0\nhigh = 1\nlevels = 1',
            'type = "real"\nlow = 0\nhigh = inf',
            'type = "real"\nlow = 0\nhigh = 1\ndefault = 2',
            'type = "integer"\nlow = 0\nhigh = 9\nstep = 0',
            'type = "integer"\nlow = 0\nhigh = 9\nstep = 2\ndefault = 3',
            'type = "ordinal"\nvalues = [1, 2, 1]',
            'type = "categorical"\nvalues = ["a"]\ndefault = "b"',
            'type = "categorical"\nvalues = [nan]',
        ],
    )
    def test_impossible_parameter_is_refused_at_its_line(self, problems, lines):
        (line,) = problems(with_space(f"[space.v]\n{lines}\n"))
        assert line.startswith("line 11, space.v: ")

    def test_space_without_parameters_is_refused(self, problems):
        (line,) = problems('function = "{module}:f"\n[space]\n[budget]\nruns = 1\n')
        assert line == "line 2, space: a space needs at least one parameter"

    def test_bad_condition_has_line_place_and_column(self, problems):
        text = '[space.v]\ntype = "boolean"\ncondition = "k >= "\n'
        (line,) = problems(with_space(text))
        assert line.startswith("line 13, space.v.condition: ")
        assert "column 6" in line

    def test_condition_on_an_unknown_parameter_names_it(self, problems):
        text = '[space.v]\ntype = "boolean"\ncondition = "kk == 3"\n'
        (line,) = problems(with_space(text))
        assert line.startswith("line 13, space.v.condition: ")
        assert "'kk == 3', column 1: expected a parameter's name" in line

    def test_bad_forbidden_clause_has_line_place_and_column(self, problems):
        (line,) = problems('forbidden = ["k == 3", "k <"]\n' + MINIMAL)
        assert line.startswith("line 1, forbidden")
        assert "column 4" in line

    def test_condition_on_a_value_that_is_none_has_a_line(self, problems):
        text = '[space.v]\ntype = "boolean"\ncondition = "k == 99"\n'
        (line,) = problems(with_space(text))
        assert line.startswith("line 13, space.v.condition: ")
        assert "99" in line

    def test_forbidding_the_default_is_refused_at_its_line(self, problems):
        (line,) = problems('forbidden = ["k == 25"]\n' + MINIMAL)
        assert line.startswith("line 1, forbidden")
        assert "default configuration is forbidden by 'k == 25'" in line

    def test_bad_conditions_and_clauses_are_all_found_at_once(self, problems):
        text = (
            'forbidden = ["k <"]\n' + MINIMAL + '[space.v]\ntype = "boolean"\ncondition = "k >= "\n'
            '[space.w]\ntype = "boolean"\ncondition = "k ! 3"\n'
        )
        assert len(problems(text)) == 3

    def test_circular_conditions_are_refused(self, problems):
        text = (
            '[space.v]\ntype = "boolean"\ncondition = "w == true"\n'
            '[space.w]\ntype = "boolean"\ncondition = "v == true"\n'
        )
        (line,) = problems(with_space(text))
        assert re.match(
            r"line 1[36], space\.[vw]\.condition: conditions depend on each other in a cycle", line
        )

    def test_problems_of_different_kinds_are_found_at_once(self, problems):
        text = MINIMAL.replace("low = 1", "low = 51").replace(":f", ":g") + (
            'jobs = 2\n[configurator]\ncomparison = "fresh"\n'
        )
        found = problems(text)
        assert any("jobs" in line for line in found)
        assert any("space.k" in line for line in found)
        assert any("no function g" in line for line in found)

    def test_runtime_without_a_cutoff_is_refused(self, problems):
        (line,) = problems('cost = "runtime"\n' + MINIMAL)
        assert "cutoff" in line

    def test_instance_listed_twice_is_refused(self, problems):
        (line,) = problems('instances = ["a", "a"]\n' + MINIMAL)
        assert "'a' is listed twice" in line

    def test_empty_list_of_instances_is_refused(self, problems):
        (line,) = problems("instances = []\n" + MINIMAL)
        assert "instances is empty" in line

    @pytest.mark.parametrize("folder", ["", ".", "..", "./"])
    def test_a_folder_with_the_scenario_and_its_store_is_none_of_instances(self, problems, folder):
        (line,) = problems(f'instances = "{folder}"\n' + MINIMAL)
        assert line.startswith(f"line 1, instances: {folder!r} contains the scenario")

    @pytest.mark.parametrize("cutoff", ["0", "-1", '"0 s"', "nan"])
    def test_cutoff_must_be_positive(self, problems, cutoff):
        (line,) = problems(f"cutoff = {cutoff}\n" + MINIMAL)
        assert line.startswith("line 1, cutoff: ")


class TestFunctions:
    @pytest.mark.parametrize("reference", ["f", "a b:f", ":f", "a:", "a:f:g", "a/b.py:f"])
    def test_reference_must_be_module_and_function(self, problems, reference):
        (line,) = problems(MINIMAL.replace("{module}:f", reference))
        assert line.startswith("line 1, function: ")
        assert f"it is {reference!r}" in line

    def test_unknown_module_is_named_with_where_it_was_looked_for(self, problems, tmp_path):
        (line,) = problems(MINIMAL.replace("{module}", "no_such_module"))
        assert line.startswith("line 1, function: No module named 'no_such_module'")
        assert str(tmp_path) in line

    def test_unknown_function_is_named(self, problems, module):
        (line,) = problems(MINIMAL.replace(":f", ":g"))
        assert line.startswith(
            f"line 1, function: module {module} has no function g (the module is"
        )

    def test_what_is_not_a_function_is_refused(self, problems):
        (line,) = problems(MINIMAL.replace(":f", ":number"))
        assert line.startswith("line 1, function: ")
        assert "not 3" in line

    def broken(self, problems, tmp_path, module, source):
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        (line,) = problems(MINIMAL)
        assert line.startswith(f"line 1, function: importing {module} failed: ")
        return line

    def test_module_with_a_syntax_error_is_refused_with_its_line(self, problems, tmp_path, module):
        line = self.broken(problems, tmp_path, module, "def f(:\n")
        assert "SyntaxError" in line
        assert "line 1)" in line

    def test_module_that_raises_is_refused_with_what_it_raised(self, problems, tmp_path, module):
        line = self.broken(problems, tmp_path, module, "raise ValueError('no data')\n")
        assert "ValueError: no data" in line

    def test_attribute_error_inside_a_module_is_not_a_missing_function(
        self, problems, tmp_path, module
    ):
        source = "import os\nos.nothing\ndef f(config):\n    return 1\n"
        assert "nothing" in self.broken(problems, tmp_path, module, source)

    def test_module_that_exits_is_refused(self, problems, tmp_path, module):
        self.broken(problems, tmp_path, module, "import sys\nsys.exit(0)\n")

    def test_module_that_panics_is_refused(self, problems, tmp_path, module):
        line = self.broken(problems, tmp_path, module, "raise BaseException('rust')\n")
        assert "BaseException: rust" in line

    def test_module_that_lacks_another_says_which(self, problems, tmp_path, module):
        (tmp_path / f"{module}.py").write_text("import no_such_library\n", encoding="utf-8")
        (line,) = problems(MINIMAL)
        assert "No module named 'no_such_library'" in line

    def test_module_taken_instead_of_the_one_beside_the_file_is_named(self, problems, tmp_path):
        (tmp_path / "queue.py").write_text("def f(config):\n    return 5.0\n", encoding="utf-8")
        (line,) = problems(MINIMAL.replace("{module}", "queue"))
        assert str(queue.__file__) in line


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("90", 90),
            ("90 s", 90),
            ("90s", 90),
            ("  1.5  ", 1.5),
            ("10 min", 600),
            ("1.5 h", 5400),
            ("2 d", 172800),
            (".5 s", 0.5),
            ("1e3 s", 1000),
            ("1e-3", 0.001),
        ],
    )
    def test_texts_are_seconds_with_units(self, text, expected):
        assert seconds(text) == pytest.approx(expected)

    @pytest.mark.parametrize("number", [3, 2.5, None, True, []])
    def test_what_is_no_text_is_left_alone(self, number):
        assert seconds(number) is number

    @pytest.mark.parametrize(
        "text",
        ["", " ", "s", "10 m", "10 minutes", "-5 s", "1 h 30 min", "nan", "inf", "1.2.3", "."],
    )
    def test_bad_duration_is_refused_with_examples(self, text):
        with pytest.raises(ValueError, match="'10 min'"):
            seconds(text)

    @pytest.mark.parametrize("limit", ["inf", '"1e999 s"'])
    @pytest.mark.parametrize("name", ["target_time", "wall_time"])
    def test_budget_without_end_is_refused(self, problems, name, limit):
        (line,) = problems(MINIMAL.replace("runs = 100", f"{name} = {limit}"))
        assert line.startswith(f"line 9, budget.{name}: ")

    @given(st.floats(1e-6, 1e6), st.sampled_from([("s", 1), ("min", 60), ("h", 3600)]))
    def test_any_number_can_be_written_with_any_unit(self, number, unit):
        name, factor = unit
        assert seconds(f"{number!r} {name}") == pytest.approx(number * factor)


EASY = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True)
DOTTED = st.from_regex(r"[a-z]{1,3}\.[a-z]{1,3}", fullmatch=True)
ANY = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
PADDING = st.lists(st.sampled_from(["", "# k = 3", "   ", "# [space.x]", "\t"]), max_size=2)
VALUES = st.sampled_from(['"a = b"', "3", "[1, 2]", '{a = 1, "b" = 2}', '"[x]"', "'#'", "true # c"])


def written(name, quote):
    return (
        name
        if not quote and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)
        else (json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f"))
    )


@st.composite
def documents(draw, names):
    """A TOML text, and the line of each of its settings and tables."""
    lines, positions = [], {}

    def settings(table):
        for name in draw(st.lists(names, max_size=3, unique=True)):
            if (*table, name) not in positions:
                lines.extend(draw(PADDING))
                key = written(name, draw(st.booleans()))
                space = draw(st.sampled_from(["", " ", "  "]))
                lines.append(
                    f"{draw(st.sampled_from(['', '  ']))}{key}{space}={space}{draw(VALUES)}"
                )
                positions[*table, name] = len(lines)

    settings(())
    for table in draw(st.lists(st.lists(names, min_size=1, max_size=3), max_size=4)):
        table = tuple(table)
        if any(table[:n] in positions for n in range(1, len(table) + 1)):
            continue
        lines.extend(draw(PADDING))
        lines.append(f"[{'.'.join(written(name, draw(st.booleans())) for name in table)}]")
        positions[table] = len(lines)
        settings(table)
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"])), positions


def line_of(text, key):
    return Source(Path(), toml_lines(text)).line(key)


def assert_lines(document):
    text, positions = document
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # a table was opened after a table inside it had a setting of its name
    lines = toml_lines(text)
    assert {position: lines[position] for position in positions} == positions


class TestLines:
    @given(documents(EASY))
    def test_every_setting_is_found_on_its_line(self, document):
        assert_lines(document)

    @given(documents(EASY | DOTTED))
    def test_names_with_dots_are_found_on_their_line(self, document):
        assert_lines(document)

    @given(documents(ANY))
    def test_names_with_any_characters_are_found_on_their_line(self, document):
        assert_lines(document)

    def test_what_is_not_there_is_placed_at_the_closest_thing_around_it(self):
        text = "a = 1\n[space.k]\nlow = 1\n[space.m]\nlow = 2\n"
        assert line_of(text, ("space", "m", "high")) == 4

    def test_inside_of_an_inline_table_is_placed_at_the_table(self):
        text = "[space]\nk = {type = 'integer', low = 1}\n"
        assert line_of(text, ("space", "k", "low")) == 2

    def test_dotted_keys_are_followed(self):
        text = "x = 1\nspace.k.type = 'integer'\nspace.k.low = 3\n"
        assert line_of(text, ("space", "k", "low")) == 3

    def test_what_has_nothing_around_it_has_no_line(self):
        assert line_of("a = 1\n", ("b",)) is None

    def test_text_within_a_list_is_not_taken_for_a_setting(self):
        text = 'forbidden = [\n  "k = 3",\n]\nk = 4\n'
        assert line_of(text, ("k",)) == 4

    def test_list_within_a_list_is_not_taken_for_a_table(self):
        text = "[a]\nx = [\n  [1],\n]\ny = 4\n"
        assert line_of(text, ("a", "y")) == 5

    @pytest.mark.parametrize("quotes", ['"""', "'''"])
    def test_text_of_several_lines_has_no_settings(self, quotes):
        text = f"a = {quotes}\nb = 1\n[c]\n{quotes}\nb = 2 # {quotes}\nd = {quotes}x{quotes}\ne = 3"
        assert toml_lines(text) == {("a",): 1, ("b",): 5, ("d",): 6, ("e",): 7}

    def test_items_of_a_list_of_tables_are_distinguished(self):
        text = "[[initial]]\nx = 1\n[[initial]]\nx = 2\n"
        assert line_of(text, ("initial", "1", "x")) == 4
        assert line_of(text, ("initial", "0")) == 1

    def test_table_that_only_longer_names_speak_of_is_where_they_begin(self):
        assert line_of("a = 1\nspace.k.low = 3\nspace.k.high = 4\n", ("space", "k")) == 2

    def test_unicode_line_separators_do_not_count_as_lines(self):
        assert line_of('a = "x\u2028y"\nb = 1\n', ("b",)) == 2


HUGE = [
    "9" * 4000, "9" * 5000, "-" + "9" * 5000, "1" + "0" * 400 + ".0", "1e500",
    "[" * 3000 + "]" * 3000,
    '"a\\u0000b"', '["\\u0000"]', '{"\\u0000" = 1}', f'"{"x" * 5000}"', f'["{"x" * 300}"]',
    f'"{"a/" * 3000}"', f'"{"1" * 100_000}"', f'"{"1" * 50_000} s"', f'"PAR{"9" * 5000}"',
    '"/dev/zero"', '["/dev/zero"]', f'"[{"a" * 5000}*"', f'["{"(" * 5000}"]', "1979-05-27", "[{}]",
    "[[[]]]", "{a = {b = {}}}", "nan",
]  # fmt: skip


class TestHostileFiles:
    """One clear message, never a traceback, never a hang (the suite's limit is for those)."""

    @pytest.mark.parametrize("name", sorted(settings()[""] - {"$schema"}))
    def test_setting_may_be_anything(self, tmp_path, read, read_command, name):
        both = ((read, MINIMAL), (read_command, COMMAND))
        for number, value in enumerate(HUGE):
            for reading, text in both if scale.large else [both[number % 2]]:
                kept = [line for line in text.splitlines() if not line.startswith(f"{name} =")]
                if name in ("space", "budget"):
                    kept = [re.sub(rf"^\[{name}", "[other", line) for line in kept]
                self.refuse_or_read(reading, "\n".join([f"{name} = {value}", *kept]), tmp_path)

    @pytest.mark.parametrize("value", HUGE, ids=range(len(HUGE)))
    def test_parameter_may_be_anything(self, tmp_path, read, value):
        for line in ("high = 50", "low = 1", 'type = "integer"'):
            name = line.split(" = ")[0]
            text = MINIMAL.replace(line, f"{name} = {value}")
            self.refuse_or_read(read, text, tmp_path)
            self.refuse_or_read(read, text.replace('"integer"', '"real"'), tmp_path)
        for name in ("levels", "step", "default", "condition", "values"):
            text = MINIMAL.replace("high = 50", f"high = 50\n{name} = {value}")
            self.refuse_or_read(read, text, tmp_path)
            self.refuse_or_read(read, text.replace('"integer"', '"ordinal"'), tmp_path)

    def refuse_or_read(self, reading, text, folder):
        found = self.message(reading, text)
        assert found is None or found.startswith(str(folder / "scenario.toml"))
        assert found is None or len(found) < 5000

    def message(self, reading, text):
        try:
            reading(text=text)
        except BadInput as error:
            return str(error)
        return None

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            ("9" * 5000, "line 3: an integer has too many digits"),
            ("[" * 3000 + "]" * 3000, "line 3: lists or tables are nested too deeply"),
            ("{a = " * 3000 + "1" + "}" * 3000, "line 3: lists or tables are nested too deeply"),
        ],
    )
    def test_what_the_parser_gives_up_on_has_its_line(self, problems, value, says):
        assert problems(f"\n\nx = {value}\n" + MINIMAL) == [says]

    def test_name_with_very_many_dots_is_refused_at_once(self, problems):
        assert problems("\n" + ".".join("a" * 10**5) + " = 1") == [
            "line 2: a name has too many dots"
        ]

    def test_nul_is_refused_wherever_it_stands(self, problems):
        text = 'instances = ["a", "b\\u0000"]\nstore = "\\u0000"\n' + MINIMAL
        found = problems(text)
        assert [line.split(":")[0] for line in found] == ["line 1, instances.1", "line 2, store"]

    def test_of_hundreds_of_wrong_parameters_the_first_are_reported(self, problems):
        text = MINIMAL + "".join(
            f'[space.p{k}]\ntype = "integer"\nlow = 5\nhigh = 1\nhihg = 2\n' for k in range(300)
        )
        found = problems(text)
        assert found[0].startswith("line 14, space.p0.hihg: ")
        assert found[-1] == "and 200 more problems"
        assert len(found) == 101

    @pytest.mark.parametrize(
        "name",
        ["/dev/zero", "x" * 5000, "a/" * 3000, "nul\0", "x" * 300 + ".toml"],
        ids=["endless", "long", "deep", "nul", "long.toml"],
    )
    def test_file_that_cannot_be_one_is_refused(self, name):
        with pytest.raises(BadInput, match="cannot read "):
            read_scenario(Path(name))

    @pytest.mark.parametrize(
        "text", ["1" * 10**6, "1" * 10**6 + " s", " " * 10**6, "9" * 61], ids=range(4)
    )
    def test_long_amounts_are_refused_at_once(self, text):
        with pytest.raises(ValueError, match="expected seconds"):
            seconds(text)
        with pytest.raises(ValueError, match="expected bytes"):
            size(text)


COMMAND = """\
command = "true {instance} {seed} {k}"
cost = "runtime"
cutoff = 5
instances = ["a", "b"]

[space.k]
type = "integer"
low = 1
high = 50

[budget]
runs = 100
"""


@pytest.fixture
def read_command(tmp_path):
    """Reads a scenario with a command; lines replace those of their name, or come first."""

    def reading(*lines, text=COMMAND):
        for line in lines:
            key = line.split(" = ")[0]
            kept = [old for old in text.splitlines() if old.split(" = ")[0] != key]
            text = "\n".join([line, *kept]) + "\n"
        path = tmp_path / "scenario.toml"
        path.write_text(text, encoding="utf-8")
        return read_scenario(path)

    return reading


@pytest.fixture
def command_problems(read_command, tmp_path):
    def of(*lines, **options):
        with pytest.raises(BadInput) as caught:
            read_command(*lines, **options)
        name = str(tmp_path / "scenario.toml")
        return [line.removeprefix(name) for line in str(caught.value).splitlines()]

    return of


class TestCommands:
    def test_command_may_be_a_text_or_a_list_of_words(self, read_command):
        words = read_command().target.template.words
        listed = read_command('command = ["true", "{instance}", "{seed}", "{k}"]')
        assert listed.target.template.words == words == ["true", "{instance}", "{seed}", "{k}"]

    def test_command_with_a_seed_is_random_and_without_is_not(self, read_command):
        assert not read_command().scenario.deterministic
        assert read_command('command = "true {instance} {k}"').scenario.deterministic

    def test_limits_are_those_of_the_file(self, read_command):
        found = read_command('memory = "2 GiB"', "wall_limit = 60", 'grace = "2 s"')
        limits = found.target.limits(5.0)
        assert (limits.cpu, limits.wall, limits.memory, limits.grace) == (5, 60, 2**31, 2)

    @pytest.mark.parametrize(
        ("written", "amount"),
        [("500", 500), ('"500"', 500), ('"500 B"', 500), ('"2kB"', 2000), ('"1.5 MB"', 1.5e6),
         ('"2 GB"', 2e9), ('"2 GiB"', 2**31), ('"4 MiB"', 2**22), ('".5 KiB"', 512)],
    )  # fmt: skip
    def test_memory_has_units(self, read_command, written, amount):
        assert read_command(f"memory = {written}").target.memory == amount

    @pytest.mark.parametrize("written", ["0", "-1", '"2 G"', '"much"', '"-2 GB"', "nan", "true"])
    def test_bad_memory_is_refused_at_its_line(self, command_problems, written):
        (line,) = command_problems(f"memory = {written}")
        assert line.startswith(", line 1, memory: ")

    @pytest.mark.parametrize("clock", ["cpu", "wall"])
    def test_clock_says_which_time_counts(self, read_command, clock):
        assert read_command(f'clock = "{clock}"').target.clock == clock

    @pytest.mark.parametrize(
        "line",
        [
            'clock = "sun"', "wall_limit = 0", "grace = -1", "solved = []", 'solved = ["0", 1]',
            'interface = "smac"', 'expected = true', 'expected = {a = true}', "command = 5",
            'booleans = ["1"]', "switches = 3", 'read = "everything"', "jobs = 0", "read = {}",
            'verdict = {runs = 0}', 'verdict = {rounds = 3}', "split_seed = 1.5", "store = 3",
            'cost = "PAR"', 'cost = "PARTY"', "folder = 3", 'instances = {a = 1}',
        ],
    )  # fmt: skip
    def test_bad_value_is_one_problem_at_its_line(self, command_problems, line):
        (problem,) = command_problems(line)
        key = line.split(" = ")[0]
        assert problem.startswith((f", line 1, {key}: ", f", line 1, {key}.")), problem

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ('command = "no-such-program {k} {instance}"', "there is no program no-such-program"),
            ('command = ""', "empty"),
            ('command = "true"', "does not mention k"),
            ('command = "true {kk}"', "unknown placeholder {kk}"),
            ('command = "true \'{k}"', "cannot be split into words"),
            ('style = "--param"', "is not a style"),
            ('switches = {speed = "-s "}', "no parameter is called 'speed'"),
            ('checker = "no-such-checker"', "there is no program no-such-checker"),
            ('read = {regex = "("}', "is not a regular expression"),
            ('read = {regex = "(a)(b)"}', "2 groups"),
            ('read = {gap = {regexp = "x"}}', "read.gap.regexp: there is no such setting"),
            (
                'read = {gap = "aclib", a = "last number"}',
                "read.gap: Input should be 'last number'",
            ),
            ('read = {gap = "last number"}', "read has an entry for 'gap', but there is one"),
            ('cost = "minimise"', "needs a reader"),
            ('folder = "nowhere"', "nowhere"),
            ('space = "nowhere.pcs"', "there is no file nowhere.pcs"),
        ],
    )
    def test_command_that_cannot_work_is_refused_with_its_line(self, command_problems, line, says):
        text = COMMAND
        if line.startswith("space"):
            text = text.replace('[space.k]\ntype = "integer"\nlow = 1\nhigh = 50\n', "")
        problems = command_problems(line, text=text)
        assert any(says in problem for problem in problems), problems
        assert all(problem.startswith(", line ") for problem in problems), problems

    def test_cutoff_must_be_there_to_be_passed_on(self, command_problems):
        text = COMMAND.replace("cutoff = 5\n", "").replace('"runtime"', '"minimise"')
        (line,) = command_problems(
            'command = "true {cutoff} {k} {instance}"', 'read = "last number"', text=text
        )
        assert "the command uses {cutoff}, but the scenario has no cutoff" in line

    def test_function_and_command_together_are_refused(self, command_problems):
        (line, *_) = command_problems('function = "math:sqrt"')
        assert "set either `function` or `command`" in line

    @pytest.mark.parametrize(
        "line",
        [
            'interface = "aclib"', 'style = "--name=value"', 'booleans = ["1", "0"]',
            'switches = {k = "-k "}', 'folder = "."', 'read = "last number"', "solved = [0]",
            'expected = "SAT"', 'checker = "true"', "wall_limit = 5", "grace = 2",
        ],
    )  # fmt: skip
    def test_settings_of_commands_are_refused_beside_a_function(self, problems, line):
        (problem,) = problems(f"{line}\n" + MINIMAL)
        key = line.split(" = ")[0]
        assert f"{key}: applies only to commands, but the target is a function" in problem

    @pytest.mark.parametrize(
        "lines",
        [
            ('executor = "inline"',),
            ('clock = "wall"', "wall_limit = 9"),
            ("split_seed = 3", 'test_instances = ["c"]'),
            ("split_seed = 3", "test_instances = 0"),
            ('switches = {k = "-k "}',),
        ],
        ids=lambda lines: " ".join(lines),
    )
    def test_setting_that_would_have_no_effect_is_refused(self, command_problems, lines):
        # The command names {k} itself, always runs under a keeper, and so on.
        assert command_problems(*lines)

    def test_space_may_be_a_file_with_more_forbidden(self, read_command, tmp_path):
        (tmp_path / "mine.pcs").write_text("k integer [1, 50] [25]\n")
        text = COMMAND.replace('[space.k]\ntype = "integer"\nlow = 1\nhigh = 50\n', "")
        found = read_command('forbidden = ["k > 40"]', 'space = "mine.pcs"', text=text)
        assert found.scenario.space.size() == 40

    def test_problems_in_different_settings_are_reported_at_once(self, command_problems):
        text = COMMAND + '[configurator]\ncomparison = "fresh"\n'
        found = command_problems(
            'command = "no-such-program {k} {instance}"', 'instances = "nowhere"', text=text
        )
        assert len(found) == 3
        assert found[0].startswith(", line 1, instances: "), "in the order of the file"
        assert any(line.startswith(", line 2, command: ") for line in found)
        assert any(", configurator: FreshRuns needs runs" in line for line in found)

    @pytest.mark.parametrize(("name", "penalty"), [("PAR1", 1), ("PAR2", 2), ("PAR10", 10)])
    def test_penalty_may_be_any(self, read_command, name, penalty):
        assert read_command(f'cost = "{name}"').scenario.cost == Runtime(penalty)

    def test_verdict_has_its_number_of_runs(self, read_command):
        found = read_command("verdict = {runs = 7}")
        assert (found.test_set.runs, found.test_set.held_out) == (7, False)

    def test_interface_of_irace_is_its_call(self, read_command):
        found = read_command('command = "true"', 'interface = "irace"')
        assert found.target.template.words == [
            "true", "{config_id}", "{instance_id}", "{seed}", "{instance}", "{cutoff}", "{params}"
        ]  # fmt: skip

    def test_irace_gives_a_bound_only_where_runtime_counts(self, read_command):
        found = read_command('command = "true"', 'interface = "irace"', 'cost = "minimise"')
        assert "{cutoff}" not in found.target.template.words
        assert found.scenario.cutoff < math.inf

    @pytest.mark.parametrize("name", ["PAR0", "PAR0.5"])
    def test_penalty_below_one_is_refused(self, read_command, name):
        with pytest.raises(BadInput, match="a penalty must be a number of at least 1"):
            read_command(f'cost = "{name}"')

    def test_interface_of_aclib_is_its_call(self, read_command):
        found = read_command('command = "true"', 'interface = "aclib"')
        words = ["true", "{instance}", "{info}", "{cutoff}", "2147483647", "{seed}", "{params}"]
        assert found.target.template.words == words


DOCS = Path(__file__).parents[2] / "docs" / "reference" / "scenario.md"


class TestSchema:
    """The JSON Schema that editors are given says what the program says."""

    @pytest.fixture
    def valid(self):
        described = json.loads(schema())
        validator = jsonschema.validators.validator_for(described)
        validator.check_schema(described)
        return validator(described).is_valid

    def test_published_schema_is_this_one(self):
        published = DOCS.parents[1].joinpath("scenario.schema.json").read_text(encoding="utf-8")
        assert published == schema()

    def test_example_of_init_is_valid(self, valid):
        assert valid(tomllib.loads(_contents()["scenario.toml"]))

    def test_examples_of_the_docs_are_valid(self, valid):
        examples = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
        whole = [tomllib.loads(text) for text in examples]
        assert any("budget" in example for example in whole)
        assert all(valid(example) for example in whole if "budget" in example)

    def test_short_space_of_the_docs_is_read(self, read):
        examples = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
        (short,) = [example for example in examples if "budget" not in example]
        space = read(f'function = "{{module}}:f"\nbudget = {{}}\n{short}').scenario.space
        assert list(space.parameters) == ["rate", "size", "mode", "restarts"]

    @pytest.mark.parametrize("text", [MINIMAL, COMPLETE, COMMAND, SHORT])
    def test_scenarios_of_these_tests_are_valid(self, valid, text):
        assert valid(tomllib.loads(text.replace("{module}", "m").replace("{{", "{")))

    @pytest.mark.parametrize(
        "line",
        [
            'cutof = 5', 'cost = "cheap"', "jobs = 0", 'jobs = "two"', 'function = "f"',
            'clock = "sun"', "instances = 5", "solved = []", 'expected = true',
            'verdict = {round = 3}', 'read = {regexp = "x"}', 'configurator = {name = "smac"}',
            "initial = [3]", "initial = 3", "warm_start = 'a'", "conditions = ['a']",
        ],
    )  # fmt: skip
    def test_mistakes_are_not(self, valid, line):
        kept = [old for old in COMMAND.splitlines() if old.split(" = ")[0] != line.split(" = ")[0]]
        assert not valid(tomllib.loads("\n".join([line, *kept])))

    @pytest.mark.parametrize(
        "line",
        [
            'cutoff = "5 s"', 'memory = "2 GB"', "grace = 0", 'cost = "PAR2"', "cost = 'minimise'",
            'instances = "data/*.cnf"', "instances = [1, 2.5]", "test_instances = 0.3",
            'test_instances = ["c"]', 'expected = {a = "SAT"}', 'read = {json = "a.b"}',
            'read = {time_regex = "t=(.*)"}', 'verdict = {runs = 9}', '"$schema" = "x.json"',
            "booleans = ['--name', '--no-name']", "deterministic = true", "split_seed = 3",
            'initial = [{k = 3}, {m = "x"}]', 'initial = "a.csv"', 'warm_start = ["a.sqlite"]',
            'conditions = {k = "m > 3"}', 'interface = "aclib2"', 'read = "aclib2"',
        ],
    )  # fmt: skip
    def test_good_settings_are_valid(self, valid, line):
        kept = [old for old in COMMAND.splitlines() if old.split(" = ")[0] != line.split(" = ")[0]]
        assert valid(tomllib.loads("\n".join([line, *kept])))


class TestSpaceAlone:
    """The space of a scenario whose target and instances are not there."""

    TEXT = """\
command = "nowhere {x} {instance}"
instances = "nowhere"
forbidden = ["x > 0.5 && mode == b"]

[space]
x = [0.0, 1.0]
mode = ["a", "b"]
deep = {type = "integer", low = 1, high = 9, condition = "mode == b"}

[budget]
"""

    def read(self, folder, text):
        (folder / "scenario.toml").write_text(text)
        return read_scenario_space(folder / "scenario.toml")

    def test_it_is_the_space_that_the_scenario_means(self, tmp_path):
        space = self.read(tmp_path, self.TEXT).space
        assert space == Space(
            {"x": (0.0, 1.0), "mode": ["a", "b"], "deep": (1, 9)},
            conditions={"deep": "mode == b"},
            forbidden=["x > 0.5 && mode == b"],
        )

    def test_what_is_wrong_with_it_has_its_line(self, tmp_path):
        with pytest.raises(BadInput, match=r"scenario.toml, line 8, space.deep.condition"):
            self.read(tmp_path, self.TEXT.replace('mode == b"}', 'mood == b"}'))
        with pytest.raises(BadInput, match="space: is missing"):
            self.read(tmp_path, "seed = 1\n")

    def test_a_file_that_it_names_is_read(self, tmp_path):
        (tmp_path / "solver.pcs").write_text("x {a, b} [a]\n")
        assert list(self.read(tmp_path, 'space = "solver.pcs"\n').space.parameters) == ["x"]
