"""One recommendation: every view of a store prints the same sentence."""

import html
import json
import re
import signal
from random import Random

import pytest
from typer.testing import CliRunner

import paramhs
from paramhs import Space, tune
from paramhs.cli import app
from paramhs.core.errors import TargetError
from paramhs.execution.storage.lock import WriterLock
from paramhs.procedures.recommendation import is_running
from tests.support import scale
from tests.support.command_line import scenario

SPACE = Space({"x": range(30), "mode": ["a", "b", "c"]})
SEEDS = range(scale.of(24, 200))
STATES = ("finished", "interrupted", "interrupted in the verdict", "extended", "killed")


def words(text):
    """The text without line breaks: terminals wrap it."""
    return " ".join(text.split())


def printed(*call):
    done = CliRunner().invoke(app, [str(word) for word in call])
    assert done.exit_code == 0, done.output
    return done.stdout


def views(store):
    """The recommendation of a store as each of its views prints it."""
    opened = paramhs.load(store)
    page = store.with_name("page.html")
    report = json.loads(printed("report", store, "--out", page, "--json"))
    other = opened.report(store.with_name("other.html"))
    shown = json.loads(printed("show", store, "--json"))
    sentence = opened.recommendation
    assert words(sentence) in words(printed("show", store))
    assert words(sentence) in words(repr(opened))
    return {
        "open": sentence,
        "open, as JSON": opened.to_json()["recommendation"],
        "show --json": shown["recommendation"],
        "report --json": report["recommendation"],
        "page": on_page(page),
        "page by Python": on_page(other),
        "page of the result": on_page(opened.report(store.with_name("third.html"))),
    }


def on_page(path):
    text = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<p class="verdict[^"]*">(.*?)</p>', text)
    return html.unescape(found)


class Stopping(paramhs.Watcher):
    """Interrupts a search, or its verdict, after some runs."""

    def __init__(self, after, purpose):
        self.after, self.purpose = after, purpose

    def ran(self, record, progress):
        if progress.purpose == self.purpose and progress.taken == self.after:
            signal.raise_signal(signal.SIGINT)


class Killed(Exception):
    """Ends a search without a word."""


class Killing(Stopping):
    """Ends a search as if its process were killed."""

    def __init__(self, after):
        super().__init__(after, "")

    def ran(self, record, progress):
        if progress.taken == self.after:
            raise Killed


def target(rng):
    """A random function: one that tuning helps, or does not, or whose runs fail."""
    best, noise, breaks = rng.randrange(30), rng.choice([0.0, 1.0, 5000.0]), rng.random() < 0.3
    over = rng.random() < 0.4

    def cost(config, instance, seed):
        if breaks and config["mode"] == "b":
            raise ValueError("no such mode")
        lucky = over and instance >= 100
        far = (config["x"] - best) ** 2 * (-1 if lucky else 1)
        return 1000 + far + noise * ((seed * 7919 + config["x"] * 31) % 101) / 101

    return cost


def search(rng, store):
    """Tune a random target into a store, in a random state; the result, if there is one."""
    function, state = target(rng), rng.choice(STATES)
    tests = rng.choice([None, 3, 8])
    how = {
        "instances": {f"i{k}": k for k in range(rng.randrange(1, 7))},
        "test_instances": None if tests is None else {f"t{k}": 100 + k for k in range(tests)},
        "seed": rng.randrange(100),
        "configurator": rng.choice(["paramhs", "paramhs-plain", "paramils"]),
        "store": store,
    }
    budget = rng.randrange(1, 90)
    watcher = None
    if state == "interrupted":
        watcher = Stopping(rng.randrange(1, budget + 1), "")
    if state == "interrupted in the verdict":
        watcher = Stopping(3, "verdict")
    if state == "extended":
        tune(function, SPACE, budget=max(1, budget // 2), **how)
    if state == "killed":
        with pytest.raises(Killed):
            tune(function, SPACE, budget=budget + 40, watcher=Killing(budget), **how)
        return None
    return tune(function, SPACE, budget=budget, watcher=watcher, **how)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_views_of_a_store_recommend_the_same(tmp_path, seed):
    store = tmp_path / "runs.sqlite"
    result = search(Random(f"views of a store, {seed}"), store)
    found = views(store)
    if result is not None:
        found["tune"] = result.recommendation
        found["tune, as JSON"] = result.to_json()["recommendation"]
        found["page of tune"] = on_page(result.report(tmp_path / "mine.html"))
        assert result.recommendation in repr(result)
        assert paramhs.load(store).stopped == result.stopped
    assert len(set(found.values())) == 1, found


def test_the_stores_that_are_compared_are_of_every_kind(tmp_path):
    kinds = set()
    for seed in SEEDS:
        result = search(Random(f"views of a store, {seed}"), tmp_path / f"{seed}.sqlite")
        if result is not None:
            kinds.add(result.verdict.conclusion)
            kinds.add("failed" if result.failed_runs else "not failed")
            kinds.add("interrupted" if result.stopped == "interrupted" else "ended")
    expected = {"better", "unclear", "worse", "kept", "none"}
    assert kinds >= expected | {"failed", "not failed", "interrupted", "ended"}


@pytest.mark.parametrize("more", [(), ("--no-verdict",), ("--runs", 1)])
def test_the_command_line_recommends_the_same(tmp_path, monkeypatch, more):
    scenario(tmp_path)
    monkeypatch.chdir(tmp_path)
    tuned = json.loads(printed("tune", "scenario.toml", "--json", *more))
    text = printed("tune", "scenario.toml", *more)
    assert words(tuned["recommendation"]) in words(text)
    assert on_page(tmp_path / "scenario.html") == tuned["recommendation"]
    assert set(views(tmp_path / "scenario.sqlite").values()) == {tuned["recommendation"]}


def test_a_search_that_runs_says_so_everywhere(tmp_path):
    store = tmp_path / "runs.sqlite"
    tune(lambda config: config["x"], SPACE, budget=20, store=store)
    lock = WriterLock(store)
    try:
        assert is_running(store)
        assert set(views(store).values()) == {"No verdict: the search is running."}
    finally:
        lock.release()


def test_a_verdict_of_an_earlier_session_is_not_forgotten_by_a_later_one(tmp_path):
    def cost(config, instance, seed):
        return (config["x"] - 20) ** 2 + 1

    how = {"instances": ["1", "2"], "store": tmp_path / "runs.sqlite"}
    tests = [f"t{k}" for k in range(8)]
    before = tune(cost, SPACE, budget=200, test_instances=tests, **how)
    assert before.verdict.conclusion == "better"
    after = tune(cost, SPACE, budget=220, **how)
    assert after.best == before.best
    assert after.recommendation == before.recommendation
    assert set(views(tmp_path / "runs.sqlite").values()) == {before.recommendation}


def test_a_broken_target_leaves_no_end(tmp_path):
    def broken(config):
        raise RuntimeError("no licence")

    with pytest.raises(TargetError):
        tune(broken, SPACE, budget=20, store=tmp_path / "runs.sqlite")
    (sentence,) = set(views(tmp_path / "runs.sqlite").values())
    assert sentence.startswith("No verdict: no end of the search is recorded")
