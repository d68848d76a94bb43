"""Identity by content: equal in all processes, different where the behaviour may be."""

import functools
import json
import math
import os
import subprocess
import sys
import threading
from types import FunctionType, ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.identity import identity_of
from paramhs.core.identity.walk import MAX_PARTS
from paramhs.execution.file_digests import content_of


def made(source, name="f"):
    """A thing defined by source text, in a module of its own that has no file."""
    names = {"__name__": "made", "np": np, "functools": functools}
    exec(source, names)
    return names[name]


def parts(source, name="f"):
    return dict(identity_of(made(source, name)).parts)


BASE = """
from math import sin
SCALE = 2
TABLE = {"a": 1}
def helper(x):
    return x + 1
class Model:
    rate = 3
    def predict(self, x):
        return self.rate * x
def decorated(g):
    @functools.wraps(g)
    def wrapper(*given):
        return g(*given)
    return wrapper
@decorated
def f(config, k=1):
    return helper(config["x"]) * SCALE + TABLE["a"] + Model().predict(k) + sin(k)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("* SCALE + TABLE", "* SCALE - TABLE"),
        ("SCALE = 2", "SCALE = 3"),
        ('TABLE = {"a": 1}', 'TABLE = {"a": 2}'),
        ("return x + 1", "return x + 2"),
        ("rate = 3", "rate = 4"),
        ("self.rate * x", "self.rate + x"),
        ("return g(*given)", "return 2 * g(*given)"),
        ("k=1", "k=2"),
        ("from math import sin", "from math import cos as sin"),
        ("@decorated\n", ""),
    ],
)
def test_any_change_of_what_a_function_uses_is_a_change(old, new):
    assert old in BASE
    assert parts(BASE) != parts(BASE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2", "SCALE = 2  # twice"),
        ("\nSCALE", "\n# A comment.\n\n\nSCALE"),
        ("SCALE = 2", "SCALE = 2\nUNUSED = 5"),
    ],
)
def test_comments_lines_and_what_is_not_used_are_no_change(old, new):
    assert parts(BASE) == parts(BASE.replace(old, new))


def test_another_docstring_is_no_change_unless_it_is_used():
    texts = [f'def f(c):\n    "{word}"\n    return 1' for word in ("one", "two")]
    assert parts(texts[0]) == parts(texts[1])
    uses = [
        text.replace("1", f'"{word}"') for text, word in zip(texts, ("one", "two"), strict=True)
    ]
    assert parts(uses[0]) != parts(uses[1])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f = lambda c: sin(c)", "f = lambda c: cos(c)"),
        ("f = lambda c: [x + 1 for x in c]", "f = lambda c: [x + 2 for x in c]"),
        ("f = [lambda c: 1, lambda c: 2][0]", "f = [lambda c: 1, lambda c: 2][1]"),
        ("f = lambda c: c in {'a', 'b'}", "f = lambda c: c in {'a', 'c'}"),
        ("f = lambda c: 1", "f = lambda c: 1.0"),
        ("f = lambda c: 1", "f = lambda c: True"),
        ("f = functools.partial(max, 1)", "f = functools.partial(max, 2)"),
        ("f = np.array([[1], 'a'], dtype=object)", "f = np.array([[2], 'a'], dtype=object)"),
    ],
)
def test_lambdas_and_others_without_source_differ(one, other):
    assert parts(one) == parts(one)
    assert parts(one) != parts(other)


def test_two_lambdas_of_one_line_differ():
    one, other = (lambda c: 1), (lambda c: 2)
    assert identity_of(one) != identity_of(other)


class Plain:
    def __init__(self, value):
        self.value = value

    def __call__(self, config):
        return self.value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __call__(self, config):
        return self.value


@pytest.mark.parametrize("kind", [Plain, Slotted])
def test_callable_objects_are_known_by_class_code_and_fields(kind):
    assert identity_of(kind(1)) == identity_of(kind(1))
    assert identity_of(kind(1)) != identity_of(kind(2))
    assert identity_of(kind(1).__call__) != identity_of(kind(2).__call__)
    assert any("__call__" in name for name in identity_of(kind(1)).parts)


def test_state_that_functions_change_themselves_is_no_part():
    source = "CALLS = []\nSEEN = {}\nCOUNT = 0\ndef f(c):\n    global COUNT\n    COUNT += 1\n"
    source += "    CALLS.append(c)\n    SEEN[c] = 1\n    return COUNT\n"
    function = made(source)
    before = identity_of(function)
    function("a")
    assert function.__globals__["CALLS"] == ["a"]
    assert identity_of(function) == before


def test_what_has_no_content_is_named():
    lock = threading.Lock()
    assert identity_of(lambda c: lock).unknown == ("the target (lock): a _thread:lock",)
    assert identity_of(lambda c: c).unknown == ()


def test_what_holds_itself_ends():
    loop = [1]
    loop.append(loop)
    assert identity_of(loop) == identity_of(loop)


def test_very_many_parts_end_with_a_word():
    functions = [FunctionType(test_what_holds_itself_ends.__code__, {"k": k}) for k in range(9)]
    assert len(identity_of(functions).parts) >= 9
    many = [FunctionType(Plain.__call__.__code__, {}) for _ in range(MAX_PARTS + 9)]
    assert "whatever comes after" in identity_of(many).unknown[0]


@pytest.mark.parametrize(
    "statement",
    ["import h", "from h import g", "import p.q", "from p import q", "import p.q as k, json"],
)
def test_modules_that_a_function_imports_when_it_runs_count(tmp_path, monkeypatch, statement):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").write_text("")
    (tmp_path / "p" / "q.py").write_text("import h\n")
    (tmp_path / "h.py").write_text("from deeper import K\ndef g(): return K\n")
    (tmp_path / "deeper.py").write_text("K = 1\n")
    source = f"def f(config):\n    {statement}\n    return 1\n"
    before = parts(source)
    assert parts(source) == before
    (tmp_path / "deeper.py").write_text("K = 2\n")
    changed = {name for name, text in parts(source).items() if before[name] != text}
    assert "imported module deeper" in changed
    assert not {"h", "p", "deeper"} & set(sys.modules)  # it looks, and runs nothing


def test_a_module_with_the_name_of_one_of_pythons_is_the_users(tmp_path, monkeypatch):
    """The folder of the program comes first on Python's path."""
    found = []
    for constant in (1, 2):
        path = tmp_path / "trace.py"
        path.write_text(f"def f(config): return {constant}\n")
        module = ModuleType("trace")
        module.__file__ = str(path)
        exec(path.read_text(), vars(module))
        monkeypatch.setitem(sys.modules, "trace", module)
        found.append(identity_of(module.f).parts)
    assert found[0] != found[1]


