"""Docstrings of public names: every parameter, what is returned, and an example that runs."""

import ast
import doctest
import inspect
import re
import types
from itertools import pairwise
from textwrap import dedent

import pytest

import paramhs
from paramhs import core, optuna, search, sklearn, solvers, testing

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (paramhs, search, core, testing, sklearn, optuna, solvers)
    for name in getattr(module, "__all__", ("ParamHSSearchCV",))
    if name != "__version__"
}
EXCEPTIONS = {n for n, t in PUBLIC.items() if inspect.isclass(t) and issubclass(t, Exception)}
CALLED = {n: t for n, t in PUBLIC.items() if isinstance(t, type | types.FunctionType)}
BASES = (
    "Comparison",
    "Configurator",
    "Guide",
    "Learner",
    "Model",
    "Operator",
    "Posterior",
    "Step",
    "Walk",
)
BASES += ("TabuWalk",)
READ_ONLY = ("Record", "Result", "Verdict", "Race", "Seen", "RestartWalk")
READ_ONLY += ("Derived", "Entry", "Installation", "Solver", "find", "get")
"""Classes that users read or subclass; the rest have an example."""


def parameters(thing):
    names = inspect.signature(thing).parameters
    return [name for name in names if name not in ("self", "args", "kwargs", "values", "more")]


def documented(thing):
    """Names in the section Args of a docstring, and fields with a docstring of their own."""
    *_, section = re.split(r"(?:Args|Attributes):\n", inspect.getdoc(thing) or "", maxsplit=1)
    found = set(re.findall(r"^ {4}\*{0,2}(\w+): \S", section, re.MULTILINE))
    if inspect.isclass(thing):
        body = ast.parse(dedent(inspect.getsource(thing))).body[0].body
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found.add(field.target.id)
    return found


FILES = {"paramhs.solvers.Entry"}
"""Built from files, whose settings have a page of their own."""

NAMED = sorted(CALLED.keys() - EXCEPTIONS - FILES - {"paramhs.core.Status"})


@pytest.mark.parametrize("name", NAMED)
def test_every_parameter_is_documented(name):
    thing = CALLED[name]
    missing = [one for one in parameters(thing) if one not in documented(thing)]
    assert missing == []


def methods(cls):
    """The public methods that a class defines itself."""
    for name, thing in vars(cls).items():
        method = getattr(thing, "__func__", thing)
        if not name.startswith("_") and inspect.isfunction(method):
            yield name, method


def documented_anywhere(cls, name):
    """Names that the docstring of a method, or of a method that it overrides, describes."""
    found = [
        getattr(vars(base).get(name), "__func__", vars(base).get(name)) for base in cls.__mro__
    ]
    return set().union(*map(documented, filter(inspect.isfunction, found)))


@pytest.mark.parametrize("name", NAMED)
def test_every_parameter_of_a_method_is_documented(name):
    if not inspect.isclass(CALLED[name]):
        return
    missing = [
        (method, one)
        for method, function in methods(CALLED[name])
        for one in parameters(function)
        if one != "cls" and one not in documented_anywhere(CALLED[name], method)
    ]
    assert missing == []


@pytest.mark.parametrize("name", [n for n, t in CALLED.items() if inspect.isfunction(t)])
def test_every_function_says_what_it_returns(name):
    if inspect.signature(CALLED[name]).return_annotation not in (None, "None"):
        assert "Returns:\n" in inspect.getdoc(CALLED[name])


@pytest.mark.parametrize("name", sorted(CALLED.keys() - EXCEPTIONS))
def test_example_in_a_docstring_runs(name):
    thing = CALLED[name]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    {name.rpartition(".")[2]: thing}
    tests = [
        test
        for test in doctest.DocTestFinder(recurse=False).find(
            thing, name, globs={name.rpartition(".")[2]: thing}
        )
        if test.examples
    ]
    if name.rpartition(".")[2] not in (*BASES, *READ_ONLY):
        assert tests, "no example"
    for test in tests:
        assert runner.run(test).failed == 0
