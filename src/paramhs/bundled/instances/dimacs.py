"""Formulas in DIMACS files, plain or compressed: CNF, and weighted (WCNF), old style and new.

Source of the formats: "Satisfiability: Suggested Format" (DIMACS Challenge, 1993); the rules of the
MaxSAT Evaluations up to 2021 (`p wcnf`) and from 2022 on (no header, `h` for hard clauses).
"""

import bz2
import gzip
import lzma
import math
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.core.text.quoting import shortened

_COMPRESSIONS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ\0": lzma.decompress,
    b"BZh": bz2.decompress,
}
_MAX_VARIABLES = 20_000_000
_HEADERS = "'p cnf VARIABLES CLAUSES' or 'p wcnf VARIABLES CLAUSES [TOP]'"


@dataclass(frozen=True, slots=True)
class Formula:
    """Conjunction of clauses over the variables 1 .. `variables`; literal -3 is "not 3".

    Clauses are as in the file and in its order, without literals repeated within a clause. So a
    clause may be empty (never true), and may contain both 3 and -3 (always true); a clause may
    occur twice. `weights` has one number per clause, or is None; hard clauses are those that weigh
    `top` or more.
    """

    variables: int
    clauses: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...] | None = None
    top: float | None = None


def read_formula(path: Path) -> Formula:
    """Read a formula; compression (gzip, xz, bzip2) is recognised from the first bytes."""
    try:
        content = _uncompressed(path.read_bytes())
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{path} cannot be read: {reason}") from None
    return parse_formula(content, str(path))


def _uncompressed(content: bytes) -> bytes:
    for magic, decompress in _COMPRESSIONS.items():
        if content.startswith(magic):
            return decompress(content)
    return content


def parse_formula(content: bytes, name: str) -> Formula:
    """Parse the content of a formula file with this name.

    A line that starts with `c` is a comment, wherever it is; one that starts with `%` ends the
    formula, as in SATLIB's files. Clauses may span several lines, and a line may contain several. A
    file without a header is accepted if it is weighted: its first clause starts with `h`, or its
    name contains `.wcnf`. Then a hard clause weighs one more than all soft ones together.
    """
    reader = _Reader(name)
    for line, text in enumerate(content.splitlines(), start=1):
        words = text.split()
        if not words or words[0].startswith(b"c"):
            continue
        if words[0].startswith(b"%"):
            break
        reader.line = line
        reader.take(words)
    return reader.formula()


