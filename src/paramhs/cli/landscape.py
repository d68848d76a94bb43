"""`paramhs landscape`: exact analysis of a table of costs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from paramhs.api.terminal.text_layout import tell
from paramhs.cli.console import Json, Terminal, print_json
from paramhs.core.errors import BadInput

if TYPE_CHECKING:
    from paramhs.theory.table import Analysis

_MAX_LINES = 8  # lines of a profile, or optima, that are printed
_MAX_DRAWN_VALUES = 1_000  # values of a parameter in a picture, evenly chosen, besides its optima


def landscape(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE.csv", help="Table with a header, parameter columns, and 'cost' last."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a picture (HTML, SVG, PNG) into this folder."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute how many calls each operator needs on a table of costs.

    The calculation is exact. Comparisons are assumed to be correct and the start uniform. Lower
    costs are better. A column of numbers is ordered by value, any other column as in the file. The
    last line says which operator suits such a parameter when runs are noisy.
    """
    analysis = _analysis(table)
    console = Terminal()
    if not as_json:
        _print(console, analysis)
    pictures = [] if out is None else _write_pictures(analysis, out)
    if as_json:
        facts = analysis.to_json() | {"pictures": [str(path) for path in pictures]}
        print_json(facts)
    elif pictures:
        _say(console, f"\nwrote {', '.join(map(str, pictures))}")


def _analysis(path: Path) -> "Analysis":
    try:
        from paramhs.theory.table import analyse, read_table
    except ModuleNotFoundError as error:
        raise _extra("landscape", error) from None
    return analyse(read_table(path))


def _extra(name: str, error: ModuleNotFoundError) -> BadInput:
    return BadInput(f"{error.name} is not installed: pip install 'paramhs[{name}]'")


def _say(console: Console, text: str, style: str = "") -> None:
    """Print a text from a user's file, which is never interpreted as markup."""
    tell(console, text, style=style)


def _print(console: Console, analysis: "Analysis") -> None:
    facts = analysis.to_json()
    sizes = ", ".join(f"{name} ({count:,} values)" for name, count in facts["parameters"].items())
    _say(console, f"{facts['configurations']:,} configurations of {sizes}")
    for config in facts["optima"][:_MAX_LINES]:
        _say(console, f"best: {_written(config)}, cost {facts['best_cost']:.6g}")
    if len(facts["optima"]) > _MAX_LINES:
        _say(console, f"... and {len(facts['optima']) - _MAX_LINES:,} more with this cost")
    console.print()
    console.print(_operators(facts))
    if facts["profile"] is not None:
        console.print()
        _print_profile(console, facts)
    for note in facts["notes"]:
        _say(console, f"\n{note}")
    _say(console, f"\n{facts['advice']}", style="bold")
    if facts["near_best"]:
        _say(console, f"\n{facts['near_best']['advice']}", style="bold")
    if facts["kind"]:
        _say(console, f"\nWith the noise of real runs. {facts['kind']['advice']}", style="bold")


def _written(config: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def _operators(facts: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True)
    for heading in ("expected calls", "at least", "at most", "stuck starts", "to within 2 %"):
        table.add_column(heading, justify="right")
    bound, near = facts["upper_bound"], facts["near_best"]
    nearly = {row["operator"]: row["calls"] for row in near["operators"]} if near else {}
    for row in facts["operators"]:
        name = row["operator"]
        lower = facts["lower_bounds"].get(name.removesuffix(" without replacement"))
        upper = bound["calls"] if bound and name == "harmonic" else None
        stuck = f"{row['stuck_starts']:,}"
        close = _calls(nearly[name]) if nearly else ""
        table.add_row(name, _calls(row["calls"]), _bound(lower), _bound(upper), stuck, close)
    return table


def _calls(calls: float | None) -> str:
    return "infinite" if calls is None else f"{calls:,.2f}"


def _bound(calls: float | None) -> str:
    return "" if calls is None else f"{calls:,.2f}"


def _print_profile(console: Console, facts: dict[str, Any]) -> None:
    """Print the steps of the profile; if many, the first ones and the one used by the bound."""
    best, steps = facts["upper_bound"], facts["profile"]
    table = Table("from beta", "alpha", box=None, pad_edge=False)
    for step in steps[:_MAX_LINES]:
        table.add_row(f"{step['beta']:,}", f"{step['alpha']:.4g}")
    if len(steps) > _MAX_LINES:
        table.add_row("...", f"({len(steps) - _MAX_LINES:,} more)")
    console.print("(alpha, beta)-approximately unimodal with")
    console.print(table)
    console.print(f"the upper bound uses alpha = {best['alpha']:.4g}, beta = {best['beta']:,}")


def _write_pictures(analysis: "Analysis", folder: Path) -> list[Path]:
    try:
        from paramhs.report.chart_files import draw

        chart = _chart(analysis)
        folder.mkdir(parents=True, exist_ok=True)
        return draw(chart, folder, "landscape", ("html", "svg", "png"))
    except ModuleNotFoundError as error:
        raise _extra("report", error) from None
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}") from None


def _chart(analysis: "Analysis") -> Any:
    """Cost by value, one panel per parameter; minimised over the others."""
    import altair as alt

    panels = [_panel(alt, analysis, axis) for axis in range(len(analysis.table.names))]
    return alt.vconcat(*panels).configure_axis(grid=False).configure_view(strokeOpacity=0)


def _panel(alt: Any, analysis: "Analysis", axis: int) -> Any:
    table = analysis.table
    others = tuple(i for i in range(table.costs.ndim) if i != axis)
    costs = table.costs.min(axis=others) if others else table.costs
    values = table.values[axis]
    every, best_cost = -(-len(values) // _MAX_DRAWN_VALUES), costs.min()
    rows = [
        {"value": _drawable(value), "cost": float(cost), "optimum": bool(cost == best_cost)}
        for k, (value, cost) in enumerate(zip(values, costs, strict=True))
        if k % every == 0 or cost == best_cost
    ]
    x = alt.X(
        "value:O",
        sort=None,  # as in the table; an explicit list would become a deeply nested expression
        title=_drawable(table.names[axis]),
        axis=alt.Axis(labelOverlap=True, labelSeparation=6, labelAngle=0),
    )
    title = "best cost over the other parameters" if others else "cost"
    y = alt.Y("cost:Q", title=title, scale=alt.Scale(zero=False))
    base = alt.Chart(alt.InlineData(values=rows), width=640, height=260).encode(
        x=x, y=y, tooltip=["value:O", "cost:Q"]
    )
    line = base.mark_line(color="#4c78a8", point=len(values) <= 200)
    best = base.mark_point(size=160, color="#d62728", shape="diamond", filled=True, opacity=1)
    label = base.mark_text(dy=-16, color="#d62728").encode(text="value:N")
    return line + (best + label).transform_filter("datum.optimum")


def _drawable(text: str) -> str:
    r"""Replace control characters and backslashes, which SVG cannot hold.

    The renderer interprets backslashes as JavaScript does: `\b` would become a control character
    again.
    """
    unknown = "\N{REPLACEMENT CHARACTER}"
    return "".join(_PICTURES.get(c, c if c.isprintable() else unknown) for c in text)


_PICTURES = {chr(code): chr(0x2400 + code) for code in range(32)}
_PICTURES["\\"] = "\N{REVERSE SOLIDUS OPERATOR}"
