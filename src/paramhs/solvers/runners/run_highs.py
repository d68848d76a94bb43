"""HiGHS, through highspy."""

import tempfile
import time
from pathlib import Path

import highspy

DISTRIBUTION = "highspy"

_ANSWERS = {
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "infeasible or unbounded",
    highspy.HighsModelStatus.kTimeLimit: "timeout",
}


def options():
    """Yield the text of the options file that HiGHS writes."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "highs.opts"
        highs.writeOptions(str(path))
        yield path.read_text()


def solve(path, options, seed):
    """Solve a model; a refused option or file is an error."""
    highs = highspy.Highs()
    given = {"output_flag": "false", "threads": "1", "random_seed": str(seed), **options}
    for name, text in given.items():
        _done(highs.setOptionValue(name, _value(highs, name, text)), f"set {name} = {text}")
    begin = time.process_time()
    _done(highs.readModel(path), f"read {path}")
    highs.run()
    seconds = time.process_time() - begin
    status, info = highs.getModelStatus(), highs.getInfo()
    answer = _ANSWERS.get(status, "unknown")
    if status == highspy.HighsModelStatus.kOptimal:
        answer = info.objective_function_value
    work = info.simplex_iteration_count + info.ipm_iteration_count + max(info.mip_node_count, 0)
    return {"answer": answer, "seconds": seconds, "work": work}


def _value(highs, name, text):
    kind = highs.getOptionType(name)[1]
    if kind == highspy.HighsOptionType.kBool:
        return text in ("true", "on", "1")
    if kind == highspy.HighsOptionType.kInt:
        return int(text)
    return float(text) if kind == highspy.HighsOptionType.kDouble else text


def _done(status, what):
    if status == highspy.HighsStatus.kError:
        raise SystemExit(f"HiGHS cannot {what}")
