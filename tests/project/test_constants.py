"""Names of numeric constants: a noun with a unit (`MAX_ROWS`, `POLL_SECONDS`), not an adjective."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for folder in ("src", "paper/src", "benchmarks", "examples", "tools")
    for path in ROOT.joinpath(folder).rglob("*.py")
)

ADJECTIVES = re.compile(
    "ALIKE|ALWAYS|ANYWHERE|BEYOND|CLOSE|COMMON|CONVERGED|DENSE|DRAWN|EACH|ENOUGH|EXACT|FAR|FAST|FEW"
    "|HEAVY|HIGH|HUGE|IDLE|KEPT|LARGE|LAST|LIKELY|LINEAR|LONG|LOW|MANY|MORE|NEAR|NEXT|NORMAL|OFTEN"
    "|OTHER|RARE|RECENT|SAID|SAME|SHORT|SHOWN|SIGNIFICANT|SINGLE|SLOW|SMALL|SPARE|STEADY|SURE|TINY"
    "|UNANIMOUS|UNSEEN|USUAL|WIDE|WON|FIRST|LEAST|MOST|.*(ABLE|ED|EST|ING|LY)"
)
NOUNS = {"DOUBLING", "OFFSPRING", "SEED"}


def constants(source):
    """Yield the numeric constants of a module with their lines."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from assigned(target, statement.value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield from assigned(statement.target, statement.value)


def assigned(target, value):
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, number in zip(target.elts, value.elts, strict=True):
            yield from assigned(one, number)
    elif isinstance(target, ast.Name) and target.id.isupper() and is_number(value):
        yield target.lineno, target.id


def is_number(node):
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_adjective(name):
    word = name.rpartition("_")[2]
    return word not in NOUNS and ADJECTIVES.fullmatch(word) is not None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_numeric_constants_are_named_by_nouns(path):
    found = constants(path.read_text(encoding="utf-8"))
    assert [f"{line}: {name}" for line, name in found if is_adjective(name)] == []


def test_adjectives_are_found():
    source = "_FARTHEST = 1_000\nMAX_ROWS = 3\n_FEW, _LEVELS = 2, -65\nTIED = 2**-3\nNAME_LONG = ''"
    found = [name for _, name in constants(source) if is_adjective(name)]
    assert found == ["_FARTHEST", "_FEW", "TIED"]
