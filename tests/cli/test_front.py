"""A search with two costs on the command line: its screens, its page, its tables, and `--pick`."""

import csv
import io
import json
import re
from contextlib import chdir

import pytest
from typer.testing import CliRunner

from paramhs.cli import app

SCENARIO = """\
command = "awk 'BEGIN {{ print {instance} * (1 + {x} + {y}) }}'"
read = "last number"
cost = ["minimise size", "runtime"]
cutoff = 5
deterministic = true
instances = ["1", "2", "3", "4", "5", "6"]
test_instances = ["7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18"]

[space]
x = [0, 9]
y = [0, 3]

[budget]
runs = 60
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("front")
    (made / "two.toml").write_text(SCENARIO)
    with chdir(made):
        result = CliRunner().invoke(app, ["tune", "two.toml"])
    assert result.exit_code == 0, result.output
    (made / "screen.txt").write_text(result.output)
    return made


def called(folder, *words):
    with chdir(folder):
        result = CliRunner().invoke(app, [*words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_screen_has_the_points_with_factors_and_the_correction(folder):
    shown = (folder / "screen.txt").read_text()
    assert "front of size and runtime" in shown
    assert "times the default's" in shown
    assert "all hold together with 95 % confidence" in " ".join(shown.split())
    assert "point 1: " in shown
    assert re.search(r"command of (point \d|the default), which balances the costs", shown)


def test_show_says_the_same(folder):
    shown = called(folder, "show", "two.sqlite")
    assert "front of size and runtime" in shown
    front = shown[shown.index("front of size") : shown.index("point 1: ")]
    assert front in (folder / "screen.txt").read_text()


def test_pick_prints_the_command_of_the_best_point_within_bounds(folder):
    command = called(folder, "show", "two.sqlite", "--pick", "runtime <= 5")
    assert command.startswith("awk 'BEGIN")
    front = json.loads(called(folder, "show", "two.sqlite", "--json"))["front"]
    least = min((front["default"], *front["points"]), key=lambda point: point["costs"]["size"])
    assert command.strip() == least["command"]


def test_pick_needs_a_point_within_the_bounds(folder):
    with chdir(folder):
        result = CliRunner().invoke(app, ["show", "two.sqlite", "--pick", "size <= 0"])
    assert result.exit_code != 0
    assert "no point is within 'size <= 0'" in str(result.exception) + result.output


def test_the_page_draws_the_front_and_has_every_command(folder):
    page = (folder / "two.html").read_text(encoding="utf-8")
    front = json.loads(called(folder, "show", "two.sqlite", "--json"))["front"]
    picture = page[page.index("Front: runtime against size") :]
    drawing = picture[: picture.index("</svg>")]
    assert drawing.count('r="3.5"') == len(front["points"])
    assert "default: x=" in drawing
    plain = re.sub("<[^>]*>", "", page).replace("&#39;", "'")
    for point in front["points"]:
        assert point["command"] in plain


def test_a_table_has_a_row_for_the_default_and_each_point(folder):
    rows = list(
        csv.DictReader(io.StringIO(called(folder, "export", "two.sqlite", "--what", "front")))
    )
    front = json.loads(called(folder, "show", "two.sqlite", "--json"))["front"]
    assert [int(row["point"]) for row in rows] == list(range(len(front["points"]) + 1))
    assert float(rows[1]["cost.size"]) == pytest.approx(front["points"][0]["costs"]["size"])
    assert rows[0]["conclusion.size"] == ""
    assert rows[1]["conclusion.size"] in ("better", "worse", "unclear")


def test_the_table_of_runs_has_both_costs(folder):
    rows = csv.DictReader(io.StringIO(called(folder, "export", "two.sqlite")))
    first = next(rows)
    assert float(first["cost.size"]) == float(first["quality"])
    assert float(first["cost.runtime"]) == float(first["runtime"])


THREE = """\
command = "sh -c 'echo size {x}{instance}; echo loss $(({y} + 9 - {x})) >&2'"
read = {loss = {regex = "loss (.*)"}, size = {regex = "size (.*)"}}
cost = ["minimise size", "runtime", "minimise loss"]
subject_to = "loss <= 5"
cutoff = 5
deterministic = true
instances = ["1", "2", "3"]
test_instances = ["4", "5", "6"]

[space]
x = [0, 9]
y = [0, 3]