class _Reader:
    """Parser state for one file."""

    def __init__(self, name: str):
        self.name = name
        self.line = 1
        self.header_line = 0  # 0: none yet; -1: the file has none
        self.variables = 0
        self.expected = 0  # clauses that the header promises
        self.weighted = False
        self.top: float | None = None
        self.clauses: list[tuple[int, ...]] = []
        self.weights: list[float] = []
        self.begun: list[int] = []  # literals of the clause that has not ended yet
        self.begun_line = 0  # 0: there is none

    def take(self, words: list[bytes]) -> None:
        if words[0] == b"p":
            self._header([_text(word) for word in words[1:]])
            return
        if not self.header_line:
            self._no_header(words[0])
        for word in words:
            if not self.begun_line:
                self._begin()
                if self.weighted:
                    self.weights.append(self._weight(word))
                    continue
            self._literal(word)

    def _header(self, words: list[str]) -> None:
        if self.header_line:
            raise self._bad(f"a second header; the first is in line {self.header_line}")
        kind, *numbers = words or [""]
        self.weighted = kind == "wcnf"
        wanted = (2, 3) if self.weighted else (2,)
        if kind not in ("cnf", "wcnf") or len(numbers) not in wanted:
            found = " ".join(["p", *words])[:100]
            raise self._bad(f"the header is {found!r}, expected {_HEADERS}")
        if not all(number.isdecimal() and len(number) < 40 for number in numbers):
            raise self._bad(f"the header has {' '.join(numbers)!r}, expected whole numbers")
        self.header_line = self.line
        self.variables, self.expected = int(numbers[0]), int(numbers[1])
        if self.variables > _MAX_VARIABLES:
            raise self._bad(f"{self.variables:,} variables are more than {_MAX_VARIABLES:,}")
        self.top = float(numbers[2]) if len(numbers) == 3 else None

    def _no_header(self, word: bytes) -> None:
        if word != b"h" and ".wcnf" not in Path(self.name).suffixes:
            raise self._bad(f"{_text(word)!r} before the header, expected {_HEADERS}")
        self.header_line, self.weighted = -1, True
        self.variables, self.expected = _MAX_VARIABLES, sys.maxsize

    def _begin(self) -> None:
        if len(self.clauses) == self.expected:
            raise self._bad(
                f"more clauses than the {self.expected:,} of the header (line {self.header_line})"
            )
        self.begun, self.begun_line = [], self.line

    def _weight(self, word: bytes) -> float:
        if word == b"h" and self.header_line == -1:
            return math.inf
        try:
            weight = float(word.replace(b"_", b"?"))
        except ValueError:
            weight = math.nan
        if not 0 < weight < math.inf:
            raise self._bad(f"{_text(word)!r} is not a weight, expected a number above 0")
        return weight

    def _literal(self, word: bytes) -> None:
        try:
            literal = int(word.replace(b"_", b"?"))  # Python would read 1_000
        except ValueError:
            raise self._bad(f"{_text(word)!r} is not a literal, expected a whole number") from None
        if literal == 0:
            self.clauses.append(tuple(dict.fromkeys(self.begun)))
            self.begun_line = 0
        elif -self.variables <= literal <= self.variables:
            self.begun.append(literal)
        else:
            why = f"the header (line {self.header_line}) promises {self.variables:,} variables"
            if self.header_line == -1:
                why = f"there may be at most {self.variables:,} variables"
            raise self._bad(f"literal {literal} is out of range, {why}")

    def formula(self) -> Formula:
        if not self.header_line:
            raise BadInput(f"{self.name} has no header, expected {_HEADERS}")
        if self.begun_line:
            raise self._bad(f"the clause that begins in line {self.begun_line} does not end with 0")
        clauses = tuple(self.clauses)
        if self.header_line == -1:
            return self._headless(clauses)
        if len(clauses) < self.expected:
            raise self._bad(
                f"the file ends after {len(clauses):,} clauses, the header (line"
                f" {self.header_line}) promises {self.expected:,}"
            )
        weights = tuple(self.weights) if self.weighted else None
        return Formula(self.variables, clauses, weights, self.top)

    def _headless(self, clauses: tuple[tuple[int, ...], ...]) -> Formula:
        variables = max((abs(literal) for clause in clauses for literal in clause), default=0)
        top = 1 + sum(weight for weight in self.weights if weight < math.inf)
        return Formula(variables, clauses, tuple(min(w, top) for w in self.weights), top)

    def _bad(self, problem: str) -> BadInput:
        return BadInput(f"{self.name}:{self.line}: {shortened(problem)}")


def _text(word: bytes, most: int = 60) -> str:
    text = word[:most].decode("ascii", errors="replace")
    return text if len(word) <= most else f"{text}..."


def dimacs(formula: Formula, *comments: str) -> str:
    """Write a formula as DIMACS: comments, header, one clause per line."""
    lines = [f"c {comment}".rstrip() for comment in comments]
    sizes = f"{formula.variables} {len(formula.clauses)}"
    ended = [" ".join(map(str, (*clause, 0))) for clause in formula.clauses]
    if formula.weights is None:
        lines += [f"p cnf {sizes}", *ended]
    else:
        top = "" if formula.top is None else f" {_number(formula.top)}"
        lines.append(f"p wcnf {sizes}{top}")
        weights = map(_number, formula.weights)
        lines += [f"{weight} {clause}" for weight, clause in zip(weights, ended, strict=True)]
    return "\n".join(lines) + "\n"


def _number(weight: float) -> str:
    """Write a weight; whole numbers have no decimal point, as the format requires."""
    return str(int(weight)) if weight == int(weight) else repr(float(weight))
