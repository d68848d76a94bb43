import json
import math
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from paramhs.cli.landscape import landscape
from paramhs.core.errors import BadInput
from paramhs.search.operators import Harmonic, LStep, Uniform, law
from paramhs.theory import table as tables
from paramhs.theory.table import Analysis, Table, analyse, read_table
from tests.support.chains import expected_calls
from tests.support.command_line import paramhs

VALLEY = "x,cost\n" + "".join(f"{x},{abs(x - 3)}\n" for x in range(20))
VALLEYS = {
    (20, 3): 8.56487541241857,
    (501, 125): 34.24637847829518,
    (20_000, 5_000): 84.3333248023558,
}
"""Mean calls of the harmonic step, by an online convolution in the order of distances."""
TRAP = "x,cost\n0,0\n1,5\n2,1\n3,2\n4,3\n"
GRID = "mode,x,cost\n" + "".join(
    f"{mode},{x},{abs(x - 2) + position}\n" for position, mode in enumerate("ab") for x in range(5)
)


def l_step_calls(levels: int, optimum: int) -> float:
    """Two calls a step, but one from a border, where the only step is inwards."""
    sides = (optimum, levels - 1 - optimum)
    return sum(side * (side + 1) - 1 for side in sides if side) / levels


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def table_of(costs: np.ndarray) -> Table:
    values = tuple(tuple(map(str, range(levels))) for levels in costs.shape)
    return Table(tuple("xyz"[: costs.ndim]), values, costs)


def calls(analysis: Analysis) -> dict[str, float]:
    return {operator.name: operator.calls for operator in analysis.operators}


def test_a_column_of_numbers_is_ordered_by_value(file: Path) -> None:
    table = read_table(written(file, "x,cost\n10,1\n9,2\n-2.50,3\n"))
    assert table.values == (("-2.50", "9", "10"),)
    assert list(table.costs) == [3, 2, 1]
    assert table.notes == ()


def test_any_other_column_keeps_the_order_of_the_file_and_says_so(file: Path) -> None:
    table = read_table(written(file, "x,cost\nlow,1\nhigh,2\n7,3\n"))
    assert table.values == (("low", "high", "7"),)
    assert "order is that of the file" in table.notes[0]


def test_rows_of_a_grid_come_in_any_order(file: Path) -> None:
    table = read_table(written(file, "x,y,cost\n2,1,21\n1,2,12\n1,1,11\n2,2,22\n"))
    assert table.costs.tolist() == [[11, 12], [21, 22]]
    assert table.config(2) == {"x": "2", "y": "1"}


