import ast
import builtins
import importlib.metadata
import inspect
import json
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import paramhs
import paramhs.core
import paramhs.search

ROOT = Path(__file__).parents[2]


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
    assert not loaded_by("paramhs.cli") & {"numpy", "jinja2", "scipy", "altair", "dask"}


def test_the_demo_needs_no_extra():
    code = "import sys; sys.modules['numba'] = None; import paramhs.cli.demonstration"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_prints_nothing_and_warns_of_nothing():
    command = [sys.executable, "-W", "error", "-c", "import paramhs"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


PUBLIC = (paramhs, paramhs.core, paramhs.search)
NAMES = [(module, name) for module in PUBLIC for name in module.__all__]


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_all_lists_no_name_twice(module):
    assert sorted(module.__all__) == sorted(set(module.__all__))


def test_users_need_few_names_and_none_shadows_a_builtin():
    assert len(paramhs.__all__) <= 30
    assert not {*paramhs.__all__} & {*dir(builtins)} - {"__doc__"}


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_exported_name_has_a_docstring_of_its_own(module, name):
    thing = getattr(module, name)
    assert thing.__doc__, name
    assert not thing.__doc__.startswith(f"{name}("), "dataclass made it"


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_public_method_has_a_docstring(module, name):
    thing = getattr(module, name)
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for method, value in vars(thing).items():
            if inspect.isfunction(value) and not method.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{method}"


def test_every_module_has_a_docstring():
    # __main__ would run the command line, and the example's solver is a program of its own.
    programs = ("paramhs.__main__", "paramhs.cli.example.solver")
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
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert project["version"] == paramhs.__version__ == cited["version"]
    assert f"\n## {project['version']} ({cited['date-released']})\n" in changes


def test_errors_are_all_caught_by_the_common_one():
    for name in ("BadInput", "StoreError", "TargetError"):
        assert issubclass(getattr(paramhs, name), paramhs.ParamhsError)


STANDARD = {"_exit", "_field_defaults", "_replace", "_fields", "_asdict", "_make"}
"""Names with an underscore that Python documents."""


def private_members_of_others():
    """The files of ours that use a private name which no file of ours defines."""
    own, used = set(), {}
    source = Path(paramhs.__file__).parent
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    own.add(node.name)
                case ast.Name(ctx=ast.Store()):
                    own.add(node.id)
                case ast.Attribute(ctx=ast.Store()):
                    own.add(node.attr)
                case ast.Attribute(value=ast.Name("self" | "cls")):
                    pass
                case ast.Attribute() if node.attr.startswith("_") and node.attr[:2] != "__":
                    used.setdefault(path.relative_to(source).as_posix(), set()).add(node.attr)
    foreign = {path: names - own - STANDARD for path, names in used.items()}
    return {path: names for path, names in foreign.items() if names}


def test_private_members_of_rich_and_dask_are_used_in_one_file_each():
    assert private_members_of_others() == {
        "api/terminal/text_layout.py": {"_environ"},
        "execution/cluster/cluster.py": {"_close", "_event_handlers", "_start_arg"},
    }


def test_rich_has_the_private_member_that_is_used():
    from rich.console import Console

    version = importlib.metadata.version("rich")
    assert "COLUMNS" in Console(_environ={"COLUMNS": "9"})._environ, (
        f"rich {version} has no Console._environ, which api/terminal/text_layout.py uses"
    )
