"""OR-Tools CP-SAT: models in its own format, as `model.export_to_file` writes them."""

import time

from google.protobuf import text_format
from ortools.sat import cp_model_pb2, sat_parameters_pb2
from ortools.sat.python import cp_model

DISTRIBUTION = "ortools"

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
            low = None if kind == "boolean" or default < 0 else 0
            return {"name": field.name, "kind": kind, "default": default, "low": low}
    return {"name": field.name, "kind": "text", "default": str(field.default_value)}


def _model_text(path):
    with open(path, "rb") as file:
        content = file.read()
    if path.endswith("txt"):
        return content.decode()
    return text_format.MessageToString(cp_model_pb2.CpModelProto.FromString(content))


def solve(path, options, seed):
    """Solve a model with one worker."""
    given = {**options, "random_seed": seed % 2**31, "num_workers": 1}
    solver = cp_model.CpSolver()
    solver.parameters.parse_text_format("\n".join(f"{n}: {value}" for n, value in given.items()))
    model = cp_model.CpModel()
    model.proto.parse_text_format(_model_text(path))
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
