"""CPLEX, through its Python package."""

import time

import cplex

DISTRIBUTION = "cplex"

_NO_END = 2_100_000_000  # its largest integer, as an upper bound: none
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
    with _silent() as made:
        for parameter, _ in made.parameters.get_all():
            yield _option(made, _name(parameter))


def _name(path):
    """The name without the word that all begin with: mip.cuts.cliques."""
    return str(path).removeprefix("parameters.")


def _parameter(made, name):
    found = made.parameters
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None or not hasattr(found, "default"):
        raise SystemExit(f"CPLEX has no parameter {name}")
    return found


def _option(made, name):
    parameter = _parameter(made, name)
    default, about = parameter.default(), parameter.help().partition("\n")[0]
    found = {"name": name, "kind": "text", "default": str(default), "description": about}
    if isinstance(default, str):
        return found
    low, high = parameter.min(), parameter.max()
    if not low <= default <= high:  # it says 0 for both where there is no bound
        return found
    kind = "integer" if isinstance(default, int) else "real"
    high = high if high < _NO_END else None
    return {**found, "kind": kind, "default": default, "low": low, "high": high}


def solve(path, options, seed):
    """Solve a model with one thread; a refused parameter or file is an error."""
    with _silent() as made:
        given = {"threads": "1", "randomseed": str(seed % _NO_END), **options}
        for name, text in given.items():
            parameter = _parameter(made, name)
            parameter.set(type(parameter.default())(text))
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
