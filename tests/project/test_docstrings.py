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
from paramhs import search

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (paramhs, search)
    for name in module.__all__
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


@pytest.mark.parametrize("name", sorted(CALLED.keys() - EXCEPTIONS))
def test_every_parameter_is_documented(name):
    thing = CALLED[name]
    missing = [one for one in parameters(thing) if one not in documented(thing)]
    assert missing == []


@pytest.mark.parametrize("name", [n for n, t in CALLED.items() if inspect.isfunction(t)])
def test_every_function_says_what_it_returns(name):
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
