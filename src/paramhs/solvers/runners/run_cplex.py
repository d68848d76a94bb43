"""CPLEX, through its Python package."""

import os
import tempfile
import time

import cplex

DISTRIBUTION = "cplex"

_NO_END = 2_100_000_000  # its largest integer, as an upper bound: none
_MAX_WRITTEN = 1e70
_RECORD = "record"  # setting it begins a file of all calls
_ALWAYS_WRITTEN = "CPXPARAM_Read_DataCheck"  # the Python package changes its default
_OPTIMAL = {1, 101, 102}  # of a linear program, of an integer one, and the same within the gap
_ANSWERS = {
    **dict.fromkeys((3, 103), "infeasible"),
    **dict.fromkeys((2, 118), "unbounded"),
    **dict.fromkeys((4, 119), "infeasible or unbounded"),
    **dict.fromkeys((11, 107, 108), "timeout"),
}


def _silent():
    """An instance of CPLEX that prints nothing."""
    made = cplex.Cplex()
    for stream in (made.set_log_stream, made.set_results_stream, made.set_warning_stream):
        stream(None)
    return made


def options():
    """Yield its parameters, with the bounds and the default that the library says."""
    with _silent() as made, tempfile.TemporaryDirectory() as folder:
        for path, _ in made.parameters.get_all():
            parameter = made.parameters
            for part in str(path).split(".")[1:]:
                parameter = getattr(parameter, part)
            found = _option(str(path).removeprefix("parameters."), parameter)
            if found["kind"] != "text" and found["name"] != _RECORD:
                written = _written(made, parameter, os.path.join(folder, "all.prm"))
                found |= {"name": written} if written else {"kind": "text"}
            yield found


def _option(name, parameter):
    default, about = parameter.default(), parameter.help().partition("\n")[0]
    found = {"name": name, "kind": "text", "default": str(default), "description": about}
    if isinstance(default, str):
        return found
    low, high = parameter.min(), parameter.max()
    if not low <= default <= high or low == high:  # it says 0 for both where there is no bound
        return found
    kind = "integer" if isinstance(default, int) else "real"
    high = high if high < _NO_END else None
    return {**found, "kind": kind, "default": default, "low": low, "high": high}


def _written(made, parameter, path):
    """The name in its parameter files: MIP_Cuts_Gomory, where Python has mip.cuts.gomory."""
    default, low = parameter.default(), parameter.min()
    other = low if low != default else type(default)(low + 1)
    if abs(other) >= _MAX_WRITTEN:
        return None
    parameter.set(other)
    made.parameters.write_file(path)
    parameter.set(default)
    with open(path, encoding="utf-8") as file:
        names = [line.split()[0] for line in file.read().splitlines()[1:] if line.strip()]
    others = [name for name in names if name != _ALWAYS_WRITTEN] or names
    return others[0].removeprefix("CPXPARAM_") if others else None


def solve(path, options, seed):
    """Solve a model with one thread; a refused parameter or file is an error."""
    given = {"Threads": "1", "RandomSeed": str(seed % _NO_END), **options}
    with _silent() as made, tempfile.TemporaryDirectory() as folder:
        settings = os.path.join(folder, "given.prm")
        with open(settings, "w", encoding="utf-8") as file:
            file.writelines(f"CPXPARAM_{name} {text}\n" for name, text in given.items())
        made.parameters.read_file(settings)
        made.read(path)
        begin, ticks = time.process_time(), made.get_dettime()
        made.solve()
        seconds, work = time.process_time() - begin, made.get_dettime() - ticks
        status = made.solution.get_status()
        optimal = status in _OPTIMAL
        answer = made.solution.get_objective_value() if optimal else None
        return {
            "answer": answer if optimal else _ANSWERS.get(status, "unknown"),
            "seconds": seconds,
            "work": work,
        }