def test_packages_count_by_their_version(monkeypatch):
    from paramhs.core.identity import origin

    package = ModuleType("some_package")
    package.__version__, package.__file__ = "1.0", "/x/site-packages/some_package.py"
    monkeypatch.setitem(sys.modules, "some_package", package)
    function = FunctionType((lambda c: lib).__code__, {"lib": package})  # noqa: F821
    assert identity_of(function).parts["package some_package"] == "1.0"
    origin.installed_version.cache_clear()
    package.__version__ = "1.1"
    assert identity_of(function).parts["package some_package"] == "1.1"
    origin.installed_version.cache_clear()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)


def exact(value):
    """Equal only for what is equal in type and order, too."""
    if isinstance(value, dict):
        return ("dict", [(exact(k), exact(v)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return (type(value).__name__, [exact(v) for v in value])
    sign = math.copysign(1, value) if isinstance(value, float) else 0
    return (type(value).__name__, value, sign)


@given(VALUES, VALUES)
def test_values_have_equal_identities_if_and_only_if_they_are_equal(one, other):
    bound = [identity_of(functools.partial(max, value)) for value in (one, other)]
    assert (bound[0] == bound[1]) == (exact(one) == exact(other))


SCRIPT = """
import json, sys
from dataclasses import dataclass, field
import numpy as np
from paramhs.core.identity import identity_of

@dataclass
class Point:
    names: set = field(default_factory=lambda: {"a", "b", "c", "d"})
    def __call__(self, c):
        return [x for x in c if x in {"p", "q", "r"}]

class Plain:
    def __init__(self):
        self.where = {"x", "y", "z"}
        self.many = np.array([{"u", "v", "w"}, object], dtype=object)

NAMES = frozenset({"k", "l", "m"})
things = [Point(), Plain(), Point().__call__, lambda c: [y for y in c if y in NAMES], np.sin]
print(json.dumps([[dict(i.parts), i.unknown] for i in map(identity_of, things)]))
"""


def test_identities_are_the_same_in_every_process(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    found = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        words = [sys.executable, str(tmp_path / "script.py")]
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        found.add(ran.stdout)
    (only,) = found
    assert all(unknown == [] for _, unknown in json.loads(only))
    assert "0x" not in only


class TestContents:
    def test_a_file_is_known_by_its_content(self, tmp_path):
        path = tmp_path / "a"
        path.write_text("one")
        first = content_of(str(path))
        path.write_text("two")
        assert content_of(str(path), first).digest != first.digest

    def test_a_stamp_that_is_the_same_saves_reading(self, tmp_path):
        path = tmp_path / "a"
        path.write_text("one")
        os.utime(path, (1, 1))
        stamp = content_of(str(path)).stamp or (os.stat(path) and None)
        assert stamp is None  # it was changed a moment ago: it is read every time

    def test_a_modification_time_that_was_set_back_hides_nothing(self, tmp_path):
        path = tmp_path / "a"
        path.write_text("one")
        before = os.stat(path)
        first = content_of(str(path))
        path.write_text("two")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert content_of(str(path), first).digest != first.digest

    def test_pipes_and_missing_files_have_none(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        assert content_of(str(tmp_path / "pipe")) is None
        assert content_of(str(tmp_path / "missing")) is None
        assert content_of("/proc/self/fd/0") is None

    def test_a_folder_is_known_by_its_files(self, tmp_path):
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "a").write_text("one")
        first = content_of(str(tmp_path / "d")).digest
        (tmp_path / "d" / "a").rename(tmp_path / "d" / "b")
        second = content_of(str(tmp_path / "d")).digest
        (tmp_path / "d" / "b").write_text("two")
        assert len({first, second, content_of(str(tmp_path / "d")).digest}) == 3
