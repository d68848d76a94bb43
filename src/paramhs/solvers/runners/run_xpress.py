"""FICO Xpress, through its Python package.

The library says names, types and defaults. It says no bounds, and accepts any number; but some of
its controls list their values, and its tuner can write down the values that it would try:

    TUNABLE-CONTROLS
      COVERCUTS            = 0, 2, 5, 10, 20, 50

Such a control is a choice of these values and of its default.
"""

import enum
import io
import os
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stdout

DISTRIBUTION = "xpress"

# It imports these where they are installed, which takes a second; nothing here needs them.
sys.modules |= {"pandas": None, "scipy": None}

with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
    warnings.simplefilter("ignore")  # it announces its licence
    import xpress

_METHODS = (xpress.TunerMethod.MIPCOMPREHENSIVE, xpress.TunerMethod.MIPQUICK)
_ANSWERS = {
    xpress.SolStatus.INFEASIBLE: "infeasible",
    xpress.SolStatus.UNBOUNDED: "unbounded",
}


def _problem():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = xpress.problem()
    found.setControl("outputlog", 0)
    return found


def options():
    """Yield its controls with their defaults."""
    problem = _problem()
    tried = _tried(problem)
    for name, default in problem.getControl().items():
        yield _option(name.lower(), default, tried.get(name.lower(), []))


def _tried(problem):
    """Values that the library's own tuner tries for integer programs, by control."""
    found = {}
    for method in _METHODS:
        problem.setControl("tunermethod", int(method))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "method.xtm")
            with redirect_stdout(io.StringIO()):
                problem.tunerWriteMethod(path)
            with open(path, encoding="utf-8") as file:
                text = file.read().partition("TUNABLE-CONTROLS")[2]
        for line in text.splitlines():
            name, mark, values = line.partition("=")
            if mark:
                found.setdefault(name.strip().lower(), []).extend(map(float, values.split(",")))
    problem.setControl("tunermethod", -1)
    return found


def _option(name, default, tried):
    if isinstance(default, enum.IntEnum):
        values = sorted(int(one) for one in type(default))
        if values == list(range(values[0], values[-1] + 1)):
            ends = {"low": values[0], "high": values[-1]}
            return {"name": name, "kind": "integer", "default": int(default), **ends}
        return {"name": name, "kind": "choice", "default": int(default), "choices": values}
    kind = {int: "integer", float: "real"}.get(type(default), "text")
    found = {"name": name, "kind": kind, "default": default}
    if kind == "text" or not tried or (len(tried) > 1 and set(tried) == {0}):  # a set of bits
        return found
    values = sorted({type(default)(value) for value in (*tried, default)})
    return {**found, "kind": "choice", "choices": values}


def solve(path, options, seed):
    """Solve a model with one thread; a refused control or file is an error."""
    problem = _problem()
    given = {"threads": "1", "randomseed": str(seed % 2**31), **options}
    for name, text in given.items():
        try:
            now = problem.getControl(name)
        except (xpress.InterfaceError, xpress.ModelError, xpress.SolverError):
            raise SystemExit(f"Xpress has no control {name}") from None
        problem.setControl(name, int(text) if isinstance(now, int) else type(now)(text))
    problem.readProb(path)
    begin = time.process_time()
    solve_status, status = problem.optimize()
    seconds = time.process_time() - begin
    attributes = problem.attributes
    answer = _ANSWERS.get(status, "unknown")
    if status == xpress.SolStatus.OPTIMAL:
        answer = attributes.objval
    elif solve_status == xpress.SolveStatus.STOPPED:
        answer = "timeout"
    return {"answer": answer, "seconds": seconds, "work": attributes.work}
