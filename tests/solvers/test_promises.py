"""A small part of what every entry is held to, where its solver is installed.

`python -m benchmarks.catalogue NAME` is all of it.
"""

from itertools import islice

import pytest

from benchmarks.catalogue.checks import Checker, default_work
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import stream
from paramhs.solvers import entry_of, find, get

PROGRAMS = [
    *("cadical", "cbc", "clasp", "clingo", "cryptominisat", "glpk", "glucose", "kissat", "minisat"),
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
    """Not cvc5: it chooses values by the logic of the problem where none is written."""
    installed(name)
    ((plain, written),) = default_work(get(name, options="all", cost="work"), tmp_path, 1)
    assert plain == written
    assert plain > 0


@pytest.mark.parametrize("name", [*PROGRAMS, *LIBRARIES, "cvc5", "z3", SLOW])
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
