"""OR-Tools CP-SAT: models in its own format, as `model.export_to_file` writes them.

`ortools.sat.python.cp_model` imports pandas, which takes a second of processor time. Since 9.15 the
extension below it is enough, so only older versions pay for that.
"""

import time

from ortools.sat.python import cp_model_helper as library

DISTRIBUTION = "ortools"
_LIGHT = hasattr(library, "SatParameters")
if not _LIGHT:
    from google.protobuf import text_format
    from ortools.sat.python import cp_model

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
    from ortools.sat import sat_parameters_pb2

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
    try:
        status, _ = _solved(f"{name}: {value} num_workers: 1 max_time_in_seconds: 1", "")
    except Exception:
        return False
    return status != "MODEL_INVALID"


def _solved(parameters, model):
    """The name of the status, and the response, of a model and parameters in text format."""
    if not _LIGHT:
        return _solved_by_cp_model(parameters, model)
    given, problem = library.SatParameters(), library.CpModelProto()
    given.parse_text_format(parameters)
    problem.parse_text_format(model)
    wrapper = library.SolveWrapper()
    wrapper.set_parameters(given)
    response = wrapper.solve(problem)
    return response.status.name, response


def _solved_by_cp_model(parameters, model):
    """Solve with versions before 9.15; before 9.13 messages are of the Python package protobuf."""
    solver, problem = cp_model.CpSolver(), cp_model.CpModel()
    text_format.Parse(parameters, solver.parameters)
    text_format.Parse(model, problem.Proto())
    return solver.status_name(solver.Solve(problem)), solver.ResponseProto()


def _model_text(path):
    with open(path, "rb") as file:
        content = file.read()
    if path.endswith("txt"):
        return content.decode()
    from google.protobuf.text_format import MessageToString
    from ortools.sat import cp_model_pb2

    return MessageToString(cp_model_pb2.CpModelProto.FromString(content))


def solve(path, options, seed):
    """Solve a model with one worker."""
    given = {**options, "random_seed": seed % 2**31, "num_workers": 1}
    parameters = "\n".join(f"{n}: {value}" for n, value in given.items())
    model = _model_text(path)
    begin = time.process_time()
    status, response = _solved(parameters, model)
    seconds = time.process_time() - begin
    return {
        "answer": _answer(status, response, "objective {" in model),
        "seconds": seconds,
        "work": response.deterministic_time,
    }


def _answer(status, response, has_objective):
    if status == "OPTIMAL" and has_objective:
        return response.objective_value
    return {"OPTIMAL": "sat", "FEASIBLE": "sat", "INFEASIBLE": "infeasible"}.get(status, "unknown")
