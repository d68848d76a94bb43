"""The tables and figures of docs/explanation/landscapes.md, from the kept tables."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, stdev

from benchmarks.landscapes import figures
from benchmarks.landscapes.calls import OPERATORS
from benchmarks.landscapes.configurators import Summary, read_results, summaries
from benchmarks.landscapes.shapes import KINDS
from benchmarks.landscapes.tables import DATA, Measured
from benchmarks.landscapes.targets import ABOUT

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "landscapes.md"
_MARK = "<!-- {}: `python -m benchmarks.landscapes.analyse page` writes this -->"
_END = "<!-- end -->"
_SHAPED = ("unimodal", "approximately unimodal", "neither")
"""Kinds on which it matters which value is taken."""
_RUNS = {0: "always correct", 20: "20 runs", 5: "5 runs", 1: "1 run"}
_GOALS = {0.0: "the best", 0.02: "within 2 %", 0.05: "within 5 %"}
_AGAINST = "random, no repetition"

Facts = Mapping[str, str]
Key = tuple[str, str, str]


def write_page(ones: Sequence[Measured]) -> None:
    """Write the figures, and the tables between their marks."""
    from benchmarks.landscapes.analyse import read_calls, read_finer, read_shapes

    shapes, calls = read_shapes(), read_calls()
    kinds = {_key(row): row["kind"] for row in shapes}
    _figure("shapes", figures.small_multiples(_groups(ones, kinds)))
    table = Table(calls, kinds)
    _figure("calls", figures.dots(dict(_dots(table)), OPERATORS, _DOTS_TITLE))
    parts = {
        "measured": measured_table(ones),
        "kinds": kinds_table(shapes),
        "kinds by solver": solver_table(shapes),
        "calls": calls_table(table),
        "goals": goals_table(table),
        "harmonic": harmonic_table(table),
        "finer": finer_table(read_finer()),
        "configurators": configurators_table(),
        "parameters": parameters_table(shapes),
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in parts.items():
        text = _replaced(text, name, "\n".join(lines))
    PAGE.write_text(text, encoding="utf-8")


def _figure(name: str, svg: str) -> None:
    (PAGE.parent / f"landscapes-{name}.svg").write_text(svg, encoding="utf-8")


def _replaced(text: str, name: str, table: str) -> str:
    mark = _MARK.format(name)
    pattern = re.compile(rf"{re.escape(mark)}.*?{re.escape(_END)}", re.S)
    if not pattern.search(text):
        raise ValueError(f"{PAGE} has no place for {name}: {mark}")
    return pattern.sub(lambda _: f"{mark}\n\n{table}\n\n{_END}", text, count=1)


def _key(row: Facts) -> Key:
    return row["solver"], row["base"], row["parameter"]


def _rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def _groups(ones: Sequence[Measured], kinds: Mapping[Key, str]) -> dict[str, list[figures.Panel]]:
    defaults = json.loads((DATA / "defaults.json").read_text(encoding="utf-8"))
    groups: dict[str, list[figures.Panel]] = defaultdict(list)
    for one in ones:
        about = ABOUT[one.solver]
        title = f"{about.title} ({about.kind}), {about.unit}"
        if one.base != "default":
            title += ", at a tuned configuration"
        default = defaults[one.solver][one.parameter] if one.base == "default" else None
        position = None if default is None else _position(one.values, float(default))
        kind = kinds[one.solver, one.base, one.parameter]
        groups[title].append(figures.Panel(one, kind, position))
    order = {kind: k for k, kind in enumerate(reversed(KINDS))}
    return {
        title: sorted(panels, key=lambda panel: order[panel.kind])
        for title, panels in groups.items()
    }


def _position(values: Sequence[float], default: float) -> float | None:
    """Where the default lies between the values, counted in values; None outside."""
    if not values[0] <= default <= values[-1]:
        return None
    after = next(k for k, value in enumerate(values) if value >= default)
    if values[after] == default or after == 0:
        return float(after)
    low, high = values[after - 1], values[after]
    return after - 1 + (default - low) / (high - low)


def measured_table(ones: Sequence[Measured]) -> Iterator[str]:
    """What was run on each solver."""

    def row(name: str) -> Sequence[object]:
        mine = [one for one in ones if one.solver == name]
        runs = sum(one.ratios.size for one in mine)
        errors = [float(one.errors.max()) for one in mine]
        copies = [one.ratios.shape[1] for one in mine]
        within = sum(error <= 0.02 for error in errors)
        tuned = sum(one.base != "default" for one in mine)
        return (
            *ABOUT[name],
            f"{len(mine) - tuned}" + (f" + {tuned} tuned" if tuned else ""),
            f"{runs:,}",
            f"{min(copies)} to {max(copies)}",
            f"{within} of {len(mine)}",
            f"{median(errors):.1%}".replace("%", " %"),
            f"{max(errors):.1%}".replace("%", " %"),
        )

    header = (
        "solver", "kind", "work", "parameters", "runs", "runs on an instance",
        "all errors below 2 %", "median of the largest error", "largest error",
    )  # fmt: skip
    return _rows(header, map(row, dict.fromkeys(one.solver for one in ones)))


def kinds_table(shapes: Sequence[Facts]) -> Iterator[str]:
    """Number of parameters of each kind, as measured and with the uncertainty."""

    def row(kind: str) -> Sequence[object]:
        mine = [s for s in shapes if s["kind"] == kind]
        as_measured = sum(s["kind_as_measured"] == kind for s in shapes)
        if not mine:
            return kind, as_measured, 0, "", "", "", ""
        return (
            kind,
            as_measured,
            len(mine),
            f"{median(float(s['range']) for s in mine):.0%}".replace("%", " %"),
            f"{median(float(s['gain']) for s in mine):.1%}".replace("%", " %"),
            _span(mine, "beta"),
            _span(mine, "beta_needed"),
        )

    header = (
        "kind", "as measured", "with the uncertainty", "worst over best value",
        "best value saves", "beta at alpha = 2, as measured", "beta that noise does not explain",
    )  # fmt: skip
    total = ("all", len(shapes), len(shapes), "", "", "", "")
    return _rows(header, [*map(row, KINDS), total])


def _span(rows: Sequence[Facts], name: str) -> str:
    values = sorted(float(row[name]) for row in rows)
    return f"{median(values):.0f} ({values[0]:.0f} to {values[-1]:.0f})"


def solver_table(shapes: Sequence[Facts]) -> Iterator[str]:
    """Number of parameters of each kind by solver."""
    solvers = dict.fromkeys((s["solver"], s["base"]) for s in shapes)

    def row(solver: str, base: str) -> Sequence[object]:
        mine = [s["kind"] for s in shapes if (s["solver"], s["base"]) == (solver, base)]
        name = solver if base == "default" else f"{solver}, tuned"
        return name, *(mine.count(kind) for kind in KINDS)

    return _rows(("solver", *KINDS), (row(*key) for key in solvers))


class Table:
    """Calls by kind, number of runs and goal."""

    def __init__(self, calls: Sequence[Facts], kinds: Mapping[Key, str]) -> None:
        self._calls: dict[tuple[str, int, float], dict[Key, tuple[float, float]]] = defaultdict(
            dict
        )
        for row in calls:
            which = row["operator"], int(row["runs"]), float(row["goal"])
            self._calls[which][_key(row)] = float(row["calls"]), float(row["missed"])
        self.kinds = kinds

    def keys(self, kind: str | None) -> list[Key]:
        """Landscapes of a kind; those of all kinds with a shape."""
        known = self._calls["harmonic", 0, 0.0]
        wanted = _SHAPED if kind is None else (kind,)
        return [key for key in known if self.kinds.get(key) in wanted]

    def calls(self, operator: str, runs: int, goal: float, kind: str | None) -> list[float]:
        """Calls on each landscape of a kind, infinite where an operator gets stuck."""
        found = self._calls[operator, runs, goal]
        return [found[key][0] for key in self.keys(kind)]

    def missed(self, operator: str, runs: int, goal: float, kind: str | None) -> float:
        """Mean part of the starts, or searches, that never arrive."""
        found = self._calls[operator, runs, goal]
        return fmean(found[key][1] for key in self.keys(kind))


def _mean(values: Sequence[float]) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return math.inf, math.nan
    error = stdev(finite) / math.sqrt(len(finite)) if len(finite) > 1 else math.nan
    return fmean(finite), error


def _cell(table: Table, operator: str, runs: int, goal: float, kind: str | None) -> str:
    values = table.calls(operator, runs, goal, kind)
    mean, error = _mean(values)
    missed = table.missed(operator, runs, goal, kind)
    note = f" ({missed:.0%} stuck)".replace("%", " %") if missed > 0.005 else ""
    if not math.isfinite(mean):
        return "never" + note
    return (f"{mean:.1f}" if math.isnan(error) else f"{mean:.1f} ± {error:.1f}") + note


def calls_table(table: Table) -> Iterator[str]:
    """Calls to the best value, by operator, kind and noise."""
    header = ["operator"]
    columns: list[tuple[str | None, int]] = [(kind, 0) for kind in _SHAPED if table.keys(kind)]
    header += [f"{kind} ({len(table.keys(kind))})" for kind, _ in columns]
    columns += [(None, runs) for runs in (20, 5, 1)]
    header += [f"all, {_RUNS[runs]}" for runs in (20, 5, 1)]
    return _rows(
        header,
        (
            (name, *(_cell(table, name, runs, 0.0, kind) for kind, runs in columns))
            for name in OPERATORS
        ),
    )


def goals_table(table: Table) -> Iterator[str]:
    """Calls to the best value, and to nearly the best, on all landscapes with a shape."""
    columns = [(runs, goal) for runs in (0, 5) for goal in _GOALS]
    header = ["operator", *(f"{_GOALS[goal]}, {_RUNS[runs]}" for runs, goal in columns)]
    return _rows(
        header,
        ((name, *(_cell(table, name, *column, None) for column in columns)) for name in OPERATORS),
    )


def harmonic_table(table: Table) -> Iterator[str]:
    """Harmonic steps against uniform values, landscape by landscape."""

    def row(kind: str | None, runs: int, goal: float) -> Sequence[object]:
        name = f"{kind or 'all'} ({len(table.keys(kind))})"
        cells = []
        for mine_name, other in (("harmonic", "random"), ("harmonic, no repetition", _AGAINST)):
            mine = table.calls(mine_name, runs, goal, kind)
            theirs = table.calls(other, runs, goal, kind)
            logs = [math.log((a + 1) / (b + 1)) for a, b in zip(mine, theirs, strict=True)]
            mean, error = _mean(logs)
            fewer = sum(a < b for a, b in zip(mine, theirs, strict=True))
            spread = "" if math.isnan(error) else f" ± {math.exp(mean) * error:.2f}"
            cells += [f"{math.exp(mean):.2f}{spread}", f"{fewer} of {len(mine)}"]
        return name, _RUNS[runs], _GOALS[goal], *cells

    header = (
        "kind", "comparisons", "goal", "harmonic / random", "fewer calls on",
        "both without repetition", "fewer calls on",
    )  # fmt: skip
    kinds: list[str | None] = [kind for kind in _SHAPED if table.keys(kind)]
    rows = [(kind, runs, 0.0) for kind in [*kinds, None] for runs in _RUNS]
    rows += [(None, runs, goal) for goal in (0.02, 0.05) for runs in _RUNS]
    return _rows(header, (row(*one) for one in rows))


def finer_table(rows: Sequence[Facts]) -> Iterator[str]:
    """Calls on the valleys drawn through the measured values, with more and more values."""
    cells: dict[tuple[int, float], list[Facts]] = defaultdict(list)
    for row in rows:
        cells[int(row["levels"]), float(row["goal"])].append(row)

    def row(levels: int, goal: float) -> Sequence[object]:
        mine = cells[levels, goal]
        ratios = [(float(r["harmonic"]) + 1) / (float(r["random"]) + 1) for r in mine]
        mean, error = _mean([math.log(ratio) for ratio in ratios])
        means = [_mean([float(r[name]) for r in mine]) for name in ("harmonic", "random")]
        return (
            f"{levels:,}",
            _GOALS[goal],
            *(f"{value:.1f} ± {spread:.1f}" for value, spread in means),
            f"{math.exp(mean):.2f} ± {math.exp(mean) * error:.2f}",
            f"{sum(ratio < 1 for ratio in ratios)} of {len(mine)}",
        )

    header = ("values", "goal", "harmonic", _AGAINST, "ratio", "harmonic needs fewer on")
    return _rows(header, (row(*key) for key in sorted(cells, key=lambda key: (key[1], key[0]))))


_DOTS_TITLE = "Mean calls until the best of 33 values is sampled; bars: two standard errors"


def _dots(table: Table) -> Iterator[tuple[str, list[figures.Dot]]]:
    for kind in [kind for kind in _SHAPED if table.keys(kind)]:
        some = []
        for operator in OPERATORS:
            for runs in _RUNS:
                mean, error = _mean(table.calls(operator, runs, 0.0, kind))
                if math.isfinite(mean) and table.missed(operator, runs, 0.0, kind) < 0.005:
                    shown = 0.0 if math.isnan(error) else min(error, 0.45 * mean)
                    some.append(figures.Dot(_RUNS[runs], operator, mean, shown))
        yield f"{kind} ({len(table.keys(kind))})", some


def configurators_table() -> Iterator[str]:
    """Held-out costs of whole configurators, and their ratio to uniform steps."""
    found = summaries(read_results())
    names = list(dict.fromkeys((key[0], key[1], key[2], key[3]) for key in found))

    def cell(one: Summary | None) -> str:
        return "" if one is None else f"{one.cost:.3f} ± {one.error:.3f}"

    def row(name: tuple[str, str, str, str]) -> Sequence[object]:
        mine = [found.get((*name, runs)) for runs in (100, 300, 1_000)]
        last = next(one for one in reversed(mine) if one is not None)
        versus = "" if name[3] == "uniform" else f"{last.ratio:.3f} ± {last.ratio_error:.3f}"
        wins = "" if name[3] == "uniform" else f"{last.wins}, {last.losses}"
        return *name, last.searches, *map(cell, mine), versus, wins

    header = (
        "solver", "values", "configurator", "operator", "seeds", "100 runs", "300 runs",
        "1,000 runs", "over uniform, at the end", "better, worse",
    )  # fmt: skip
    return _rows(header, map(row, names))


def parameters_table(shapes: Sequence[Facts]) -> Iterator[str]:
    """Every parameter with its shape."""

    def row(s: Facts) -> Sequence[object]:
        name = s["parameter"] + ("" if s["base"] == "default" else ", tuned")
        return (
            s["solver"],
            f"`{name}`",
            s["kind"],
            s["kind_as_measured"],
            f"{float(s['range']):.1%}".replace("%", " %"),
            f"{float(s['gain']):.1%}".replace("%", " %"),
            f"{float(s['error']):.1%}".replace("%", " %"),
            f"{float(s['alpha']):.1f}",
            f"{s['beta']} ({float(s['beta_low']):.0f} to {float(s['beta_high']):.0f})",
            s["beta_needed"],
            f"{float(s['valley_p']):.2f}",
        )

    header = (
        "solver", "parameter", "kind", "as measured", "worst over best", "best saves",
        "largest error", "alpha at beta = 1", "beta at alpha = 2 (redrawn 5 % to 95 %)",
        "beta beyond noise", "p of one valley",
    )  # fmt: skip
    return _rows(header, map(row, shapes))
