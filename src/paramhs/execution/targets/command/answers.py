"""Answers of solvers, recognised in their output by the conventions of their communities.

| convention | status lines | answer |
|---|---|---|
| SAT and pseudo-Boolean competitions | `s SATISFIABLE`, `s OPTIMUM FOUND` with `o 12` | `sat`, 12 |
| minisat, clasp, clingo | `UNSATISFIABLE`, `OPTIMUM FOUND` with `Optimization : 12` | `unsat`, 12 |
| SMT-LIB (z3, cvc5) | `sat`, `unsat`, `unknown`, `timeout` | the same |
| MiniZinc | `----------`, `==========`, `=====UNSATISFIABLE=====` | `sat`, `optimal`, `unsat` |
| CBC | `Result - Optimal solution found` with `Objective value: 12` | 12 |
| GLPK | `INTEGER OPTIMAL SOLUTION FOUND` with `mip = 12` | 12 |
| HiGHS | `Model status : Optimal`, `Status Optimal` with the objective | 12 |
| SCIP | `SCIP Status : problem is solved [optimal solution found]` | 12 |
| CP-SAT | `status: OPTIMAL` with `objective: 12` | 12 |

The last status line counts, and a number only where the solver says that it is optimal. A SAT
solver that prints both `SATISFIABLE` and `UNSATISFIABLE` has answered nothing. Every pattern begins
at a line and takes linear time.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from paramhs.core.answers import NO_ANSWERS, Answer, normal
from paramhs.core.errors import BadInput

NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
_END = r"[^\S\n]*+$"
_MAX_CHARACTERS = 1_000  # characters of an answer that are kept


class Recogniser(Protocol):
    """Finds the answer in an output."""

    def find(self, output: str) -> Answer | None:
        """The answer; None if there is none."""


@dataclass(frozen=True)
class Conventions:
    """Recognises what solvers usually print."""

    def find(self, output: str) -> Answer | None:
        """Find the answer in the last status line."""
        last = _last(_STATUS.finditer(output))
        if last is None or last.lastgroup is None:
            return None
        if last.lastgroup in ("competition", "plain") and _contradicts_itself(output):
            return "unknown"
        return _READ[last.lastgroup](last, output)


@dataclass(frozen=True)
class AnswerPattern:
    """The last match of a regular expression: its group, or all of it, is the answer."""

    regex: str

    def __post_init__(self) -> None:
        groups = _compiled(self.regex).groups
        if groups > 1:
            raise BadInput(f"{self.regex!r} has {groups} groups; which of them is the answer?")

    def find(self, output: str) -> Answer | None:
        """Find the text of the group."""
        found = _compiled(self.regex).findall(output)
        return normal(found[-1][:_MAX_CHARACTERS]) if found else None


@dataclass(frozen=True)
class AnswerKey:
    """Value of a key (`a.b`: in an inner object) of the last line that is JSON."""

    key: str

    def find(self, output: str) -> Answer | None:
        """Find the text or number of the key."""
        for line in reversed(output.splitlines()):
            if line.lstrip().startswith("{") and line.rstrip().endswith("}"):
                try:
                    found: Any = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                return _keyed(found, self.key)
        return None


@dataclass(frozen=True)
class Solved:
    """Which runs count as solved: by exit codes, by answers, or by a regular expression.

    Left out, it is exit code 0, or the code that goes with a recognised answer in the conventions
    of SAT and ASP solvers (10, 20, 30).
    """

    codes: tuple[int, ...] | None = None
    answers: tuple[Answer, ...] = ()
    regex: str | None = None

    def __post_init__(self) -> None:
        if self.regex is not None:
            _compiled(self.regex)

    def describe(self) -> object:
        """Describe the rule in JSON types; None for the default."""
        if self.regex is not None:
            return {"regex": self.regex}
        if self.answers:
            return list(self.answers)
        return None if self.codes is None else list(self.codes)

    def matches(self, output: str, errors: str) -> bool:
        """Whether the regular expression, if there is one, is found."""
        pattern = None if self.regex is None else _compiled(self.regex)
        return pattern is None or bool(pattern.search(output) or pattern.search(errors))

    def accepts_code(self, code: int | None, answer: Answer | None) -> bool:
        """Whether a run with this exit code did not fail."""
        if self.codes is not None:
            return code in self.codes
        if self.answers and answer is not None:
            return code is not None and code >= 0
        return code == 0 or (answer is not None and _usual(code, answer))

    @property
    def codes_text(self) -> str:
        """The exit codes, for people."""
        return ", ".join(map(str, self.codes or (0,)))


def solved_from(value: object) -> Solved:
    """Build the rule from a list of exit codes or answers, or from `{"regex": ...}`."""
    if isinstance(value, Solved):
        return value
    if isinstance(value, Mapping):
        if set(value) != {"regex"} or not isinstance(value["regex"], str):
            raise BadInput('solved: expected exit codes, answers or {regex = "..."}')
        return Solved(regex=value["regex"])
    listed: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
    if listed and all(type(one) is int for one in listed):
        return Solved(codes=tuple(listed))
    if listed and all(isinstance(one, str) for one in listed):
        return Solved(answers=tuple(normal(one) for one in listed))
    raise BadInput('solved: expected exit codes, such as [0, 10], or answers, such as ["sat"]')


def recogniser_from(value: object) -> Recogniser:
    """Build the recogniser from `{"regex": ...}` or `{"json": ...}`; None for the conventions."""
    if value is None:
        return Conventions()
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, what),) = value.items()
        if kind == "regex" and isinstance(what, str):
            return AnswerPattern(what)
        if kind == "json" and isinstance(what, str):
            return AnswerKey(what)
    if not isinstance(value, Mapping | str) and callable(getattr(value, "find", None)):
        return value  # type: ignore[return-value]
    raise BadInput('answer: expected {regex = "..."} or {json = "..."}')


CODES = {10: "sat", 20: "unsat"}
"""Exit codes of SAT solvers."""


def _usual(code: int | None, answer: Answer) -> bool:
    """Whether SAT and ASP solvers end with this exit code after this answer."""
    if code == 30:  # clasp: a model, and the search space exhausted
        return answer not in NO_ANSWERS and answer != "unsat"
    return CODES.get(code or 0) == answer or (code == 10 and isinstance(answer, float))


def _compiled(regex: str) -> "re.Pattern[str]":
    try:
        return re.compile(regex, re.MULTILINE)
    except re.error as error:
        raise BadInput(f"{regex!r} is not a regular expression: {error}") from None


def _keyed(found: Any, key: str) -> Answer | None:
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, str):
        return normal(found[:_MAX_CHARACTERS])
    return float(found) if isinstance(found, int | float) and found == found else None


# The conventions. Each group of the pattern below is one, and has a function of the same name.

_PATTERNS = {
    "competition": r"s (?:SATISFIABLE|UNSATISFIABLE|UNKNOWN|OPTIMUM FOUND|OPTIMUM|UNSUPPORTED)",
    "plain": r"(?:SATISFIABLE|UNSATISFIABLE|(?:c )?UNKNOWN|OPTIMUM FOUND|INDETERMINATE)",
    "smt": r"(?:sat|unsat|unknown|timeout)",
    "minizinc": r"(?:-{10}|={10}|=====(?:UNSATISFIABLE|UNKNOWN|UNBOUNDED|UNSATorUNBOUNDED)=====)",
    "cbc": r"(?:Result - [^\n]++|Problem is (?:infeasible|unbounded)\b[^\n]*+"
    rf"|Optimal - objective value {NUMBER}|Optimal objective {NUMBER} - [^\n]*+)",
    "glpk": r"(?:INTEGER OPTIMAL SOLUTION FOUND[^\n]*+|OPTIMAL (?:LP )?SOLUTION FOUND[^\n]*+"
    r"|(?:PROBLEM|LP|LP RELAXATION) HAS (?:NO|UNBOUNDED) [A-Z ]*?SOLUTION"
    r"|(?:TIME|ITERATION|MEMORY) LIMIT EXCEEDED[^\n]*+|Integer optimization begins[^\n]*+"
    r"|RELATIVE MIP GAP TOLERANCE REACHED[^\n]*+)",
    "highs": r"(?:Model status +: [^\n]++|  Status {4,}+[^\n]++)",
    "scip": r"SCIP Status +: [^\n]++",
    "cpsat": r"status: (?:OPTIMAL|FEASIBLE|INFEASIBLE|UNKNOWN|MODEL_INVALID)",
}
_STATUS = re.compile(
    "^(?:" + "|".join(f"(?P<{name}>{text})" for name, text in _PATTERNS.items()) + ")" + _END,
    re.MULTILINE,
)


def _contradicts_itself(output: str) -> bool:
    """Whether a SAT solver printed two status lines that cannot both be true."""
    lines = (match[0].strip().removeprefix("s ") for match in _STATUS.finditer(output))
    return {"SATISFIABLE", "UNSATISFIABLE"} <= set(lines)


def _competition(found: "re.Match[str]", output: str) -> Answer:
    word = found["competition"][2:]
    if word.startswith("OPTIMUM"):
        value = _value(r"o", output)
        return "optimal" if value is None else value
    return "unknown" if word == "UNSUPPORTED" else normal(word)


def _plain(found: "re.Match[str]", output: str) -> Answer:
    if found["plain"] == "OPTIMUM FOUND":
        levels = re.findall(r"^Optimization ?: ([^\n]++)$", output, re.MULTILINE)
        return normal(levels[-1]) if levels else "optimal"
    return normal(found["plain"].removeprefix("c "))


def _smt(found: "re.Match[str]", output: str) -> Answer:
    """One answer, or several in order where the instance asks several times."""
    words = [match["smt"] for match in _STATUS.finditer(output) if match["smt"]]
    none = next((word for word in words if word in NO_ANSWERS), None)
    return none or " ".join(words)[:_MAX_CHARACTERS]


def _minizinc(found: "re.Match[str]", output: str) -> Answer:
    marks = {"-": "sat", "=": "optimal"}
    word = found["minizinc"].strip("-=").lower()
    if word == "unsatorunbounded":
        return "infeasible or unbounded"
    return normal(word) if word else marks[found["minizinc"][0]]


def _cbc(found: "re.Match[str]", output: str) -> Answer:
    text = found["cbc"]
    if text.startswith("Optimal"):
        return float(re.findall(NUMBER, text)[0])
    if "Optimal solution" in text:
        value = _value(r"Objective value:", output[found.start() :])
        return "optimal" if value is None else value
    return _outcome(text.lower())


def _glpk(found: "re.Match[str]", output: str) -> Answer:
    text = found["glpk"]
    if text.startswith("Integer"):  # the optimum before was that of the relaxation
        return "unknown"
    if "GAP" in text:
        return "sat"
    if "OPTIMAL" in text:
        name = r"[^\n]*?\bmip =|Objective value =" if "INTEGER" in text else r"[^\n]*?\bobj ="
        value = _value(name, output)
        return "optimal" if value is None else value
    if "NO DUAL FEASIBLE" in text:
        return "infeasible or unbounded"
    if "LIMIT" in text:
        return _outcome(text.lower())
    return "unbounded" if "UNBOUNDED" in text else "infeasible"


def _highs(found: "re.Match[str]", output: str) -> Answer:
    text = found["highs"].replace("Model status", "").replace("Status", "").strip(" :")
    if text == "Optimal":
        value = _value(r"(?:Objective value +:|  Primal bound)", output[found.start() :])
        return "optimal" if value is None else value
    return _outcome(text.lower())


def _scip(found: "re.Match[str]", output: str) -> Answer:
    text = found["scip"].partition("[")[2].rstrip("] ")
    if text == "optimal solution found":
        value = _value(r"Primal Bound +:", output[found.start() :])
        return "optimal" if value is None else value
    return _outcome(text)


def _cpsat(found: "re.Match[str]", output: str) -> Answer:
    word = found["cpsat"].partition(" ")[2]
    if word == "OPTIMAL":
        value = _value(r"objective:", output)
        return "optimal" if value is None else value
    return {"FEASIBLE": "sat", "INFEASIBLE": "infeasible"}.get(word, "unknown")


_READ: Mapping[str, Callable[["re.Match[str]", str], Answer]] = {
    "competition": _competition,
    "plain": _plain,
    "smt": _smt,
    "minizinc": _minizinc,
    "cbc": _cbc,
    "glpk": _glpk,
    "highs": _highs,
    "scip": _scip,
    "cpsat": _cpsat,
}


def _outcome(text: str) -> str:
    """Answer for a MIP solver's status other than optimal."""
    for word in ("infeasible or unbounded", "infeasible", "unbounded"):
        if word in text:
            return word
    return "timeout" if "time limit" in text else "unknown"


def _last(found: Iterator["re.Match[str]"]) -> "re.Match[str] | None":
    last = deque(found, maxlen=1)
    return last[0] if last else None


def _value(name: str, output: str) -> float | None:
    """The last number after this name at the beginning of a line."""
    last = _last(re.finditer(rf"^(?:{name})[^\S\n]++({NUMBER})", output, re.MULTILINE))
    return None if last is None else float(last[1])
