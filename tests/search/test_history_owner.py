"""A history is written by its own methods only."""

import ast
from pathlib import Path

import paramhs
from paramhs.search.history import History

FIELDS = {"asked", "references", "racing", "noise_of", "races", "runs", "wrong"}
SOURCE = Path(paramhs.__file__).parent


def written(path):
    """Attributes named as a field of the history that a file assigns on another object."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets += [node.target] if isinstance(node, ast.AugAssign) else []
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr in FIELDS:
                owner = ast.unparse(target.value)
                if owner.endswith("history"):
                    yield f"{path.relative_to(SOURCE)}: {owner}.{target.attr}"


def test_no_module_assigns_to_a_field_of_a_history():
    assert [found for path in SOURCE.rglob("*.py") for found in written(path)] == []


def test_counts_of_a_history_are_read_only():
    for name in ("asked", "references", "racing", "noise_of"):
        assert getattr(History, name).fset is None
