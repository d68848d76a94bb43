import importlib.metadata
import inspect
import json
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import paramhs

ROOT = Path(__file__).parents[1]


def loaded_by(module):
    """What an import loads in a fresh process."""
    code = f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return set(json.loads(done.stdout))


@pytest.fixture(scope="module")
def loaded():
    return loaded_by("paramhs")


@pytest.mark.parametrize(
    "heavy", ["numpy", "pydantic", "typer", "rich", "sqlite3", "psutil", "multiprocessing"]
)
def test_import_loads_nothing_heavy(loaded, heavy):
    assert heavy not in loaded


def test_the_command_line_begins_without_what_few_commands_need():
    assert not loaded_by("paramhs.faces.cli") & {"numpy", "jinja2", "scipy", "altair", "dask"}


def test_import_prints_nothing_and_warns_of_nothing():
    command = [sys.executable, "-W", "error", "-c", "import paramhs"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_all_is_sorted_and_lists_no_name_twice():
    assert paramhs.__all__ == sorted(set(paramhs.__all__))


@pytest.mark.parametrize("name", paramhs.__all__)
def test_every_exported_name_has_a_docstring_of_its_own(name):
    thing = getattr(paramhs, name)
    assert thing.__doc__, name
    assert not thing.__doc__.startswith(f"{name}("), "dataclass made it"


@pytest.mark.parametrize("name", paramhs.__all__)
def test_every_public_method_has_a_docstring(name):
    thing = getattr(paramhs, name)
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for method, value in vars(thing).items():
            if inspect.isfunction(value) and not method.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{method}"


def test_every_module_has_a_docstring():
    # __main__ would run the command line, and the example's solver is a program of its own.
    programs = ("paramhs.__main__", "paramhs.faces.cli.example.solver")
    names = [
        module.name
        for module in pkgutil.walk_packages(paramhs.__path__, "paramhs.")
        if module.name not in programs
    ]
    assert len(names) > 30
    assert [n for n in names if not importlib.import_module(n).__doc__] == []


def test_types_are_shipped():
    assert Path(paramhs.__file__).with_name("py.typed").exists()


def test_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == paramhs.__version__ == importlib.metadata.version("paramhs")


def test_errors_are_all_caught_by_the_common_one():
    for name in ("BadInput", "StoreError", "TargetError"):
        assert issubclass(getattr(paramhs, name), paramhs.ParamhsError)
