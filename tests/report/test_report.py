"""The page of a search."""

import json
import math
import os
import time
from dataclasses import dataclass, replace
from random import Random
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import paramhs
from paramhs.analysis.capping_savings import saved
from paramhs.analysis.interactions import Interaction
from paramhs.analysis.verdict import NoVerdict
from paramhs.cli import app
from paramhs.core.costs import CostMetric, Quality, Runtime
from paramhs.core.errors import BadInput, StoreError
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.space import Space
from paramhs.execution.storage.lock import WriterLock
from paramhs.report import files as reporting
from paramhs.report.axes import fitting, linear, logarithmic, short
from paramhs.report.files import write_report
from paramhs.report.incumbent_curve import trail
from paramhs.report.landscape_map import Map
from paramhs.report.page import PageOptions, drawn_page
from paramhs.report.per_instance import cases
from paramhs.report.sections import found
from tests.support.command_line import scenario
from tests.support.pages import HEADINGS, HOSTILE, SPACE, Outline, html, made, plain

FINITE = st.floats(allow_nan=False, allow_infinity=False)


class TestScales:
    @given(st.lists(FINITE, min_size=1), FINITE, FINITE)
    def test_places_are_on_the_axis_and_in_order(self, numbers, a, b):
        scale = fitting(numbers)
        low, high = sorted((scale.at(min(a, b)), scale.at(max(a, b))))
        assert 0 <= low == scale.at(min(a, b)) <= high <= 1
        assert all(0 <= scale.at(x) <= 1 for x in numbers)

    @example([5e-324, 3e-323], 4)
    @given(st.lists(FINITE, min_size=1), st.integers(0, 8))
    def test_few_numbers_are_written_and_all_on_the_axis(self, numbers, most):
        scale = fitting(numbers)
        ticks = scale.ticks(most)
        assert len(ticks) <= 3 * most + 3
        assert all(scale.low <= x <= scale.high for x in ticks)

    @given(st.lists(st.floats(1e-300, 1e300), min_size=1))
    def test_logarithms_hold_what_they_are_made_of(self, numbers):
        scale = logarithmic(numbers)
        assert 0 < scale.low <= min(numbers) <= max(numbers) <= scale.high

    def test_of_one_number_it_is_the_middle(self):
        assert linear([3.0]).at(3.0) == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("number", "text"),
        [
            (0, "0"),
            (math.inf, "∞"),
            (12345, "12,345"),
            (0.000012, "1.2e-5"),
            (1.5, "1.5"),
            (3e8, "3e8"),
        ],
    )
    def test_numbers_are_written_short(self, number, text):
        assert short(number) == text


