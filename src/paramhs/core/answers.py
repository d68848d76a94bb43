"""Answers of runs: what a solver reported about its instance, and how two answers compare.

An answer is a text or a number. Texts are normalised to one vocabulary where the wording of a
solver is recognised:

| answer | meaning |
|---|---|
| `sat` | there is a solution |
| `unsat`, `infeasible` | there is none |
| `unbounded` | the objective has no bound |
| `infeasible or unbounded` | one of the two |
| `optimal` | the best solution was found; its value was not printed |
| a number | the value of the best solution |
| `unknown`, `timeout` | the solver ended without an answer |
"""

import math
from typing import Literal

Answer = str | float
"""An answer is a text or a number."""

NO_ANSWERS = frozenset({"unknown", "timeout"})
"""Answers that carry no information about the instance."""

TOLERANCE = 1e-4
"""Largest difference between two equal numbers, relative to the larger one (at least 1).

MIP solvers stop at a relative gap of 1e-4 by default.
"""

Agreement = Literal["same", "weaker", "contradiction"]

_WORDS = {
    "satisfiable": "sat",
    "unsatisfiable": "unsat",
    "optimum": "optimal",
    "optimum found": "optimal",
    "indeterminate": "unknown",
    "time limit": "timeout",
}
_LESS_THAN = {
    "sat": ("optimal",),
    "infeasible or unbounded": ("infeasible", "unbounded", "unsat"),
}
_ALIKE = frozenset({"unsat", "infeasible"})


def normal(answer: Answer) -> Answer:
    """Return the answer in the common vocabulary: `SATISFIABLE` is `sat`, `12.50` is 12.5."""
    if not isinstance(answer, str):
        return float(answer)
    text = " ".join(answer.split())
    try:
        number = float(text)
    except ValueError:
        lower = text.lower()
        known = lower in _VOCABULARY
        return _WORDS.get(lower, lower if known else text)
    return number if math.isfinite(number) else text


_VOCABULARY = frozenset(
    {"sat", "unsat", "optimal", "infeasible", "unbounded", "infeasible or unbounded", *NO_ANSWERS}
)


def is_answer(answer: Answer | None) -> bool:
    """Whether the solver answered, rather than reporting `unknown` or nothing at all."""
    return answer is not None and answer not in NO_ANSWERS


def agreement(answer: Answer, reference: Answer, tolerance: float = TOLERANCE) -> Agreement:
    """Compare an answer with the reference answer.

    "weaker" is an answer that says less and contradicts nothing: `sat` where an optimum was
    expected. An answer that says more than the reference is "same".
    """
    if isinstance(answer, str) and isinstance(reference, str):
        if answer == reference or {answer, reference} <= _ALIKE:
            return "same"
        if reference in _LESS_THAN.get(answer, ()):
            return "weaker"
        return "same" if answer in _LESS_THAN.get(reference, ()) else "contradiction"
    if isinstance(answer, str):
        return "weaker" if answer in ("sat", "optimal") else "contradiction"
    if isinstance(reference, str):
        return "same" if reference in ("sat", "optimal") else "contradiction"
    scale = max(1.0, abs(answer), abs(reference))
    return "same" if abs(answer - reference) <= tolerance * scale else "contradiction"


def shown(answer: Answer) -> str:
    """Format the answer for display."""
    return answer if isinstance(answer, str) else f"{answer:.12g}"
