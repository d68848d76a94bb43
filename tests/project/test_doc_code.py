"""Python code of the pages that is not written as a session: it runs, after what it assumes."""

import re
import shutil
import stat
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SMALL_SEARCH = """
import paramhs

def cost(config, instance):
    return 1 + abs(config["rate"] - 0.2) * config["depth"] + instance / 10

space = {"rate": (0.0, 1.0), "depth": range(1, 5), "kind": ["a", "b"]}
files = range(20)
"""

SOLVER = """#!/usr/bin/env python3
import sys
effort = 2 if "--restarts=luby" in sys.argv else 4
sum(i * i for i in range(effort * 20_000))
print("s SATISFIABLE")
"""


def small_search(folder):
    """Names that a page about results has defined before, and its store."""
    names = {}
    exec(SMALL_SEARCH, names)
    names |= {"f": lambda config: config["rate"], "solver": names["cost"]}
    names |= {"default": {}, "candidate": {"rate": 0.2}}
    return names


def search_in_store(folder):
    names = small_search(folder)
    paramhs, cost = names["paramhs"], names["cost"]
    paramhs.tune(cost, names["space"], instances=range(12), budget=60, store="runs.sqlite")
    return names


def solver_in_a_build(folder):
    program = folder / "build" / "solver"
    program.parent.mkdir()
    program.write_text(SOLVER)
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    folder.joinpath("solver.pcs").write_text(
        "restarts {none, luby} [none]\ndecay [0.5, 0.99] [0.95]\n"
    )
    folder.joinpath("benchmarks").mkdir()
    for k in range(6):
        folder.joinpath("benchmarks", f"{k}.cnf").write_text(f"p cnf 1 1\n{k % 2 * 2 - 1} 0\n")
    return {}


def formulas(folder):
    if shutil.which("minisat") is None:
        pytest.skip("minisat is not installed")
    from typer.testing import CliRunner

    from paramhs.cli import app

    arguments = "instances random-ksat --variables 60 --ratio 4.2 --count 10 --out instances"
    assert CliRunner().invoke(app, arguments.split()).exit_code == 0
    return {}


PAGES = {
    "how-to/continuous-integration.md": (solver_in_a_build, {}),
    "how-to/families.md": (small_search, {}),
    "how-to/notebooks.md": (
        small_search,
        {
            "budget=1000": "budget=200",
            'result.plot.survival().save("survival.svg")': "pass",
        },
    ),
    "how-to/optuna.md": (small_search, {"budget=200": "budget=50", "n_trials=100": "n_trials=20"}),
    "how-to/scikit-learn.md": (small_search, {"n_iter=20": "n_iter=2", "cv=5": "cv=2"}),
    "how-to/solvers.md": (formulas, {"budget=300": "budget=40"}),
    "explanation/verdict.md": (small_search, {'cost="runtime", cutoff=60': 'cost="minimise"'}),
    "reference/data.md": (search_in_store, {"budget=1000": "budget=20"}),
}
"""Pages with what their code assumes, and what is made smaller here."""

OPTIONAL = {"lightgbm"}  # packages of pages that the tests do not need


def blocks(page):
    return [
        block for block in BLOCK.findall(page.read_text(encoding="utf-8")) if ">>>" not in block
    ]


@pytest.mark.parametrize("name", PAGES)
def test_code_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare, smaller = PAGES[name]
    names = {"__name__": "__main__", **prepare(tmp_path)}
    found = blocks(DOCS / name)
    assert found
    for block in found:
        for old, new in smaller.items():
            block = block.replace(old, new)
        try:
            exec(compile(block, name, "exec"), names)
        except SystemExit as ended:
            assert not ended.code  # noqa: PT017
        except ModuleNotFoundError as error:
            assert error.name in OPTIONAL  # noqa: PT017


@pytest.mark.parametrize("name", PAGES)
def test_what_is_made_smaller_is_on_the_page(name):
    text = "\n".join(blocks(DOCS / name))
    assert [old for old in PAGES[name][1] if old not in text] == []
