import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paramhs.cli.landscape import landscape
from paramhs.theory.kinds import Kind, kind_of

app = typer.Typer()
app.command()(landscape)

NEEDLE = [1 + abs(x - 20) for x in range(33)]
WIDE = [1 + 0.001 * (x - 20) ** 2 for x in range(33)]
RUGGED = [1.0] + [3.0 + (x % 2) for x in range(31)] + [1.5]
BUMP = [5.0, 4.0, 3.0, 2.5, 2.0, 2.1, 1.9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


@pytest.mark.parametrize(
    ("costs", "name"),
    [
        ([1.0, 1.01, 1.02], "flat"),
        (NEEDLE, "one valley"),
        (WIDE, "one valley"),
        ([3.0, 3.0, 1.0, 2.0, 2.0], "one valley"),
        (BUMP, "nearly one valley"),
        (RUGGED, "rugged"),
    ],
)
def test_a_landscape_has_a_kind(costs: list[float], name: str) -> None:
    assert kind_of(costs).name == name


def test_a_bump_costs_the_valley_its_name_and_a_beta() -> None:
    assert kind_of(BUMP).beta > 1
    assert kind_of(NEEDLE).beta == 1


def test_a_needle_in_a_valley_is_for_the_harmonic_step() -> None:
    kind = kind_of(NEEDLE)
    assert kind.near == 1
    assert kind.advice == (
        "One valley: 1 of 33 values are within 2% of the best. The harmonic step suits it if a"
        " comparison averages several runs; with single noisy runs, uniform values find one as"
        " soon."
    )


def test_a_wide_valley_is_for_uniform_values() -> None:
    kind = kind_of(WIDE)
    assert kind.near == 9
    assert "uniform values, none of them twice" in kind.advice


def test_a_flat_parameter_is_left_alone() -> None:
    assert kind_of([2.0, 2.0]).advice == "Flat: leave this parameter at its default."


def test_small_steps_are_not_for_a_rugged_landscape() -> None:
    assert "Small steps get stuck" in kind_of(RUGGED).advice


def test_only_the_best_are_good_where_the_best_cost_is_not_above_zero() -> None:
    assert kind_of([0.0, 0.0, 1.0]) == Kind("one valley", 1, 2, 3)


def test_the_command_says_the_kind_and_so_does_json(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("x,cost\n" + "".join(f"{x},{cost}\n" for x, cost in enumerate(NEEDLE)))
    printed = CliRunner().invoke(app, [str(table)]).stdout
    facts = json.loads(CliRunner().invoke(app, [str(table), "--json"]).stdout)
    assert facts["kind"]["name"] == "one valley"
    assert facts["kind"]["advice"] in " ".join(printed.split())


def test_several_parameters_have_no_kind(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("x,y,cost\n1,a,5\n1,b,3\n2,a,4\n2,b,1\n")
    assert json.loads(CliRunner().invoke(app, [str(table), "--json"]).stdout)["kind"] is None
