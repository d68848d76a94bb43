"""CBC, the program: its options, asked for one by one, and a call that it survives.

It crashes where its arguments are longer than about 1000 characters together, so it is given them
on its standard input. It only prints a line where it does not know an option or a value; here that
is an error.

`cbc -?` has the names by kind, and `NAME??` says values and the current one:

    Coin:primalT(olerance) : For a feasible solution no primal infeasibility may exceed this value
    <Range of values is 1e-20 to 1.79769e+308;
            current 1e-07>
"""

import re
import resource
import subprocess
import sys

_HEADING = re.compile(r"(Branch and Cut )?(double|integer|keyword) parameters:$", re.IGNORECASE)
_VALUES = re.compile(
    r"<(?:Range of values is (?P<low>\S+) to (?P<high>\S+)|Possible options for \S+ are:"
    r" *(?P<words>[^;]*));\s*current +(?P<now>\S+)>"
)
_KINDS = {"double": "real", "integer": "integer", "keyword": "choice"}
_NO_END = 2**31 - 1
_REFUSED = re.compile(
    r"^.*(?:No match for|Possible options for|Illegal|is out of range|valid range is).*$",
    re.MULTILINE,
)
_WORK = re.compile(r"^(?:Enumerated nodes|Total iterations): +(\d+)", re.MULTILINE)
_RESULT = re.compile(r"^Result - (.*)$", re.MULTILINE)
_VALUE = re.compile(r"^Objective value: +(\S+)", re.MULTILINE)
_ANSWERS = (
    (re.compile("infeasible", re.IGNORECASE), "infeasible"),
    (re.compile("unbounded", re.IGNORECASE), "unbounded"),
    (re.compile("stopped on time", re.IGNORECASE), "timeout"),
)


def options(program):
    """Yield the options that have a value."""
    listed = _listed(_asked(program, "?\n"))
    answers = _asked(program, "".join(f"{name}??\n" for name, _ in listed)).split("Coin:")[1:]
    for (name, kind), text in zip(listed, answers, strict=False):
        yield _option(name, kind, text)


def _asked(program, lines):
    done = subprocess.run(
        [program, "-"], input=f"{lines}quit\n", capture_output=True, text=True, check=False
    )
    return done.stdout


def _listed(text):
    """Names and kinds."""
    found, kind = [], None
    for line in text.splitlines():
        if match := _HEADING.search(line.strip()):
            kind = _KINDS[match[2].lower()]
        elif line.strip().endswith(":"):
            kind = None
        elif kind is not None:
            found += [(_plain(word), kind) for word in line.split()]
    return found


def _option(name, kind, text):
    about = text.partition(" : ")[2].partition("\n")[0].strip()
    found = {"name": name, "kind": "text", "default": "", "description": about}
    match = _VALUES.search(text)
    if match is None:
        return found
    now = match["now"]
    if kind == "choice":
        words = [_plain(word) for word in (match["words"] or "").split()]
        now = _plain(now)
        known = {"kind": "choice", "choices": words} if now in words else {}
        return {**found, "default": now, **known}
    read = int if kind == "integer" else float
    try:
        low, high = (_end(float(match[end])) for end in ("low", "high"))
        return {**found, "kind": kind, "default": read(now), "low": low, "high": high}
    except (TypeError, ValueError):
        return found


def _plain(word):
    """A name without the marks of what may be left out: `gomory(Cuts)` is gomoryCuts."""
    return re.sub("[()!?]", "", word)


def _end(value):
    return None if abs(value) >= _NO_END else value


def solve(path, words, seed, program):
    """Solve a model; `words` are options and values in turns."""
    pairs = zip(words[::2], words[1::2], strict=True)
    lines = [f"{name.removeprefix('-')} {value}" for name, value in pairs]
    lines = [f"randomSeed {seed}", f"randomCbcSeed {seed}", *lines, "solve", "quit", ""]
    call = [program, path, "-"]
    done = subprocess.run(call, input="\n".join(lines), capture_output=True, text=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    refused = _REFUSED.search(done.stdout)
    if refused or done.returncode:
        sys.exit(refused[0] if refused else f"{program} ended with {done.returncode}")
    return {
        "answer": _answer(done.stdout),
        "seconds": used.ru_utime + used.ru_stime,
        "work": sum(map(int, _WORK.findall(done.stdout))),
    }


def _answer(output):
    results, values = _RESULT.findall(output), _VALUE.findall(output)
    if results and results[-1].startswith("Optimal solution found") and values:
        return float(values[-1])
    for words, answer in _ANSWERS:
        if words.search(results[-1] if results else output):
            return answer
    return "unknown"
