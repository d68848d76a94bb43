"""A small part of what every entry is held to, where its solver is installed.

`python -m benchmarks.catalogue NAME` is all of it.
"""

import subprocess
import sys
from importlib.resources import files
from itertools import islice

import pytest

from benchmarks.catalogue.checks import Checker, default_work
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.solvers import entry_of, find, get

PROGRAMS = [
    *("cadical", "cbc", "clasp", "clingo", "cryptominisat", "cvc5", "glpk", "glucose", "kissat"),
    "minisat",
]
LIBRARIES = ["cp-sat", "cplex", "gurobi", "highs", "scip", "xpress"]
SLOW = pytest.param("gcc", marks=pytest.mark.slow)  # it compiles a program for each run
CONFIGS = 3


def installed(name: str) -> None:
    try:
        find(entry_of(name))
    except BadInput as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", [*PROGRAMS, *LIBRARIES, "z3", SLOW])
def test_the_derived_default_does_the_work_of_the_solvers_default(name, tmp_path):
    installed(name)
    ((plain, written),) = default_work(get(name, options="all", cost="work"), tmp_path, 1)
    assert plain == written
    assert plain > 0


@pytest.mark.parametrize("name", [*PROGRAMS, *LIBRARIES, "z3", SLOW])
def test_random_configurations_are_accepted_and_answer_as_the_default(name, tmp_path):
    installed(name)
    solver = get(name, options="all")
    checker = Checker(solver, tmp_path, 2)
    try:
        draws = solver.space.draws(stream(1, "promises"))
        for number, config in enumerate(islice(draws, CONFIGS)):
            assert checker.fault(config, number % 2) is None
    finally:
        checker.close()


@pytest.mark.parametrize("name", ["cp-sat", "xpress"])
def test_a_run_does_not_pay_for_the_import_of_pandas(name):
    """It takes ten times as long as everything else before a run."""
    installed(name)
    module = f"run_{name.replace('-', '_')}"
    script = f"import sys, {module}; print(sys.modules.get('pandas'))"
    folder = files("paramhs.solvers").joinpath("runners")
    call = [sys.executable, "-c", script]
    done = subprocess.run(call, cwd=str(folder), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "None"


def read_by_scip(path):
    model = pytest.importorskip("pyscipopt").Model()
    model.hideOutput()
    model.readParams(str(path))
    return model.getParam


def read_by_highs(path):
    highs = pytest.importorskip("highspy").Highs()
    highs.setOptionValue("output_flag", False)
    highs.readOptions(str(path))
    return lambda name: highs.getOptionValue(name)[1]


def read_by_gurobi(path):
    gurobi = pytest.importorskip("gurobipy")
    model = gurobi.Model(env=gurobi.Env(params={"OutputFlag": 0}))
    model.read(str(path))
    return lambda name: model.getParamInfo(name)[2]


def read_by_cplex(path):
    problem = pytest.importorskip("cplex").Cplex()
    problem.parameters.read_file(str(path))
    found = {str(p).lower().replace(".", "_"): v for p, v in problem.parameters.get_changed()}
    return lambda name: found[f"parameters_{name}".lower()]


def read_by_cp_sat(path):
    pytest.importorskip("ortools")
    from google.protobuf import text_format
    from ortools.sat import sat_parameters_pb2 as messages

    message = text_format.Parse(path.read_text(), messages.SatParameters())

    def found(name):
        field, value = message.DESCRIPTOR.fields_by_name[name], getattr(message, name)
        names = field.enum_type.values_by_number if field.enum_type else {}
        return names[value].name if names else value

    return found


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("cp-sat", read_by_cp_sat),
        ("cplex", read_by_cplex),
        ("gurobi", read_by_gurobi),
        ("highs", read_by_highs),
        ("scip", read_by_scip),
    ],
)
def test_the_solvers_own_file_sets_what_the_configuration_says(name, read, tmp_path):
    installed(name)
    solver = get(name)
    config = next(solver.space.draws(stream(2, "promises")))
    path = tmp_path / f"settings{'.prm' if name in ('gurobi', 'cplex') else '.set'}"
    assert solver.target.native is not None
    path.write_text(solver.target.native.text(config, solver.target.template.style) + "\n")
    found = read(path)
    for option, value in config.items():
        if value != solver.space.parameters[option].default:
            assert found(option) == pytest.approx(value) or str(found(option)) == str(value)
