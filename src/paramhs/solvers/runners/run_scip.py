"""SCIP, through pyscipopt."""

import tempfile
import time
from pathlib import Path

from pyscipopt import Model

DISTRIBUTION = "pyscipopt"

_ANSWERS = {
    "infeasible": "infeasible",
    "unbounded": "unbounded",
    "inforunbd": "infeasible or unbounded",
    "timelimit": "timeout",
}


def options():
    """Yield the text of the parameter file that SCIP writes."""
    model = Model()
    model.hideOutput()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scip.set"
        model.writeParams(str(path), comments=True, onlychanged=False, verbose=False)
        yield path.read_text()


def solve(path, options, seed):
    """Solve a model; a refused parameter or file is an error."""
    model = Model()
    model.hideOutput()
    for name, text in {"randomization/randomseedshift": str(seed), **options}.items():
        model.setParam(name, _value(model.getParam(name), text))
    begin = time.process_time()
    model.readProblem(path)
    model.optimize()
    seconds = time.process_time() - begin
    status = model.getStatus()
    answer = model.getObjVal() if status == "optimal" else _ANSWERS.get(status, "unknown")
    work = model.getNLPIterations() + model.getNTotalNodes()
    return {"answer": answer, "seconds": seconds, "work": work}


def _value(now, text):
    if isinstance(now, bool):
        return text in ("TRUE", "true", "1")
    return type(now)(text)
