"""What people see, wherever they look: narrow terminals, plain encodings, notebooks."""

import io
import re
import sys
from html.parser import HTMLParser
from types import ModuleType, SimpleNamespace

import pytest
from rich.console import Console

import paramhs
from paramhs import Categorical, Integer, Space, Watcher, tune
from paramhs.analysis.verdict import NoVerdict
from paramhs.api.terminal import environment as surroundings
from paramhs.api.terminal.live_view import LiveView, NotebookView, PlainView
from paramhs.api.terminal.safe_console import Terminal, encodable
from paramhs.api.terminal.text_layout import beside_default, brief, tell, tell_table
from paramhs.cli.console import print_json, say, write_text
from paramhs.cli.render_result import print_command, print_result
from paramhs.cli.render_verdict import print_outcome

NAMES = {f"a_rather_long_parameter_name_{k}": range(20) for k in range(3)}
EVIL = "<script>alert('x')</script>&"


def noisy(config, instance, seed):
    return sum((value - 15) ** 2 for value in config.values()) + seed % 7 + 1


@pytest.fixture(scope="module")
def result():
    tests = {f"t{k}": k for k in range(4)}
    return tune(noisy, NAMES, instances={"i": 1, "j": 2}, test_instances=tests, budget=150)


def paper(width, encoding="utf-8", **options):
    file = io.TextIOWrapper(io.BytesIO(), encoding, newline="\n")
    return Console(file=file, width=width, force_terminal=True, color_system=None, **options)


def written(console):
    console.file.flush()
    return console.file.buffer.getvalue().decode(console.file.encoding)


@pytest.mark.parametrize("width", [60, 72, 80, 100])
def test_reports_break_between_words_only(result, width):
    console, wide = paper(width), paper(2_000)
    for to in (console, wide):
        print_result(to, result)
        print_outcome(to, result.verdict)
    lines = written(console).splitlines()
    assert max(map(len, lines)) <= width
    assert set(written(console).split()) == set(written(wide).split())


def test_a_file_is_not_wrapped_unless_columns_are_said(monkeypatch):
    text = "word " * 50
    for columns, lines in ((None, 1), ("60", 5)):
        environ = {} if columns is None else {"COLUMNS": columns}
        console = Console(file=io.StringIO(), _environ=environ)
        tell(console, text.strip())
        assert len(console.file.getvalue().splitlines()) == lines


def test_a_word_that_is_too_long_stays_whole():
    console = paper(60)
    tell_table(console, ("n", "what"), [("1", "x" * 90), ("2", "a b")])
    assert "x" * 90 in written(console)


def test_an_incumbent_is_its_difference_from_the_default_and_says_so(result):
    space = result.best.space
    one = space.config({"a_rather_long_parameter_name_0": 3})
    assert brief(space.default) == beside_default(space.default) == "the default"
    assert brief(one) == "a_rather_long_parameter_name_0=3"
    assert beside_default(one) == "a_rather_long_parameter_name_0=3 (else the default)"
    assert beside_default(space.config(dict.fromkeys(NAMES, 3))) == brief(
        space.config(dict.fromkeys(NAMES, 3))
    )
    console = paper(100)
    print_result(console, result)
    assert "as changes of the default" in " ".join(written(console).split())


def test_of_many_changes_the_most_important_are_shown_and_the_rest_is_counted():
    space = Space({f"p{number:03}": Integer(0, 3, default=0) for number in range(722)})
    config = space.config(dict.fromkeys(list(space.parameters)[:300], 3))
    assert brief(config) == "p000=3 p001=3 p002=3 p003=3 ... (296 more)"
    assert brief(config, ["p700", "p250", "p007"], most=6) == "p250=3 p007=3 p000=3 ... (297 more)"


def test_a_very_long_command_is_not_printed_but_how_to_print_it_is():
    console = paper(100)
    print_command(console, "solve " + "--option=3 " * 700, "command of the best", "a.sqlite")
    text = " ".join(written(console).split())
    assert text.startswith("command of the best, 7,706 characters: ")
    assert text.endswith("show a.sqlite --best")
    print_command(console, "solve --option=3", "command", "a.sqlite")
    assert written(console).endswith("command:\nsolve --option=3\n")


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
    def test_what_an_encoding_lacks_is_written_in_other_characters(self, encoding):
        file = SimpleNamespace(encoding=encoding)
        shown = encodable("5 ± 1 → ü 漢 …", file)
        shown.encode(encoding)
        assert shown.endswith("\\u6f22 ...")
        assert "->" in shown

    def test_unicode_stays(self):
        for encoding in ("utf-8", "UTF8", None):
            assert encodable("±漢", SimpleNamespace(encoding=encoding)) == "±漢"

    def test_a_live_view_and_a_report_are_ascii_where_they_must_be(self, monkeypatch, result):
        stream = io.TextIOWrapper(io.BytesIO(), "ascii")
        stream.isatty = lambda: True
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        space = {"ü": Categorical(["ä", "漢"])}
        for kind in (LiveView, PlainView):
            tune(
                lambda config, seed: config["ü"] == "ä",
                space,
                budget=20,
                watcher=kind(Terminal(stderr=True)),
            )
        print_result(Terminal(stderr=True), result)
        stream.flush()
        text = stream.buffer.getvalue().decode("ascii")
        assert "\\xfc" in text
        assert "+-" in text

    def test_lines_files_and_json_are_written_in_any_encoding(self, monkeypatch):
        stream = io.TextIOWrapper(io.BytesIO(), "ascii")
        monkeypatch.setattr(sys, "stdout", stream)
        say("5 ± 1")
        print_json({"ü": "漢"})
        write_text("ü\n")
        stream.flush()
        message = stream.buffer.getvalue()
        assert message.startswith(b"5 +- 1\n")
        assert b'"\\u00fc": "\\u6f22"' in message
        assert message.endswith("ü\n".encode())


