"""Pictures and tables of a result, for notebooks and files."""

import xml.etree.ElementTree as ET
from contextlib import suppress

import pytest

import paramhs
from paramhs import BadInput, ParamhsWarning
from paramhs.report.next_steps import next_steps


def cost(config, instance, seed):
    if config["n"] > 17:
        raise ValueError("too large")
    base = (config["x"] - 2) ** 2 + abs(config["n"] - 7) + config.get("y", 0)
    return 1 + base + instance + seed % 7 / 10


SPACE = paramhs.Space(
    {"x": paramhs.Real(0.01, 10, log=True), "n": (1, 20), "kind": ["a", "<b>"], "y": (0, 10)},
    conditions={"y": "kind == '<b>'"},
)


@pytest.fixture(scope="module")
def result():
    return paramhs.tune(cost, SPACE, instances=range(8), test_instances=0.25, budget=120)


@pytest.fixture(scope="module")
def timed():
    def work(config, instance):
        return abs(config["x"] - 5) / 10 + instance / 100

    target = paramhs.Command("echo {x} {instance}", read="last number", clock="wall")
    found = paramhs.tune(
        target, {"x": range(10)}, instances=["1", "2"], budget=12, cost="runtime", cutoff=60
    )
    assert work({"x": 5}, 0) == 0
    return found


