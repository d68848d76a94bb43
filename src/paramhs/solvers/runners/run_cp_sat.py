"""OR-Tools CP-SAT: models in its own format, as `model.export_to_file` writes them."""

import time

from google.protobuf import text_format
from ortools.sat import cp_model_pb2, sat_parameters_pb2
from ortools.sat.python import cp_model

DISTRIBUTION = "ortools"
_RANGE_FACTOR = 100

_KINDS = {
    "boolean": lambda field: field.type == field.TYPE_BOOL,
    "integer": lambda field: (
        field.type in (field.TYPE_INT32, field.TYPE_INT64, field.TYPE_UINT32, field.TYPE_UINT64)
    ),
    "real": lambda field: field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT),
}


def options():
    """Yield the fields of its message of parameters; a repeated one is a text."""
    for field in sat_parameters_pb2.SatParameters.DESCRIPTOR.fields:
        yield _option(field)


def _option(field):
    if getattr(field, "is_repeated", False) is True or field.default_value == []:
        return {"name": field.name, "kind": "text", "default": ""}
    if field.type == field.TYPE_ENUM:
        by_number = field.enum_type.values_by_number
        names = [value.name for value in field.enum_type.values]
        default = by_number[field.default_value].name
        return {"name": field.name, "kind": "choice", "default": default, "choices": names}
    for kind, fits in _KINDS.items():
        if fits(field):
            default = field.default_value
            if kind == "real" and abs(default) == float("inf"):
                return {"name": field.name, "kind": "text", "default": str(default)}
            found = {"name": field.name, "kind": kind, "default": default}
            return found if kind == "boolean" else {**found, **_bounds(field.name, default)}
    return {"name": field.name, "kind": "text", "default": str(field.default_value)}


def _bounds(name, default):
    """Ends between which the library accepts the option.

    It says no bounds; but it refuses to solve even an empty model with a probability of 2. So the
    far end that a range would have is tried, and nearer ones if it is refused.
    """
    one = type(default)(1)
    lows = [] if default < 0 else [type(default)(0), one, default]
    low = next((value for value in lows if value <= default and _accepted(name, value)), None)
    far = max(abs(default), 10 * one if isinstance(default, int) else 0.01) * _RANGE_FACTOR
    if _accepted(name, far):
        return {"low": low}
    nearer = sorted({far / 10, 100.0, 10.0, 5.0, 2.0, 1.0, float(default)}, reverse=True)
    highs = (type(default)(value) for value in nearer)
    return {
        "low": low,
        "high": next((v for v in highs if v >= default and _accepted(name, v)), None),
    }


def _accepted(name, value):
    solver = cp_model.CpSolver()
    try:
        _parse(solver.parameters, f"{name}: {value} num_workers: 1 max_time_in_seconds: 1")
    except Exception:
        return False
    return solver.solve(cp_model.CpModel()) != cp_model.MODEL_INVALID


def _model_text(path):
    with open(path, "rb") as file:
        content = file.read()
    if path.endswith("txt"):
        return content.decode()
    return text_format.MessageToString(cp_model_pb2.CpModelProto.FromString(content))


def _parse(message, text):
    """Fill a message; before 9.13 they are those of the Python package protobuf."""
    if hasattr(message, "parse_text_format"):
        message.parse_text_format(text)
    else:
        text_format.Parse(text, message)


def solve(path, options, seed):
    """Solve a model with one worker."""
    given = {**options, "random_seed": seed % 2**31, "num_workers": 1}
    solver = cp_model.CpSolver()
    _parse(solver.parameters, "\n".join(f"{n}: {value}" for n, value in given.items()))
    model = cp_model.CpModel()
    _parse(model.proto if hasattr(model, "proto") else model.Proto(), _model_text(path))
    begin = time.process_time()
    status = solver.solve(model)
    seconds = time.process_time() - begin
    answers = {
        cp_model.OPTIMAL: solver.objective_value if model.has_objective() else "sat",
        cp_model.FEASIBLE: "sat",
        cp_model.INFEASIBLE: "infeasible",
    }
    return {
        "answer": answers.get(status, "unknown"),
        "seconds": seconds,
        "work": solver.response_proto.deterministic_time,
    }
