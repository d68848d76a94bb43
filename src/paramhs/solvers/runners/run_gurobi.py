"""Gurobi, through gurobipy."""

import math
import time

import gurobipy
from gurobipy import GRB

DISTRIBUTION = "gurobipy"

_KINDS = {int: "integer", float: "real", str: "text"}
_NO_END = 2_000_000_000  # its largest integer, as an upper bound: none
_ANSWERS = {
    GRB.INFEASIBLE: "infeasible",
    GRB.UNBOUNDED: "unbounded",
    GRB.INF_OR_UNBD: "infeasible or unbounded",
    GRB.TIME_LIMIT: "timeout",
}


def _silent():
    """An environment that prints nothing, not even its licence."""
    return gurobipy.Env(params={"OutputFlag": 0})


def options():
    """Yield the parameters of the library, with the bounds and the default that it says."""
    with _silent() as environment, gurobipy.Model(env=environment) as model:
        for name in sorted(vars(type(GRB.Param)) | vars(GRB.Param)):
            if not name.startswith("_"):
                yield _option(*model.getParamInfo(name))


def _option(name, kind, _, low, high, default):
    found = {"name": name, "kind": _KINDS[kind], "default": default}
    if kind is str or math.isinf(default):
        return {**found, "kind": "text", "default": str(default)}
    ends = {"low": low, "high": high if high < _NO_END else None}
    return {**found, **ends}


def solve(path, options, seed):
    """Solve a model with one thread; a refused parameter or file is an error."""
    with _silent() as environment, gurobipy.read(path, env=environment) as model:
        for name, text in {"Threads": "1", "Seed": str(seed % _NO_END), **options}.items():
            model.setParam(name, _value(model, name, text))
        begin = time.process_time()
        model.optimize()
        seconds = time.process_time() - begin
        optimal = model.Status == GRB.OPTIMAL
        answer = model.ObjVal if optimal else _ANSWERS.get(model.Status, "unknown")
        return {"answer": answer, "seconds": seconds, "work": model.Work}


def _value(model, name, text):
    found = model.getParamInfo(name)
    if found is None:
        raise SystemExit(f"Gurobi has no parameter {name}")
    return found[1](text)
