"""What is written: links that lead somewhere, pages that are listed, names that are documented."""

import re
import shlex
import tomllib
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from urllib.parse import unquote

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import paramhs
from paramhs import core, search
from paramhs.cli import app
from paramhs_paper.cli import app as paper_app

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.joinpath("docs").rglob("*.md"),
        *ROOT.joinpath("examples").glob("*.md"),
    ]
)
CURRENT = [page for page in PAGES if page.parent.name != "frozen"]  # that tells what was typed once
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(page):
    """A page without its code, in which brackets are no links and # begins no heading."""
    fenced = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"^(?: {4}|\t).*$", "", fenced, flags=re.M)


def links(page):
    return LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page)))


def anchors(page):
    """As GitHub and the site make them from headings."""
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(page))]
    return {heading.strip().replace(" ", "-") for heading in plain}


def problem(page, link):
    """What is wrong with a link, if anything; addresses elsewhere are not looked at."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = unquote(link).partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return f"{link}: there is no such file"
    if anchor and anchor not in anchors(file):
        return f"{link}: there is no such heading"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert [wrong for link in links(page) if (wrong := problem(page, link))] == []


def test_links_that_lead_nowhere_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One two\n[a](#one-two) [b](#three) [c](other.md) `[d](no)`\n\n    [e](no)\n")
    wrong = [problem(page, link) for link in links(page)]
    assert wrong == [None, "#three: there is no such heading", "other.md: there is no such file"]


def site():
    return tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def listed(nav):
    for entry in nav:
        for value in entry.values():
            yield from listed(value) if isinstance(value, list) else [value]


def test_every_page_is_on_the_site_once():
    pages = sorted(str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md"))
    assert sorted(listed(site()["nav"])) == pages


def test_pages_on_the_site_link_to_nothing_outside_it():
    """Addresses are allowed: the site has to stand alone."""
    docs = ROOT / "docs"
    for page in docs.rglob("*.md"):
        for link in links(page):
            if not re.match(r"[a-z]+:", link):
                assert (page.parent / link).resolve().is_relative_to(docs), f"{page}: {link}"


def test_every_exported_name_is_on_the_page_of_the_api():
    text = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    shown = re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)
    public = [f"{m.__name__}.{name}" for m in (paramhs, core, search) for name in m.__all__]
    assert {*public} - {*shown} == {"paramhs.__version__"}
    assert len(shown) == len(set(shown))
    assert all(resolve_name(name) for name in shown)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_with_their_modules_exist(page):
    named = set(re.findall(r"\bparamhs(?:\.\w+|:\w+)+", page.read_text(encoding="utf-8")))
    for name in sorted(named - {"paramhs.html", "paramhs.sqlite"}):
        resolve_name(name.replace(":", "."))


def calls(page):
    """The calls of our commands in code, as words, without their comments."""
    text = page.read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"^```.*?^```|^ {4}.*?$", text, re.MULTILINE | re.DOTALL))
    lines = re.findall(r"^ *(paramhs(?:-paper)? [a-z].*)$", blocks, re.MULTILINE)
    inline = re.findall(r"`(paramhs(?:-paper)? [a-z][^`\n]*)`", text)
    return [shlex.split(call, comments=True) for call in [*lines, *inline]]


def unknown(words):
    """The first word of a call that no command or option of ours has."""
    command = get_command({"paramhs": app, "paramhs-paper": paper_app}[words[0]])
    for word in words[1:]:
        if isinstance(command, TyperGroup):
            if word not in command.commands:
                return word
            command = command.commands[word]
        elif word.startswith("--"):
            options = {"--help", *chain.from_iterable(option.opts for option in command.params)}
            if word.partition("=")[0] not in options:
                return word
    return None


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_exist(page):
    assert [(words, word) for words in calls(page) if (word := unknown(words))] == []


def test_commands_and_options_that_do_not_exist_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "`paramhs tune FILE --runs 3`, `paramhs tone`\n\n    paramhs tune --rums=3  # no\n"
    )
    assert [unknown(words) for words in calls(page)] == ["--rums=3", None, "tone"]


README = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/index.md"])
def test_lines_fit_into_120_columns(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120] == []


def test_the_first_screen_of_the_readme_has_the_two_commands():
    screen = "\n".join(README[:24])
    assert "\nmake demo " in screen
    assert "\nmake test " in screen