DRAWINGS = {
    "history": lambda plot: plot.history(),
    "time": lambda plot: plot.history("time"),
    "importance": lambda plot: plot.importance(),
    "slice": lambda plot: plot.slice("x"),
    "list": lambda plot: plot.slice("kind"),
    "map": lambda plot: plot.map(),
    "named map": lambda plot: plot.map("n", "x"),
    "instances": lambda plot: plot.instances(),
    "parallel": lambda plot: plot.parallel(),
    "two": lambda plot: plot.parallel(["kind", "y"]),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_svg_that_a_notebook_shows_and_a_file_keeps(result, name, tmp_path):
    drawing = DRAWINGS[name](result.plot)
    path = drawing.save(tmp_path / "picture.svg")
    root = ET.fromstring(path.read_text())
    assert root.tag.endswith("svg")
    assert root.findall(".//{*}path") or root.findall(".//{*}rect")
    html = drawing._repr_html_()
    assert "data:image/svg+xml;base64," in html
    assert drawing.title in html
    assert len(repr(drawing)) < 200
    with pytest.raises(BadInput, match=r"must end with \.svg"):
        drawing.save(tmp_path / "picture.png")


def test_parallel_lines_are_the_configurations(result):
    svg = result.plot.parallel(["x", "n"]).svg
    lines = [p for p in ET.fromstring(svg).iter() if "faint" in p.get("class", "")]
    assert len(lines) == len(result.history.configs)


def test_survival_is_for_runtimes(timed, result):
    if timed.best != timed.default:
        assert "Runs finished" in timed.plot.survival().title
    with pytest.raises(BadInput, match="survival is about runtimes"):
        result.plot.survival()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda plot: plot.slice("z"), "no parameter is called 'z'; there are x, n"),
        (lambda plot: plot.map("x"), "a map needs two parameters"),
        (lambda plot: plot.map("x", "x"), "a map needs two parameters"),
        (lambda plot: plot.map("x", "kind"), "kind is not numeric"),
        (lambda plot: plot.history("week"), "by must be 'runs' or 'time'"),
        (lambda plot: plot.parallel(["x"]), "there is nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_is_said(result, draw, message):
    with pytest.raises(BadInput, match=message):
        draw(result.plot)


def test_every_table_is_a_data_frame(result):
    pytest.importorskip("pandas")
    rows = {"runs": len(result.runs), "configurations": len(result.history.configs)}
    rows |= {"trajectory": len(result.trajectory), "verdict": 1}
    for name, count in rows.items():
        assert len(result.to_dataframe(name)) == len(result.table(name)) == count
    frame = result.to_dataframe("configurations")
    assert str(frame["config.y"].dtype) == "Int64"
    assert str(frame["config.n"].dtype) == "int64"
    assert frame["config.y"].isna().any()
    with pytest.raises(BadInput, match="there is no table 'run'; there are runs, configurations"):
        result.to_dataframe("run")


def test_every_table_is_a_polars_frame(result):
    polars = pytest.importorskip("polars")
    frame = result.to_polars("configurations")
    assert frame["config.y"].dtype == polars.Int64
    assert frame["config.y"].null_count() > 0
    assert result.to_polars().height == len(result.runs)
    assert frame["config.kind"].to_list()[0] == "a"


def test_tables_hold_what_neither_library_can(result):
    from paramhs.report.tables import dataframe, polars_dataframe

    rows = [{"a": 2**70, "b": 1, "c": None}, {"a": None, "b": "x", "c": None}]
    pytest.importorskip("pandas")
    assert dataframe(rows)["a"][0] == 2**70
    pytest.importorskip("polars")
    assert polars_dataframe(rows)["a"].to_list() == [str(2**70), None]
    assert polars_dataframe(rows)["b"].to_list() == ["1", "x"]


def test_failures_are_seen_at_the_end_in_print_and_in_html():
    def fragile(config):
        if config["mode"] == "bad":
            raise RuntimeError("no such mode")
        return config["k"]

    space = {"k": range(12), "mode": ["good", "bad"]}
    with pytest.warns(ParamhsWarning, match=r'of 24 runs failed; .* with mode == "bad" crashed'):
        result = paramhs.tune(fragile, space, budget=30)
    for text in (repr(result), result._repr_html_()):
        assert "12 of 24 runs failed" in text
        assert "no such mode" in text
        assert "forbidden=[" in text


def test_importance_is_printed_as_a_table(result):
    text = repr(result.importance)
    assert len(text.splitlines()) == len(result.importance)
    assert len(text) < 400
    assert "<table>" in result.importance._repr_html_()
    few = paramhs.tune(lambda c: c["x"], {"x": range(3)}, budget=3)
    assert repr(few.importance) == "no importance: too few configurations"


def test_a_simplified_configuration_is_printed_in_lines(result):
    found = paramhs.simplify(cost, result, budget=60)
    assert repr(found).startswith("simplified")
    assert len(repr(found)) < 1500
    assert "<table>" in found._repr_html_()


def test_a_verdict_as_a_condition_is_typed():
    from typing import Literal, get_type_hints

    from paramhs.analysis.verdict import NoVerdict

    assert get_type_hints(NoVerdict.__bool__)["return"] == Literal[False]


def test_the_title_of_a_report_is_the_users(result, tmp_path):
    page = result.report(tmp_path / "page.html", title="Nightly <tuning>").read_text()
    assert "<title>Nightly &lt;tuning&gt;: " in page


def test_the_next_steps_fit_how_a_search_was_made(tmp_path):
    from paramhs.report.next_steps import next_steps

    store = tmp_path / "runs.sqlite"
    result = paramhs.tune(cost, SPACE, instances=range(3), budget=30, store=store)
    steps = next_steps(result)
    assert steps["simplify"].startswith("paramhs.simplify(cost, paramhs.load(")
    assert "instances=instances" in steps["simplify"]
    assert "paramhs simplify" not in result.report(tmp_path / "page.html").read_text()
    (tmp_path / "runs.toml").write_text("command = 'true {x}'\nbudget.runs = 3\nspace.x = [0, 9]\n")
    assert next_steps(result)["simplify"].startswith("paramhs.simplify")
    assert next_steps(result, tmp_path / "runs.toml")["simplify"].startswith("paramhs simplify ")


def test_a_picture_of_two_says_that_the_default_is_the_best():
    result = paramhs.tune(lambda config: config["x"], {"x": [0, 1]}, budget=5)
    with pytest.raises(paramhs.BadInput, match="the default is the best that was found"):
        result.plot.instances()


def test_a_function_of_a_scenario_file_gets_commands(tmp_path, monkeypatch):
    from paramhs.api.load import load
    from paramhs.cli import main
    from paramhs.report.next_steps import next_steps

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "linear.py").write_text("def f(config, instance):\n    return config['x'] + 1\n")
    (tmp_path / "linear.toml").write_text(
        'function = "linear:f"\ninstances = ["1", "2", "3"]\n[budget]\nruns = 12\n'
        '[space]\nx = {type = "integer", low = 0, high = 9}\n'
    )
    monkeypatch.setattr("sys.argv", ["paramhs", "tune", "linear.toml"])
    with suppress(SystemExit):
        main()
    steps = next_steps(load("linear.sqlite"))
    assert steps["simplify"] == "paramhs simplify linear.sqlite"


