"""gcc: compile a program with the given flags, run it, and count the time of the run alone.

The instance is a C file with a `main` that needs no input. Its answer is a digest of what it
prints, so that flags with which a program computes something else are noticed.
"""

import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

LEVEL = "-O2"
_FLAG = re.compile(r"  -f([\w-]+) +\t+\[(enabled|disabled)\]$")
_CHOICE = re.compile(r"  -f([\w-]+)=\[([^\]]+)\] +\t+(\S+)$")
_RANGE = re.compile(r"  --param=([\w-]+)=(?:<(-?\d+),(-?\d+)>)? +\t+(-?\d+)$")


def options(program):
    """Yield flags of optimizers, and parameters, with their values at the level."""
    kinds = ("--help=optimizers", "--help=params")
    for line in "".join(_output(program, "-Q", LEVEL, kind) for kind in kinds).splitlines():
        if match := _FLAG.match(line):
            yield {"name": match[1], "kind": "boolean", "default": match[2] == "enabled"}
        elif match := _CHOICE.match(line):
            words = match[2].split("|")
            kind = "choice" if match[3] in words else "text"
            switch = f"-f{match[1]}="
            yield _record(match[1], kind, match[3], switch, choices=words)
        elif (match := _RANGE.match(line)) and int(match[4]) >= 0:  # -1 may not be written
            low, high, default = match[2], match[3], int(match[4])
            switch = f"--param={match[1]}="
            ends = {"low": int(low), "high": int(high)} if low else {"low": min(default, 0)}
            yield _record(match[1], "integer", default, switch, **ends)
        elif line.startswith("  -") and "\t" in line:
            yield {"name": line.split()[0].lstrip("-"), "kind": "text", "default": "-"}


def _record(name, kind, default, switch, **more):
    return {"name": name, "kind": kind, "default": default, "switch": switch, **more}


def _output(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return done.stdout


def solve(path, words, seed, program):
    """Compile and run; the size of the code is the counted cost."""
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "program")
        call = [program, LEVEL, *words, path, "-o", made, "-lm"]
        compiled = subprocess.run(call, capture_output=True, text=True, check=False)
        if compiled.returncode:
            sys.exit(compiled.stderr.strip() or f"{program} ended with {compiled.returncode}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([made], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = _code_size(made)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    digest = hashlib.sha256(done.stdout).hexdigest()[:16]
    return {"answer": f"{digest} ({done.returncode})", "seconds": seconds, "work": size}


def _code_size(path):
    """Bytes of machine code and constants, as `size` counts them."""
    listed = _output(shutil.which("size") or "size", path)
    return int(listed.splitlines()[1].split()[0])
