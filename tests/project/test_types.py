"""Type checkers on a user's script: nothing to complain about but typos."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "support/typed"
_PYRIGHT = ["--level", "error", "--pythonpath", sys.executable]
CHECKERS = {
    "mypy": ["mypy", "--strict"],
    "pyright": ["pyright", *_PYRIGHT],
    "basedpyright": ["basedpyright", *_PYRIGHT],  # comes with all it needs
}


def found_in(checker, name):
    """Lines of a script about which a type checker complains."""
    pytest.importorskip(checker)
    command = [sys.executable, "-m", *CHECKERS[checker], str(FOLDER / name)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER).stdout
    return sorted({int(n) for n in re.findall(r"\.py:(\d+)[:\d -]+error", told)}), told


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_script_is_typed(checker):
    lines, told = found_in(checker, "script.py")
    assert lines == [], told


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_typos_are_found(checker):
    lines, told = found_in(checker, "typos.py")
    assert lines == [5, 6, 7, 8], told
