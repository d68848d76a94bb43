"""Plain technical English in docstrings, comments, messages, help texts and documentation."""

import ast
import io
import re
import tokenize
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "paper/src", "examples", "tools")
SOURCES = sorted(path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*.py"))
TESTS = [p for folder in ("tests", "paper/tests") for p in ROOT.joinpath(folder).rglob("*.py")]
TEMPLATES = sorted(ROOT.joinpath("src").rglob("*.html"))
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(page for folder in ("docs", "examples") for page in ROOT.joinpath(folder).rglob("*.md")),
    ]
)

MAX_COLUMNS = 120  # of a line of documentation
MIN_WORDS = 3  # of a docstring or a message

OPENING = re.compile(r"(Of|That|The same|Who|So many)\b")
HABIT = re.compile(
    r"\b(who|whom|whoever|somebody|nobody|so many|but for|be it|in vain|mend(?:s|ed|ing)?)\b",
    re.IGNORECASE,
)
ABOUT_PEOPLE = frozenset[str]()
"""Sentences about people, in which these words are right; whole lines as they stand."""


def docstrings(tree):
    """Yield the docstrings of modules, classes, functions and attributes, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and is_text(statement.value):
                    yield statement.lineno, dedent(statement.value.value).strip()


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def messages(tree):
    """Yield the texts that exceptions, warnings and options show to people, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and is_exception(node.exc):
            yield from map(text_of, node.exc.args[:1])
        elif isinstance(node, ast.Call):
            yield from (text_of(word.value) for word in node.keywords if word.arg == "help")
            if getattr(node.func, "attr", "") == "warn" and node.args:
                yield text_of(node.args[0])


def is_exception(node):
    """Whether an expression creates an exception, rather than calling a function for one."""
    name = getattr(getattr(node, "func", None), "id", "")
    return name[:1].isupper()


def text_of(node):
    """The text of an expression; the parts that vary are `{}`."""
    if is_text(node):
        return node.lineno, node.value
    if isinstance(node, ast.JoinedStr):
        return node.lineno, "".join(text_of(part)[1] for part in node.values)
    return node.lineno, "{}"


def comments(source):
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def faults_of_source(source):
    """What is wrong with the English of a Python source, one line for each fault."""
    tree = ast.parse(source)
    documented, shown = list(docstrings(tree)), list(messages(tree))
    for line, text in documented:
        if len(re.findall(r"\w+", text)) < MIN_WORDS:
            yield f"{line}: a docstring of fewer than {MIN_WORDS} words: {text!r}"
    for line, text in shown:
        # A single word is a key; "{}" may stand for a whole sentence.
        if " " in text and "{}" not in text and len(re.findall(r"\w+", text)) < MIN_WORDS:
            yield f"{line}: a message of fewer than {MIN_WORDS} words: {text!r}"
    for line, text in documented + shown:
        if OPENING.match(text):
            yield f"{line}: do not start with {OPENING.match(text)[0]!r}: {text[:60]!r}"
    strings = [(node.lineno, node.value) for node in ast.walk(tree) if is_text(node)]
    for line, text in [*strings, *comments(source)]:
        yield from faults_of_words(line, text)


def faults_of_words(line, text):
    """Words to avoid; a text without a space is a name or a key, not a sentence."""
    for number, words in enumerate(text.splitlines()):
        found = HABIT.search(words)
        if found and " " in words.strip() and words.strip() not in ABOUT_PEOPLE:
            yield f"{line + number}: avoid {found[0]!r}: {words.strip()!r}"


def faults_of_page(text):
    """Lines of documentation that are too long, outside of tables and code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        code = fenced or fence or line.startswith(("    ", "\t"))
        if len(line) > MAX_COLUMNS and not code and not line.lstrip().startswith("|"):
            yield f"{number}: {len(line)} columns, more than {MAX_COLUMNS}: {line[:60]!r}"


def names_in_braces(tree):
    """Yield constants of the module in braces that are printed as they stand: an f is missing."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id.isupper()}
    imported = {
        alias.name
        for node in ast.walk(tree)
        for alias in getattr(node, "names", ())
        if isinstance(alias, ast.alias)
    }
    for node in ast.walk(tree):
        if is_text(node):
            for name in re.findall(r"{([A-Z_]{2,})}", node.value):
                if name in names | imported:
                    yield f"{node.lineno}: {{{name}}} outside of an f-string: {node.value!r}"


def report(path, faults):
    assert not (found := list(faults)), "\n".join(
        f"{path.relative_to(ROOT)}:{fault}" for fault in found
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_source_is_written_in_plain_english(path):
    source = path.read_text(encoding="utf-8")
    report(path, [*faults_of_source(source), *names_in_braces(ast.parse(source))])


def test_names_of_tests_are_plain_english():
    for path in TESTS:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        names = [(node.lineno, node.name.replace("_", " ")) for node in functions]
        report(path, [fault for line, name in names for fault in faults_of_words(line, name)])


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_template_is_written_in_plain_english(path):
    report(path, faults_of_words(1, path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_lines_of_documentation_are_short(path):
    report(path, faults_of_page(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Of some."""\n',
        'def f():\n    """That a race is won by the better one."""\n',
        'class A:\n    """The same as in the other class."""\n',
        'x = 1\n"""So many runs are made."""\n',
        'def f():\n    """Two words."""\n',
        'def f():\n    """Return the configuration who is better."""\n',
        'raise ValueError("bad input")\n',
        'raise ValueError(f"Who wins {x} is unknown")\n',
        'raise ValueError("that is too large", f"nobody won {x}")\n',
        'warnings.warn("The same file is read twice")\n',
        'Option("--x", help="Of the runs, the first.")\n',
        "x = 1  # somebody may have changed it\n",
        'print(f"{x}: mended by nobody")\n',
    ],
)
def test_faults_are_found_in_source(source):
    assert list(faults_of_source(source))


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Return the better configuration."""\n',
        'raise ValueError(f"{name}: there is no such file")\n',
        'who = {"who": 1}\n',
        'raise ValueError(f"{reason}")\n',
        'raise KeyError("name")\n',
        "x = 1  # recommend and amend are other words\n",
    ],
)
def test_plain_sources_have_no_faults(source):
    assert not list(faults_of_source(source))


def test_long_lines_are_found_outside_tables_and_code():
    long = "word " * 30
    assert list(faults_of_page(f"a\n{long}\n")) == [
        f"2: {len(long)} columns, more than {MAX_COLUMNS}: {long[:60]!r}"
    ]
    assert not list(faults_of_page(f"| {long} |\n```\n{long}\n```\n    {long}\nshort\n"))


def test_names_in_braces_outside_of_f_strings_are_found():
    source = 'MOST = 3\nprint(f"at most {MOST} of" " {MOST}", "{INSTANCE}")\n'
    assert list(names_in_braces(ast.parse(source))) == [
        "2: {MOST} outside of an f-string: ' of {MOST}'"
    ]