[budget]
runs = 80
"""


def test_a_command_may_report_several_costs_and_one_may_be_bounded(tmp_path):
    (tmp_path / "three.toml").write_text(THREE)
    trial = "read: ok, size 41, loss 6 (on standard error)"
    assert trial in called(tmp_path, "check", "three.toml")
    trials = json.loads(called(tmp_path, "check", "three.toml", "--json"))["trials"]
    assert trials[0]["numbers"] == {"size": 41, "loss": 6}
    front = json.loads(called(tmp_path, "tune", "three.toml", "--json"))["front"]
    chosen = front["points"][front["best"] - 1]
    assert set(chosen["costs"]) == {"size", "runtime", "loss"}
    assert chosen["costs"]["loss"] <= 5


ONE_POINT = """\
command = "sh -c 'echo size $((9 - {x} + {instance})); echo loss 3'"
read = {loss = {regex = "loss (.*)"}, size = {regex = "size (.*)"}}
cost = ["minimise size", "minimise loss"]
deterministic = true
instances = ["21", "22", "23", "24", "25", "26", "27", "28", "29"]
test_instances = ["6", "7", "8", "9", "10", "11"]

[space]
x = {type = "integer", low = 0, high = 3, default = 1}

[budget]
runs = 60
"""


def words(text):
    return " ".join(text.split())


def test_too_few_instances_for_intervals_are_said(tmp_path):
    (tmp_path / "few.toml").write_text(ONE_POINT)
    shown = words(called(tmp_path, "tune", "few.toml"))
    assert "Choose it or the default by what matters to you." in shown
    assert "There are no intervals: 2 comparisons (1 point, 2 costs) need at least 7" in shown
    assert "(no interval)" in shown
    assert "simplify" not in called(tmp_path, "show", "few.sqlite")
    page = re.sub("<[^>]*>", "", (tmp_path / "few.html").read_text(encoding="utf-8"))
    assert "Changes that matter" not in page
    assert "Do not rely" not in page
    assert "Choose a point by a bound, such as:" in page


def test_bounds_that_nothing_keeps_are_not_claimed_to_be_kept(tmp_path):
    (tmp_path / "out.toml").write_text('subject_to = "loss <= 1"\n' + ONE_POINT)
    shown = words(called(tmp_path, "tune", "out.toml"))
    assert "point 1, chosen by the search for loss <= 1, outside them on 6 held-out" in shown
    assert "within the bounds" not in shown


def test_validate_has_a_verdict_for_each_cost_and_keeps_the_front(tmp_path):
    (tmp_path / "both.toml").write_text(ONE_POINT.replace("loss 3", "loss $((3 + {x}))"))
    called(tmp_path, "tune", "both.toml")
    before = called(tmp_path, "show", "both.sqlite")
    again = ("validate", "both.toml", "-c", "default", "-c", "x=3", "--on", "train")
    shown = words(called(tmp_path, *again))
    assert "In size, x=3 is better" in shown
    assert "In loss, x=3 is worse" in shown
    assert "Keep" not in shown
    made = json.loads(called(tmp_path, *again, "--json"))["verdicts"]
    assert [(one["cost_name"], one["comparisons"]) for one in made] == [("size", 2), ("loss", 2)]
    front = before[before.index("front of size and loss") :]
    assert front in called(tmp_path, "show", "both.sqlite")


def test_a_portfolio_is_refused_before_the_search(tmp_path):
    (tmp_path / "k.toml").write_text(ONE_POINT)
    with chdir(tmp_path):
        result = CliRunner().invoke(app, ["tune", "k.toml", "--portfolio", "2"])
    assert "a portfolio has one cost" in str(result.exception) + result.output
    assert not (tmp_path / "k.sqlite").exists()


def test_a_store_without_runs_has_no_front(tmp_path):
    (tmp_path / "bad.toml").write_text(ONE_POINT.replace("sh -c '", "sh -c 'exit 3; "))
    with chdir(tmp_path):
        assert CliRunner().invoke(app, ["tune", "bad.toml"]).exit_code
        picked = CliRunner().invoke(app, ["show", "bad.sqlite", "--pick", "size <= 1"])
    assert "inf" not in called(tmp_path, "show", "bad.sqlite")
    assert "there is no front yet" in str(picked.exception) + picked.output