@pytest.fixture(scope="module")
def traded():
    return paramhs.tune(
        lambda c, i: {"size": 1 + c["x"] + i, "time": 9 - c["x"], "heat": c["n"] + 1},
        {"x": range(9), "n": range(4)},
        instances=range(12),
        test_instances=0.5,
        budget=60,
        cost=["minimise size", "minimise time", "minimise heat"],
    )


def test_a_front_is_drawn_for_any_two_costs(traded, result, tmp_path):
    assert traded.plot.front().title == "Front: time against size"
    assert traded.plot.front("heat").title == "Front: size against heat"
    assert traded.plot.front(y="heat").title == "Front: heat against size"
    path = traded.plot.front("heat", "time").save(tmp_path / "front.svg")
    assert ET.fromstring(path.read_text()).tag.endswith("svg")
    with pytest.raises(BadInput, match="no cost is called 'weight'; there are size, time, heat"):
        traded.plot.front("weight")
    with pytest.raises(BadInput, match="two different costs"):
        traded.plot.front("heat", "heat")
    with pytest.raises(BadInput, match="here there is one"):
        result.plot.front()


def test_everything_public_prints_in_a_few_lines_and_renders(traded, result):
    shown = [result, result.verdict, result.certificate, result.importance, traded, traded.front]
    shown += [paramhs.portfolio(result, cost, 2), result.space, result.best]
    for thing in shown:
        html = thing._repr_html_()
        assert html.count("<table") == html.count("</table")
        assert len(repr(thing)) < 2_500
        assert max(map(len, repr(thing).splitlines())) < 400
        assert "paired_runs=" not in repr(thing)
        assert " object at 0x" not in repr(thing)


def test_the_runs_behind_a_verdict_and_a_simplification_are_tables(tmp_path):
    store = tmp_path / "runs.sqlite"
    found = paramhs.tune(
        cost, SPACE, instances=range(8), test_instances=0.25, budget=120, store=store
    )
    bare = paramhs.tune(cost, SPACE, instances=range(8), test_instances=0.25, budget=120)
    runs = found.table("verdict-runs")
    assert len(runs) == found.verdict.first.runs + found.verdict.second.runs
    of = ["config", "instance", "seed", "cost"]
    assert sorted(tuple(row[k] for k in of) for row in runs) == sorted(
        tuple(row[k] for k in of) for row in bare.table("verdict-runs")
    )
    simple = paramhs.simplify(cost, found, budget=40, store=store)
    assert len(found.to_dataframe("ablation-runs")) == simple.ablation.runs
    assert bare.table("ablation-runs") == []


def test_a_column_without_a_value_is_of_numbers_as_in_a_file(result):
    assert result.to_dataframe()["cutoff"].dtype == "float64"


def test_advice_for_a_store_without_its_objects_names_the_space(tmp_path):
    def square(config, instance):
        return abs(config["f"](config["x"])) + instance

    space = paramhs.Space({"x": (-3, 5), "f": [float, abs]})
    store = tmp_path / "runs.sqlite"
    paramhs.tune(square, space, instances=range(3), budget=30, store=store)
    advice = next_steps(paramhs.load(store))["simplify"]
    names = {"paramhs": paramhs, "square": square, "space": space, "instances": range(3)}
    assert "space=space" in advice
    assert eval(advice, names).config is not None