class TestProgress:
    def seen(self, monkeypatch, terminal, **options):
        """The kind of watcher that a driver has."""
        kinds = []

        class Noting(Watcher):
            def started(self, record, progress):
                kinds.append(type(self))

        stream = io.StringIO()
        stream.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        for view in (LiveView, PlainView, NotebookView):
            monkeypatch.setattr(view, "started", Noting.started)
            monkeypatch.setattr(view, "ended", Noting.ended)
        monkeypatch.setattr(Watcher, "started", Noting.started)
        tune(lambda config: config["x"], {"x": range(4)}, budget=4, **options)
        return kinds[0]

    def test_it_is_shown_in_a_terminal_and_not_elsewhere(self, monkeypatch):
        assert self.seen(monkeypatch, terminal=True) is LiveView
        assert self.seen(monkeypatch, terminal=False) is Watcher

    def test_it_can_be_asked_for_and_done_without(self, monkeypatch):
        assert self.seen(monkeypatch, terminal=True, progress=False) is Watcher
        assert self.seen(monkeypatch, terminal=False, progress=True) is PlainView

    def test_a_watcher_of_ones_own_takes_its_place(self, monkeypatch):
        class Mine(Watcher):
            pass

        assert self.seen(monkeypatch, terminal=True, watcher=Mine()) is Mine

    def test_both_watchers_are_called(self, monkeypatch):
        class Mine(Watcher):
            def __init__(self):
                self.points, self.runs, self.ends = [], 0, []

            def ran(self, record, progress):
                self.runs += 1

            def improved(self, record, progress, point):
                self.points.append(point)

            def ended(self, record, progress):
                self.ends.append(progress.stopped)

        stream, mine = io.StringIO(), Mine()
        monkeypatch.setattr(sys, "stderr", stream)
        result = tune(
            lambda config: config["x"], {"x": range(9)}, budget=5, watcher=mine, progress=True
        )
        assert mine.points == list(result.trajectory)
        assert mine.runs == 5
        assert mine.ends == [result.stopped]
        assert stream.getvalue().count("incumbent") == len(mine.points)


class _Reader(HTMLParser):
    """Texts and tags of a page; every tag must be closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


class TestNotebooks:
    @pytest.fixture(scope="class")
    @classmethod
    def evil(cls):
        space = Space(
            {EVIL: Categorical([EVIL, "b"]), "x": (1, 5), "y": (1.0, 2.0)},
            conditions={"y": "x > 2"},
            forbidden=["x == 5 && y > 1.9"],
        )
        tests = {EVIL: 1, "t": 2}
        return tune(
            lambda config, instance, seed: config["x"] + seed % 5 + (config[EVIL] == EVIL),
            space, instances=["i"], test_instances=tests, budget=60,
        )  # fmt: skip

    def test_all_that_is_shown_is_text(self, evil):
        kept = NoVerdict("none", EVIL)
        for thing in (evil, evil.verdict, evil.best, evil.best.space, kept):
            page = _Reader(thing._repr_html_())
            assert page.tags <= {"div", "p", "table", "thead", "tbody", "tr", "th", "td"}
        assert any(EVIL in text for text in _Reader(evil._repr_html_()).texts)

    def test_space_and_configuration_are_tables(self, evil):
        text = " ".join(_Reader(evil.best.space._repr_html_()).texts)
        assert "1 to 5 (5 values)" in text
        assert "x > 2" in text
        assert "forbidden: " in text
        changed = _Reader(evil.best._repr_html_()).texts.count("changed")
        assert changed == sum(evil.default.get(n) != v for n, v in evil.best.items())

    def test_progress_is_drawn_in_place(self, monkeypatch):
        shown, updates = [], []

        class Handle:
            def update(self, page):
                updates.append(page)

        def display(page, display_id):
            assert display_id is True
            shown.append(page)
            return Handle()

        module, display_module = ModuleType("IPython"), ModuleType("IPython.display")
        module.get_ipython = lambda: SimpleNamespace(kernel=object())
        display_module.HTML, display_module.display = str, display
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", display_module)
        assert surroundings.in_notebook()
        tune(lambda config: config[EVIL], {EVIL: range(9)}, budget=5)
        assert len(shown) == 1
        last = _Reader(updates[-1])
        assert last.tags <= {"div", "p", "progress", "table", "tbody", "tr", "td"}
        assert "5 of 5 runs; the budget of 5 runs is spent" in " ".join(last.texts)
        assert re.search(r'value="1.0000"', updates[-1])

    def test_a_plain_interpreter_is_no_notebook(self, monkeypatch):
        module = ModuleType("IPython")
        module.get_ipython = lambda: None
        monkeypatch.setitem(sys.modules, "IPython", module)
        assert not surroundings.in_notebook()


def test_a_verdict_prints_as_a_text(result):
    text = str(result.verdict)
    assert text.startswith("verdict, on 4 held-out instances:\n")
    assert max(map(len, text.splitlines())) <= 80
    assert "On these 4 instances, best is better: " in text
    assert paramhs.Verdict is type(result.verdict)
