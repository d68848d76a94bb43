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
from benchmarks.landscapes.configurators import (
    ALGORITHMS,
    BUDGETS,
    CONFIGURATORS,
    Summary,
    read_results,
    summaries,
)
from benchmarks.landscapes.labs import CASES, SPACES
from benchmarks.landscapes.measure import ERROR
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
_PAIR = ("harmonic, no repetition", "random, no repetition")

_AFTER = tuple(f"{runs:,} runs" for runs in BUDGETS)

Facts = Mapping[str, str]
Key = tuple[str, str, str]


def write_page(ones: Sequence[Measured]) -> None:
    """Write the figures, and the tables between their marks."""
    from benchmarks.landscapes.analyse import read_calls, read_finer, read_shapes

    shapes, calls = read_shapes(), read_calls()
    kinds = {_key(row): row["kind"] for row in shapes}
    _figure("shapes", figures.small_multiples(_groups(ones, kinds)))
    table = Table(calls, kinds)
    columns = dict(_dots(table))
    means = [dot.mean for some in columns.values() for dot in some]
    axis = figures.Axis(max(0.5, 0.9 * min(means)), 1.1 * max(means), _CALL_TICKS)
    _figure("calls", figures.dots(columns, OPERATORS, tuple(_RUNS.values()), axis, _DOTS_TITLE))
    rows = [f"{case}, {name}" for case in CASES for name in ALGORITHMS]
    _figure("searches", figures.dots(_ratios(), rows, _AFTER, _RATIO_AXIS, _RATIO_TITLE))
    parts = {
        "measured": measured_table(ones),
        "again": again_table(),
        "kinds": kinds_table(shapes),
        "kinds by solver": solver_table(shapes),
        "calls": calls_table(table),
        "goals": goals_table(table),
        "harmonic": harmonic_table(table),
        "finer": finer_table(read_finer()),
        "width": width_table(table, shapes),
        "pooled": pooled_table(),
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
        within = sum(error <= ERROR for error in errors)
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


def again_table() -> Iterator[str]:
    """Runs that were made once more, and those with the kept work."""
    found = json.loads((DATA / "again.json").read_text(encoding="utf-8"))
    rows = ((name, f"{one['runs']:,}", f"{one['same']:,}") for name, one in found.items())
    return _rows(("solver", "runs made again", "the same work"), rows)


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

    def call(self, operator: str, runs: int, goal: float, key: Key) -> float:
        """Calls on one landscape."""
        return self._calls[operator, runs, goal][key][0]

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
        for mine_name, other in (("harmonic", "random"), _PAIR):
            mine = table.calls(mine_name, runs, goal, kind)
            theirs = table.calls(other, runs, goal, kind)
            pairs = list(zip(mine, theirs, strict=True))
            cells += [_ratio(pairs), f"{sum(a < b for a, b in pairs)} of {len(pairs)}"]
        return name, _RUNS[runs], _GOALS[goal], *cells

    header = (
        "kind", "comparisons", "goal", "harmonic / random", "fewer calls on",
        "both without repetition", "fewer calls on",
    )  # fmt: skip
    kinds: list[str | None] = [kind for kind in _SHAPED if table.keys(kind)]
    rows = [(kind, runs, 0.0) for kind in [*kinds, None] for runs in _RUNS]
    rows += [(None, runs, goal) for goal in (0.02, 0.05) for runs in _RUNS]
    return _rows(header, (row(*one) for one in rows))


def width_table(table: Table, shapes: Sequence[Facts]) -> Iterator[str]:
    """Harmonic steps against uniform values to within 2 %, by the number of values that are."""
    near = {_key(s): int(s["near"]) for s in shapes}

    def row(low: int, high: int) -> Sequence[object]:
        cells = [
            _ratio(
                [
                    tuple(table.call(name, runs, 0.02, key) for name in _PAIR)
                    for key in table.keys(None)
                    if low <= near[key] <= high
                ]
            )
            for runs in _RUNS
        ]
        count = sum(low <= near[key] <= high for key in table.keys(None))
        return f"{low} to {high}" if low < high else low, count, *cells

    header = ("values within 2 %", "landscapes", *_RUNS.values())
    return _rows(header, (row(*span) for span in ((1, 2), (3, 5), (6, 33))))


def _ratio(pairs: Sequence[tuple[float, ...]]) -> str:
    """Geometric mean of the ratios of calls, plus one because both may be 0."""
    mean, error = _mean([math.log((a + 1) / (b + 1)) for a, b in pairs])
    spread = "" if math.isnan(error) else f" ± {math.exp(mean) * error:.2f}"
    return f"{math.exp(mean):.2f}{spread}"


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

    header = ("values", "goal", "harmonic", _PAIR[1], "ratio", "harmonic needs fewer on")
    return _rows(header, (row(*key) for key in sorted(cells, key=lambda key: (key[1], key[0]))))


_DOTS_TITLE = "Mean calls until the best of 33 values is sampled; bars: two standard errors"


_CALL_TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_RATIO_AXIS = figures.Axis(0.7, 1.43, (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4))
_RATIO_TITLE = (
    "Held-out cost with harmonic over uniform steps, seed by seed; bars: two standard errors"
)


def _ratios() -> dict[str, list[figures.Dot]]:
    found = summaries(read_results())
    return {
        space: [
            figures.Dot(f"{key[4]:,} runs", f"{key[0]}, {key[2]}", one.ratio, one.ratio_error)
            for key, one in found.items()
            if key[1] == space and key[3] == "harmonic"
        ]
        for space in SPACES
        if any(key[1] == space for key in found)
    }


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


def pooled_table() -> Iterator[str]:
    """Ratios to uniform steps, over the solvers: geometric means, the solvers being fixed."""
    found = summaries(read_results())
    names = list(dict.fromkeys(key[1:4] for key in found if key[3] != "uniform"))

    def cell(name: tuple[str, str, str], runs: int) -> str:
        some = [one for key, one in found.items() if key[1:] == (*name, runs)]
        mean = math.exp(fmean(math.log(one.ratio) for one in some))
        error = math.hypot(*(one.ratio_error / one.ratio for one in some)) / len(some)
        return f"{mean:.3f} ± {mean * error:.3f}"

    def row(name: tuple[str, str, str]) -> Sequence[object]:
        last = [one for key, one in found.items() if key[1:] == (*name, BUDGETS[-1])]
        wins, losses = sum(one.wins for one in last), sum(one.losses for one in last)
        return *name, len(last), *(cell(name, runs) for runs in BUDGETS), f"{wins}, {losses}"

    header = ("values", "configurator", "operator", "solvers", *_AFTER, "better, worse")
    return _rows(header, map(row, sorted(names, key=_place)))


def _place(name: Sequence[str]) -> tuple[int, int]:
    """Place of a row: by space, then as the configurators are listed."""
    return SPACES.index(name[0]), list(CONFIGURATORS).index((name[1], name[2]))


def configurators_table() -> Iterator[str]:
    """Held-out costs of whole configurators, and their ratio to uniform steps."""
    found = summaries(read_results())
    names = sorted(
        {key[:4] for key in found}, key=lambda key: (list(CASES).index(key[0]), _place(key[1:]))
    )

    def cell(one: Summary) -> str:
        return f"{one.cost:.3f} ± {one.error:.3f}"

    def row(name: tuple[str, str, str, str]) -> Sequence[object]:
        mine = [found[*name, runs] for runs in BUDGETS]
        last = mine[-1]
        versus = "" if name[3] == "uniform" else f"{last.ratio:.3f} ± {last.ratio_error:.3f}"
        wins = "" if name[3] == "uniform" else f"{last.wins}, {last.losses}"
        return *name, last.searches, *map(cell, mine), versus, wins

    header = (
        "solver", "values", "configurator", "operator", "seeds", *_AFTER,
        "over uniform, at the end", "better, worse",
    )  # fmt: skip
    return _rows(header, map(row, names))


def needed(shape: Facts) -> str:
    """Runs on each instance that standard errors of 2 % take; nothing where they are reached."""
    error, copies = float(shape["error"]), int(shape["copies"])
    return "" if error <= ERROR else f"{math.ceil(copies * (error / ERROR) ** 2)}"


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
            s["copies"],
            needed(s),
            f"{float(s['alpha']):.1f}",
            f"{s['beta']} ({float(s['beta_low']):.0f} to {float(s['beta_high']):.0f})",
            s["beta_needed"],
            f"{float(s['valley_p']):.2f}",
        )

    header = (
        "solver", "parameter", "kind", "as measured", "worst over best", "best saves",
        "largest error", "runs", "runs for 2 %", "alpha at beta = 1",
        "beta at alpha = 2 (redrawn 5 % to 95 %)", "beta beyond noise", "p of one valley",
    )  # fmt: skip
    return _rows(header, map(row, shapes))