def test_spaces_blank_lines_quotes_and_a_byte_order_mark_do_no_harm(file: Path) -> None:
    table = read_table(written(file, '\ufeffx , cost\n\n " 1",2\n , \n2, 3\n'))
    assert table.names == ("x",)
    assert list(table.costs) == [2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "table.csv is empty: expected a line of column names, the last one 'cost'"),
        ("\n\n", "table.csv is empty"),
        ("1,2\n3,4\n", "table.csv:1: the first line must name the columns, the last one 'cost'"),
        ("x;cost\n1;2\n", "not 'x;cost'; cells are separated by commas"),
        ("cost\n1\n2\n", "table.csv:1: there is no parameter column"),
        ("x,x,cost\n1,1,2\n", "table.csv:1: each column needs a name of its own, not 'x'"),
        (",cost\n1,2\n", "each column needs a name of its own, not ''"),
        ("x,cost\n1,2\n", "at least two rows of values are needed, found 1"),
        ("x,cost\n1,2\n2,two\n", "table.csv:3: the cost must be a finite number, not 'two'"),
        ("x,cost\n1,2\n2,nan\n", "table.csv:3: the cost must be a finite number, not 'nan'"),
        ("x,cost\n1,inf\n2,3\n", "table.csv:2: the cost must be a finite number, not 'inf'"),
        ("x,cost\n1,2\n\n2\n", "table.csv:4: expected 2 cells, found 1"),
        ("x,cost\n1,2\n2,3,4\n", "table.csv:3: expected 2 cells, found 3"),
        ("x,cost\n1,2\n,3\n", "table.csv:3: cell 1 is empty"),
        ("x,cost\n1,2\n3,\n", "table.csv:3: cell 2 is empty"),
        ("x,cost\n1,2\n2,3\n1.0,2\n", "table.csv:4: x=1 was given in line 2 already"),
        ("x,y,cost\na,b,1\na,c,2\na,b,1\n", "table.csv:4: x=a, y=b was given in line 2 already"),
        ("x,y,cost\n1,1,2\n2,2,3\n", "2 x 2 values is not complete; missing: x=1, y=2; x=2, y=1"),
        ('x,cost\n"1,2\n', "not a line of CSV"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(file: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_table(written(file, text))
    assert message in str(caught.value)


def test_of_many_missing_configurations_five_are_named(file: Path) -> None:
    rows = "".join(f"{x},{x},0\n" for x in range(10))
    with pytest.raises(BadInput, match="x=0, y=5 and 85 more"):
        read_table(written(file, f"x,y,cost\n{rows}"))


def test_a_file_that_is_missing_or_no_text_is_refused(file: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        read_table(file)
    file.write_bytes(b"x,cost\n\xff,1\n")
    with pytest.raises(BadInput, match="is not text in UTF-8"):
        read_table(file)


def test_too_large_a_grid_is_refused() -> None:
    with pytest.raises(BadInput, match="too many"):
        analyse(table_of(np.arange(360_000.0).reshape(600, 600)))


@pytest.mark.parametrize("levels", [501, 20_000])
def test_one_parameter_may_have_any_number_of_values(levels: int) -> None:
    """Where a chain would be too large the laws are those of a valley all the same."""
    analysis = analyse(table_of(np.abs(np.arange(levels) - levels // 4).astype(float)))
    assert calls(analysis) == pytest.approx(
        {
            "l-step": l_step_calls(levels, levels // 4),
            "uniform": (levels - 1) ** 2 / levels,
            "uniform without replacement": (levels - 1) / 2,
            "harmonic": VALLEYS[levels, levels // 4],
        }
    )


def test_of_very_many_values_a_picture_shows_some_and_the_best(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    rows = "".join(f"{k},{abs(k - 2_001)}\n" for k in range(2_100))
    result = run(written(file, "x,cost\n" + rows), "--out", tmp_path)
    assert result.exit_code == 0, result.exception
    page = (tmp_path / "landscape.html").read_text(encoding="utf-8")
    assert '"value": "2001"' in page
    assert page.count('"cost": ') < 1_100
    assert (tmp_path / "landscape.svg").stat().st_size > 1_000


def test_a_large_plateau_is_refused_before_it_takes_for_ever() -> None:
    """What has the best cost does not count: there is nothing to compute."""
    costs = np.ones((40, 40, 5))
    costs[0] = 0.0
    names, values = ("a", "b", "c"), tuple(tuple(map(str, range(k))) for k in costs.shape)
    with pytest.raises(BadInput, match=r"7,800 configurations have the same cost"):
        analyse(Table(names, values, costs))
    costs[:38] = 0.0
    assert analyse(Table(names, values, costs)).operators


def test_on_a_valley_calls_are_known(file: Path) -> None:
    analysis = analyse(read_table(written(file, VALLEY)))
    assert calls(analysis) == pytest.approx(
        {
            "l-step": l_step_calls(20, 3),
            "uniform": 19**2 / 20,
            "uniform without replacement": 19 / 2,
            "harmonic": VALLEYS[20, 3],
        }
    )
    assert analysis.steps == [(1, 1.0)]
    assert analysis.advice.startswith("Use harmonic: ")


def test_a_local_optimum_traps_the_one_step_and_is_named(file: Path) -> None:
    analysis = analyse(read_table(written(file, TRAP)))
    one_step = analysis.operators[0]
    assert math.isinf(one_step.calls)
    assert one_step.stuck_starts == 4
    assert one_step.trap == {"x": "2"}
    assert "With l-step a search may get stuck, at x=2 for one, from 4" in analysis.advice
    assert analysis.steps[0] == (1, 4.0)


def test_where_every_operator_gets_stuck_the_advice_is_to_move_several() -> None:
    analysis = analyse(table_of(np.array([[0.0, 2.0], [2.0, 1.0]])))
    assert all(math.isinf(operator.calls) for operator in analysis.operators)
    assert analysis.advice.startswith("No operator that moves one parameter at a time")
    assert "at x=1, y=1 for one" in analysis.advice


def test_a_shared_best_cost_counts_until_any_is_sampled() -> None:
    analysis = analyse(table_of(np.array([0.0, 1.0, 0.0, 1.0])))
    assert calls(analysis)["uniform"] == pytest.approx(0.5 * 3 / 2)
    assert calls(analysis)["uniform without replacement"] == pytest.approx(0.5 * 4 / 3)
    assert analysis.lower_bounds == {}
    assert any("2 configurations share the best cost" in note for note in analysis.notes)


def test_where_all_costs_are_equal_no_call_is_needed() -> None:
    assert set(calls(analyse(table_of(np.ones(5)))).values()) == {0.0}


def test_several_parameters_have_no_profile_and_it_is_said(file: Path) -> None:
    analysis = analyse(read_table(written(file, GRID)))
    assert analysis.profile is None
    assert analysis.upper_bound is None
    assert any("defined for one parameter" in note for note in analysis.notes)
    assert list(calls(analysis)) == ["l-step", "uniform", "harmonic"]


@st.composite
def grids(draw: st.DrawFn) -> np.ndarray:
    """One optimum, costs that often tie."""
    shape = draw(st.sampled_from([(5,), (2, 2), (3, 4), (1, 4), (2, 3, 2)]))
    size = math.prod(shape)
    costs = np.array(draw(st.lists(st.integers(1, 6), min_size=size, max_size=size)), float)
    costs[draw(st.integers(0, size - 1))] = 0
    return costs.reshape(shape)


@given(grids())
def test_finite_calls_are_those_of_a_chain_written_from_the_papers_words(
    costs: np.ndarray,
) -> None:
    analysis = analyse(table_of(costs))
    states = list(product(*map(range, costs.shape)))
    movable = [axis for axis, levels in enumerate(costs.shape) if levels > 1]

    def beats(challenger: tuple[int, ...], incumbent: tuple[int, ...]) -> float:
        difference = costs[incumbent] - costs[challenger]
        return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0

    for name, step in (("l-step", LStep()), ("uniform", Uniform()), ("harmonic", Harmonic())):
        if math.isinf(calls(analysis)[name]):
            continue

        def moves(at, step=step):
            for axis in movable:
                for to, chance in law(step, costs.shape[axis], at[axis]).items():
                    yield ((*at[:axis], to, *at[axis + 1 :]),), chance / len(movable)

        optimum = states[int(costs.argmin())]
        expected = expected_calls(states, optimum, moves, beats)
        assert calls(analysis)[name] == pytest.approx(expected)


def dead_and_stuck(costs: np.ndarray, reach: int) -> tuple[set[int], set[int]]:
    """From where no way leads to the optimum on a line; and from where one may get there."""

    def closure(start: int) -> set[int]:
        seen, todo = {start}, [start]
        while todo:
            x = todo.pop()
            for y in range(max(x - reach, 0), min(x + reach + 1, len(costs))):
                if y not in seen and costs[y] <= costs[x]:
                    seen.add(y)
                    todo.append(y)
        return seen

    optimum = int(costs.argmin())
    reached = {x: closure(x) for x in range(len(costs))}
    dead = {x for x in reached if optimum not in reached[x]}
    return dead, {x for x in reached if reached[x] & dead}


@given(st.lists(st.integers(1, 5), min_size=2, max_size=12), st.integers(0, 11))
def test_stuck_starts_are_those_that_can_reach_a_dead_end(values: list[int], best: int) -> None:
    costs = np.array(values, float)
    costs[best % len(costs)] = 0
    one_step = analyse(table_of(costs)).operators[0]
    dead, stuck = dead_and_stuck(costs, 1)
    assert one_step.stuck_starts == len(stuck)
    assert math.isinf(one_step.calls) == bool(stuck)
    if one_step.trap is not None:
        assert int(one_step.trap["x"]) in dead


app = typer.Typer()
app.command()(landscape)


@app.command()
def other() -> None:
    """A second command, so that the first keeps its name."""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["landscape", *map(str, arguments)])


def test_the_command_prints_calls_bounds_profile_and_advice(file: Path) -> None:
    result = run(written(file, TRAP))
    assert result.exit_code == 0
    for words in ("5 configurations of x", "best: x=0, cost 0", "infinite", "Use ", "alpha"):
        assert words in result.stdout


def test_json_has_the_same_facts(file: Path) -> None:
    facts = json.loads(run(written(file, TRAP), "--json").stdout)
    assert facts["operators"][0] == {
        "operator": "l-step",
        "calls": None,
        "stuck_starts": 4,
        "trap": {"x": "2"},
    }
    assert facts["optima"] == [{"x": "0"}]
    assert facts["profile"][0] == {"beta": 1, "alpha": 4.0}
    assert facts["advice"] in " ".join(run(file).stdout.split())
    assert facts["pictures"] == []


def test_text_from_a_table_is_never_markup(file: Path) -> None:
    written(file, "[bold]x[/bold],cost\n[/red],0\n[link=a]b,5\n:smile:,1\n")
    result = run(file)
    assert result.exit_code == 0
    assert "best: [bold]x[/bold]=[/red], cost 0" in result.stdout
    assert "at [bold]x[/bold]=:smile: for one" in " ".join(result.stdout.split())


@pytest.mark.parametrize("text", [VALLEY, GRID], ids=["one parameter", "several"])
def test_pictures_stand_alone_and_show_the_optimum(file: Path, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "new" / "pictures"
    result = run(written(file, text), "--out", folder)
    assert result.exit_code == 0
    page = (folder / "landscape.html").read_text(encoding="utf-8")
    assert '<script src="http' not in page
    assert 'type="text/javascript" src=' not in page
    assert "#d62728" in (folder / "landscape.svg").read_text(encoding="utf-8")
    assert (folder / "landscape.png").read_bytes().startswith(b"\x89PNG")


def test_text_from_a_table_cannot_end_the_script_of_a_page(file: Path, tmp_path: Path) -> None:
    run(written(file, "</script><b>x,cost\n<!--,1\n2,3\n"), "--out", tmp_path)
    page = (tmp_path / "landscape.html").read_text(encoding="utf-8")
    assert "\\u003c/script>\\u003cb>x" in page
    assert "</script><b>x" not in page


def test_control_characters_in_names_and_values_are_drawn_as_pictures(
    file: Path, tmp_path: Path
) -> None:
    # In a process of its own: the renderer would abort it.
    written(file, "a\x01\x1b[31m\\b,cost\n1\x02\\x01,1\n2\u2028,3\nx\x00,4\n")
    done = paramhs("landscape", file, "--out", tmp_path / "pictures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a\u2401\u241b[31m" in (tmp_path / "pictures/landscape.svg").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_made_is_a_message(file: Path) -> None:
    result = run(written(file, VALLEY), "--out", file / "inside")
    assert isinstance(result.exception, BadInput)
    assert "cannot be written" in str(result.exception)


def test_without_numpy_the_message_says_what_to_install(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, tables.__name__, None)
    result = run(written(file, VALLEY))
    assert isinstance(result.exception, BadInput)
    assert "pip install 'paramhs[landscape]'" in str(result.exception)


@pytest.mark.parametrize("rows", ["1,{long},2\n2,b,3\n", "1,{long},2\n1,{long},3\n"])
def test_long_values_make_no_long_message(tmp_path, rows):
    table = tmp_path / "t.csv"
    table.write_text("x,mode,cost\n" + rows.format(long="9" * 4_000 + "b"))
    with pytest.raises(BadInput) as refused:
        read_table(table)
    assert len(str(refused.value)) < 3_000
    assert "999 ... 999" in str(refused.value)


def test_nearly_the_best_counts_all_within_two_per_cent() -> None:
    near = analyse(table_of(np.array([14.0, 12.0, 10.1, 10.0, 10.1, 11.0, 13.0]))).near
    assert near is not None
    found = {operator.name: operator.calls for operator in near.operators}
    assert near.configurations == 3
    assert found["uniform without replacement"] == pytest.approx(4 / 4)
    assert found["uniform"] == pytest.approx(4 / 7 * 6 / 3)
    assert near.advice.startswith("3 of 7 configurations are within 2% of the best.")


def test_nearly_the_best_frees_a_search_from_traps_as_good_as_the_best() -> None:
    analysis = analyse(table_of(np.array([10.0, 12.0, 10.1, 13.0])))
    assert math.isinf(analysis.operators[0].calls)
    assert analysis.near is not None
    assert math.isfinite(analysis.near.operators[0].calls)


def test_nearly_the_best_is_not_defined_for_costs_of_zero(file: Path) -> None:
    analysis = analyse(table_of(np.array([0.0, 1.0, 2.0])))
    assert analysis.near is None
    assert analysis.to_json()["near_best"] is None


def test_costs_that_are_all_nearly_equal_need_no_search() -> None:
    near = analyse(table_of(np.array([1.0, 1.01, 1.005]))).near
    assert near is not None
    assert near.advice == "All costs are within 2% of the best: any configuration will do."
