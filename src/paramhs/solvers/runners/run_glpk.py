"""GLPK, the program glpsol: a call that fits the name of the file, and what it says in the end."""

import os
import re
import resource
import subprocess
import sys
import tempfile

_FORMATS = {".lp": "--lp", ".mps": "--freemps", ".glp": "--glp", ".mod": "--math"}
_ITERATIONS = re.compile(r"^[+*#]? *(\d+): ", re.MULTILINE)
_RESULT = re.compile(r"^Status: +(.*?)\n(?:Objective: .*? = (\S+))?", re.MULTILINE)
_ANSWERS = {
    "INTEGER EMPTY": "infeasible",
    "INFEASIBLE (FINAL)": "infeasible",
    "UNBOUNDED": "unbounded",
    "UNDEFINED": "unknown",
}
_ENDS = {  # where there is no solution to write, the output says why
    "HAS NO PRIMAL FEASIBLE": "infeasible",
    "HAS NO INTEGER FEASIBLE": "infeasible",
    "HAS NO FEASIBLE": "infeasible",
    "HAS UNBOUNDED": "unbounded",
    "HAS NO DUAL FEASIBLE": "infeasible or unbounded",
    "TIME LIMIT": "timeout",
}


def solve(path, words, seed, program):
    """Solve a model; simplex iterations are the counted work. There is nothing random."""
    ending = os.path.splitext(path.removesuffix(".gz"))[1].lower()
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, "solution")
        call = [program, _FORMATS.get(ending, "--freemps"), path, "-o", written, *words]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        text = ""
        if os.path.exists(written):
            with open(written, encoding="utf-8", errors="replace") as file:
                text = file.read()
    if done.returncode:
        sys.exit(done.stdout.strip() or done.stderr.strip() or f"it ended with {done.returncode}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    counted = [int(number) for number in _ITERATIONS.findall(done.stdout)]
    return {
        "answer": _answer(text, done.stdout),
        "seconds": used.ru_utime + used.ru_stime,
        "work": max(counted, default=0),
    }


def _answer(text, output):
    """The optimal value, or a word."""
    found = _RESULT.search(text)
    if found and found[1] in ("OPTIMAL", "INTEGER OPTIMAL"):
        return float(found[2])
    for words, answer in _ENDS.items():
        if words in output:
            return answer
    return _ANSWERS.get(found[1], "unknown") if found else "unknown"