class TestPage:
    def test_parts_come_in_order_and_nothing_is_a_script(self):
        page = Outline(html(made()))
        assert page.headings == HEADINGS
        assert "script" not in page.elements
        assert not {name for name in page.attributes if name.startswith("on") or name == "src"}

    def test_the_verdict_comes_first_with_its_numbers(self):
        result = made()
        text = html(result)
        verdict = result.verdict
        assert text.index(verdict.recommendation) < text.index(">finished<")
        for number in (verdict.first.cost, verdict.second.cost):
            assert f"<bdi>{number:.4g}</bdi>" in text
        assert f"p = {verdict.p_value:.2g}" in text

    def test_means_side_by_side_are_over_the_same_runs(self):
        result = made()
        listed = cases(result.verdict.paired_runs, result.metric)
        assert sum(case.runs for case in listed) == len(result.verdict.paired_runs)
        for k, side in enumerate(("first", "second")):
            mean = math.fsum(case.runs * getattr(case, side).cost for case in listed) / 24
            assert mean == pytest.approx((result.verdict.first, result.verdict.second)[k].cost)

    def test_the_curve_ends_where_the_incumbent_is_now(self):
        result = made()
        last = trail(result)[-1]
        costs = result.history.costs(result.best)
        assert last.evidence == len(costs)
        assert last.runs == len(result.runs)
        assert last.mean == pytest.approx(math.fsum(c for (c,) in costs.values()) / len(costs))

    @pytest.mark.parametrize("name", HOSTILE)
    def test_hostile_names_are_only_shown(self, name):
        other = name + "2"
        space = Space({name: (0.0, 1.0), "k": (1, 9), other: [name, "b" + name]})

        def fails(config, pair, rng):
            if config[other] == name and rng.random() < 0.9:
                return Status.CRASHED, 0.1, None
            return plain(config, pair, rng)

        result = made(fails, space=space, instances=[name, other, "c"], target={"function": name})
        page = drawn_page(result, PageOptions(name=name))
        outline = Outline(page.html)
        assert not {"script", "img"} & set(outline.elements)
        assert "\u202e" not in page.html
        assert "\x1b" not in page.html
        assert "49" not in name
        for file, text in page.figure_files():
            assert os.sep not in file
            ElementTree.fromstring(text.encode())

    def test_long_names_may_be_broken_between_their_parts(self):
        text = html(made(space=Space({"interval_of_the_last_restarts_of_a_search": (0, 9)})))
        assert (
            "<bdi>interval_<wbr>of_<wbr>the_<wbr>last_<wbr>restarts_<wbr>of_<wbr>a_<wbr>search</bdi>"
            in text
        )
        assert 'class="word long"' not in text

    def test_a_large_search_is_a_small_page(self):
        """1,000 instances and 150 parameters."""
        space = Space({f"parameter-number-{i}": (0.0, 1.0) for i in range(150)})
        names = [f"instances/of-some-family-{i:04}.cnf" for i in range(1000)]
        result = made(space=space, instances=names, races=1, configs=25)
        assert len(html(result).encode()) < 200_000

    def test_of_one_parameter_and_no_instance(self):
        space = Space({"x": (0.0, 1.0)})
        page = Outline(html(made(space=space, instances="-", races=12)))
        assert page.headings == HEADINGS

    @pytest.mark.parametrize("more", [True, False])
    @pytest.mark.parametrize("cost", [0.0, -1.0, 1e100, math.inf, -1e-300])
    def test_any_costs_can_be_drawn(self, cost, more):
        def answer(config, pair, rng):
            return Status.OK, 0.0, rng.choice([cost, 0.0, 1.0, 5000.0])

        page = drawn_page(made(answer, metric=Quality(more)))
        Outline(page.html)
        assert "nan" not in page.html
        for _, text in page.figure_files():
            ElementTree.fromstring(text)

    def test_timeouts_and_unsolved_instances_are_marked(self):
        def answer(config, pair, rng):
            if pair.instance == "hard":
                return Status.TIMEOUT, 5.0, None
            late = rng.random() < 0.2
            return (Status.TIMEOUT, 5.0, None) if late else (Status.OK, rng.random(), None)

        text = html(made(answer, metric=Runtime(), cutoff=5.0, instances=["hard", *"abcdefgh"]))
        assert "reached the cutoff" in text
        assert "Runs finished within a time" in text
        assert "<li><bdi>hard</bdi></li>" in text

    def test_failures_come_with_the_way_out(self):
        def answer(config, pair, rng):
            if config["mode"] == "fast":
                return Status.CRASHED, 0.1, None
            return plain(config, pair, rng)

        text = html(made(answer, configs=40))
        assert "with mode == &#34;fast&#34; crashed, 0 of" in text
        assert "forbidden = [&#39;mode == &#34;fast&#34;&#39;]" in text

    def test_a_missing_verdict_is_reported_with_advice(self):
        result = made(
            judged=False,
            verdict=NoVerdict("none", "none was made."),
        )
        text = html(result, calls={"validate": "paramhs validate s.toml"})
        assert "No verdict: none was made." in text
        assert "paramhs validate s.toml" in text
        assert "in the search" in text

    def test_a_running_search_is_looked_at_again(self):
        text = html(made(judged=False, running=True), refresh=5)
        assert '<meta http-equiv="refresh" content="5">' in text
        assert "The search is running" in text

    def test_before_the_first_run_there_is_a_page(self):
        page = Outline(html(made(configs=0, instances="a", races=0, judged=False, trajectory=[])))
        assert page.headings == HEADINGS

    def test_the_default_as_the_best_is_kept(self):
        result = made()
        kept = NoVerdict("kept", "the search found nothing better; it tried 3 challengers.")
        text = html(made(trajectory=result.trajectory[:1], verdict=kept))
        assert text.count("Keep the default") == 2, "in the title and at the top, not in the advice"

    def test_dots_of_the_map_lie_at_their_values(self):
        stops = [SPACE.config(x=x, k=k) for x, k in ((0.125, 2), (0.75, 3), (0.875, 8))]
        chart = Map("x", "k", (0.0, 0.5, 1.0), (1, 5, 9), ((1.0, 2.0, 3.0),) * 3, tuple(stops))
        (figure,) = [
            f for f in drawn_page(made(), PageOptions(map=chart)).figures if f.name == "map"
        ]
        tree = ElementTree.fromstring(figure.svg)
        dots = [c for c in tree.iter("circle") if c.get("class") == "stop"]
        across = [float(dot.get("cx")) for dot in dots]
        assert (across[1] - across[0]) / (across[2] - across[1]) == pytest.approx(5, rel=0.02)
        assert len(list(tree.iter("rect"))) == 9

    def test_pairs_of_parameters_are_reported_where_they_matter(self):
        found = (Interaction(("x", "k"), 0.3, 0.1, 0.5), Interaction(("k", "mode"), 0.001, 0, 0.1))
        result = made()
        result.__dict__["interactions"] = found  # cached
        text = html(result, interactions=True)
        assert "Two parameters together" in text
        assert "10.0% to 50.0%" in text
        assert "0.1%" not in text.split("Two parameters together")[1].split("</table>")[0]
        result.__dict__["interactions"] = found[1:]
        assert "No two parameters" in html(result, interactions=True)

    def test_capped_runs_are_no_costs(self):
        result = made(judged=False)
        before = trail(result)[-1].mean
        run = Run(Task(result.best, Instance("new"), 99, 0.1), Status.CAPPED, 0.1, 1e9)
        result.history.add(run)
        assert trail(result)[-1].mean == before
        page = html(replace(result, capped=saved(result.runs)))
        assert "Capping: 1 run cut short, which saved about" in page


class TestWriting:
    def test_a_page_is_there_whole_or_not_at_all(self, tmp_path, monkeypatch):
        page = tmp_path / "runs.html"
        page.write_text("before")

        def broken(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", broken)
        with pytest.raises(BadInput, match="No space left"):
            write_report(made(), page)
        assert [path.name for path in tmp_path.iterdir()] == ["runs.html"]
        assert page.read_text() == "before"

    def test_a_missing_folder_is_reported(self, tmp_path):
        with pytest.raises(BadInput, match="there is no folder"):
            write_report(made(), tmp_path / "none" / "runs.html")
        with pytest.raises(BadInput, match="it is a folder"):
            write_report(made(), tmp_path)

    def test_pictures_are_files_of_their_own(self, tmp_path):
        def two_matter(config, pair, rng):
            status, seconds, quality = plain(config, pair, rng)
            return status, seconds, quality + config.indices[1] / 4

        paths = write_report(
            made(two_matter), tmp_path / "runs.html", figures=tmp_path / "new" / "figures"
        )
        names = {path.name for path in paths[1:]}
        assert {"incumbent-by-runs.svg", "scatter.svg", "map.svg", "verdict.svg"} <= names
        for path in paths[1:]:
            assert path.parent == tmp_path / "new" / "figures"
            assert "prefers-color-scheme" in path.read_text(encoding="utf-8")


def noisy(config, instance, seed):
    return (config["x"] - 0.3) ** 2 * instance + Random(seed).random() / 100


@dataclass(frozen=True)
class Doubled(CostMetric):
    """A cost of one's own."""

    def of(self, run):
        return (2 * run.quality,)


HOW = {"instances": range(1, 9), "test_instances": range(20, 28), "budget": 120}


class TestPython:
    def test_result_and_store_write_the_same_page(self, tmp_path, monkeypatch):
        monkeypatch.setattr(reporting.time, "strftime", lambda _: "now")
        store = tmp_path / "runs.sqlite"
        result = paramhs.tune(noisy, {"x": (0.0, 1.0), "k": (1, 5)}, store=store, **HOW)
        mine = result.report(tmp_path / "a.html").read_text(encoding="utf-8")
        other = paramhs.load(store).report(tmp_path / "b.html").read_text(encoding="utf-8")
        assert f"The search ended: {result.stopped}." in mine
        assert mine == other

    def test_while_the_search_runs(self, tmp_path):
        store, seen = tmp_path / "runs.sqlite", []

        class Reader(paramhs.Watcher):
            def ran(self, record, progress):
                if progress.taken == 60 and not progress.purpose:
                    seen.append(paramhs.load(store))

        paramhs.tune(noisy, {"x": (0.0, 1.0)}, store=store, watcher=Reader(), **HOW)
        (result,) = seen
        assert result.running
        assert 50 <= len(result.runs) <= 60
        assert "No verdict: the search is running." in html(result)
        assert not paramhs.load(store).running

    def test_of_a_cost_that_only_its_program_knows(self, tmp_path):
        store = tmp_path / "runs.sqlite"
        result = paramhs.tune(noisy, {"x": (0.0, 1.0)}, store=store, cost=Doubled(), **HOW)
        text = result.report(tmp_path / "a.html").read_text(encoding="utf-8")
        assert Outline(text).headings == HEADINGS
        with pytest.raises(StoreError, match="only the program that defines it"):
            paramhs.load(store)

    def test_without_a_store_too(self, tmp_path):
        result = paramhs.tune(noisy, {"x": (0.0, 1.0), "k": (1, 5)}, **HOW)
        text = result.report(tmp_path / "a.html").read_text(encoding="utf-8")
        assert Outline(text).headings == HEADINGS
        assert "seconds elapsed" in text


def called(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


class TestCommands:
    @pytest.fixture
    def store(self, tmp_path):
        paramhs.tune(noisy, {"x": (0.0, 1.0), "k": (1, 5)}, store=tmp_path / "runs.sqlite", **HOW)
        return tmp_path / "runs.sqlite"

    def test_the_page_lies_beside_the_store(self, store):
        done = called("report", store, "--figures", store.parent / "figures", "--json")
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert told["page"] == str(store.with_name("runs.html"))
        assert (
            store.with_name("runs.html").read_text(encoding="utf-8").startswith("<!doctype html>")
        )
        assert all(path.endswith(".svg") for path in told["figures"])

    def test_what_is_no_page_of_ours_stays(self, store):
        mine = store.with_name("runs.html")
        mine.write_text("my own notes")
        done = called("report", store)
        assert isinstance(done.exception, BadInput)
        assert "is not a report of paramhs" in str(done.exception)
        assert mine.read_text() == "my own notes"
        assert called("report", store, "--out", store.with_name("other.html")).exit_code == 0

    def test_a_search_is_watched_until_it_ends(self, store, monkeypatch):
        lock, seen = WriterLock(store), []

        def sleep(seconds):
            seen.append(store.with_name("runs.html").read_text(encoding="utf-8"))
            if len(seen) == 2:
                lock.release()

        monkeypatch.setattr(time, "sleep", sleep)
        assert called("report", store, "--watch").exit_code == 0
        last = store.with_name("runs.html").read_text(encoding="utf-8")
        assert ["refresh" in text for text in (*seen, last)] == [True, True, False]
        assert ["running" in text for text in (*seen, last)] == [True, True, False]

    def test_an_interrupted_watch_leaves_the_page(self, store, monkeypatch):
        def sleep(seconds):
            raise KeyboardInterrupt

        monkeypatch.setattr(time, "sleep", sleep)
        lock = WriterLock(store)
        try:
            assert called("report", store, "--watch").exit_code == 0
        finally:
            lock.release()
        text = store.with_name("runs.html").read_text(encoding="utf-8")
        assert "refresh" not in text
        assert "The search is running" in text

    def test_show_tells_the_same_in_a_terminal(self, store):
        text = called("show", store).stdout
        for part in (
            "verdict, on 8 held-out instances",
            "changes that matter",
            "importance of parameters",
        ):
            assert part in text
        told = json.loads(called("show", store, "--json").stdout)
        assert told["verdict"]["conclusion"] == "better"
        assert told["importance"][0]["name"] == "x"
        assert told["simplified"] is None

    def test_tune_writes_the_report_by_default(self, tmp_path, monkeypatch):
        path = scenario(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        assert called("tune", path, "--no-report").exit_code == 0
        assert not (tmp_path / "scenario.html").exists()
        done = called("tune", path)
        assert f"Report: {tmp_path / 'scenario.html'}" in done.stdout
        assert "paramhs validate" not in (tmp_path / "scenario.html").read_text(encoding="utf-8")
        (tmp_path / "scenario.html").write_text("mine")
        done = called("tune", path, "--json")
        assert json.loads(done.stdout)["page"] is None
        assert "No report was written" in done.stderr

    def test_trouble_with_the_page_costs_no_result(self, tmp_path, monkeypatch):
        path = scenario(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)

        def broken(*_, **__):
            raise ZeroDivisionError("of all things")

        monkeypatch.setattr(reporting, "write_report", broken)
        done = called("tune", path)
        assert done.exit_code == 0
        assert "No report was written: ZeroDivisionError: of all things" in done.stderr
        assert "All runs are in" in done.stdout


def test_of_the_changes_the_most_important_are_first():
    space = {"a": range(4), "b": range(4), "c": range(4)}
    result = paramhs.tune(
        lambda config: 12 - config["a"] - 30 * config["b"] - 5 * config["c"], space, budget=60
    )
    listed = [change.name for change in found(result, {}).changes]
    assert listed == ["b", "c", "a"]
