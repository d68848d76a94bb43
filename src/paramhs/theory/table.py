"""Analysis of a user's table of costs: the shape of its landscape, and the best operator."""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from paramhs.core.errors import BadInput
from paramhs.core.text.quoting import short, shortened
from paramhs.search.operators import Harmonic, LStep, Step, Uniform
from paramhs.theory.bounds import (
    Best,
    best_upper_bound,
    l_step_distance_bound,
    uniform_lower_bound,
)
from paramhs.theory.harmonic_line import harmonic_line_calls
from paramhs.theory.hitting import Bools
from paramhs.theory.kinds import GAP, Kind, kind_of
from paramhs.theory.param_rls import table_chain
from paramhs.theory.unimodality import Floats, Profile, profile

COST = "cost"
MAX_MOVES = 30_000_000  # moves between configurations to compute: about 2 GB
MAX_TIES = 30_000_000  # pairs of configurations of equal cost, which elimination may fill in
_MAX_CHAIN_VALUES = 500  # values up to which a harmonic step is solved as a chain
_MAX_NAMES = 5  # missing configurations named in a message


@dataclass(frozen=True)
class Table:
    """A complete grid: the values of each parameter in order, as written, and all costs."""

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    costs: Floats
    notes: tuple[str, ...] = ()

    @property
    def optimal(self) -> Bools:
        """Mask of the configurations with the best cost, in the order of `costs.ravel()`."""
        return np.asarray(self.costs.ravel() == self.costs.min())

    def config(self, index: int) -> dict[str, str]:
        """Configuration with this index in `costs.ravel()`."""
        indices = np.unravel_index(index, self.costs.shape)
        listed = zip(self.names, self.values, indices, strict=True)
        return {name: values[int(i)] for name, values, i in listed}


def read_table(path: Path) -> Table:
    """Read a CSV file with a header: parameter columns, then `cost`, lower being better.

    A column of numbers is ordered by value, any other by first appearance. Every combination must
    appear exactly once.
    """
    lines = _lines(path)
    number, header = next(lines, (0, []))
    if not header:
        raise BadInput(f"{path} is empty: expected a line of column names, the last one '{COST}'")
    names = _names(path, number, header)
    cells = list(_cells(path, lines, len(header)))
    if len(cells) < 2:
        raise BadInput(f"{path}: at least two rows of values are needed, found {len(cells)}")
    costs = [_cost(path, number, row[-1]) for number, row in cells]
    columns = [_column([row[i] for _, row in cells]) for i in range(len(names))]
    numbers = [number for number, _ in cells]
    grid = _grid(path, names, columns, numbers, costs)
    return Table(names, tuple(c.values for c in columns), grid, _notes(names, columns))


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-blank lines with their numbers, cells stripped."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield reader.line_num, [cell.strip() for cell in row]
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not text in UTF-8") from None
    except csv.Error as error:
        raise BadInput(f"{path}:{reader.line_num}: not a line of CSV: {error}") from None


def _names(path: Path, number: int, header: list[str]) -> tuple[str, ...]:
    line = f"{path}:{number}"
    if header[-1] != COST:
        hint = "; cells are separated by commas" if set(";\t") & set("".join(header)) else ""
        raise BadInput(
            f"{line}: the first line must name the columns, the last one '{COST}',"
            f" not {short(header[-1])}{hint}"
        )
    *names, _ = header
    if not names:
        raise BadInput(f"{line}: there is no parameter column before '{COST}'")
    for name in names:
        if not name or header.count(name) > 1:
            raise BadInput(f"{line}: each column needs a name of its own, not {short(name)}")
    return tuple(names)


def _cells(
    path: Path, lines: Iterator[tuple[int, list[str]]], width: int
) -> Iterator[tuple[int, list[str]]]:
    for number, row in lines:
        if len(row) != width:
            raise BadInput(f"{path}:{number}: expected {width} cells, found {len(row)}")
        if not all(row):
            raise BadInput(f"{path}:{number}: cell {row.index('') + 1} is empty")
        yield number, row


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _cost(path: Path, number: int, text: str) -> float:
    value = _number(text)
    if value is None:
        raise BadInput(f"{path}:{number}: the cost must be a finite number, not {short(text)}")
    return value


@dataclass(frozen=True)
class _Column:
    """Distinct values of a parameter in order, and the index of each row's value."""

    values: tuple[str, ...]
    indices: list[int]
    numeric: bool


def _column(texts: list[str]) -> _Column:
    parsed = [_number(text) for text in texts]
    numbers = [x for x in parsed if x is not None]
    numeric = len(numbers) == len(texts)
    keys: Sequence[float | str] = numbers if numeric else texts
    first = dict(zip(reversed(keys), reversed(texts), strict=True))
    ordered = sorted(set(numbers)) if numeric else list(dict.fromkeys(texts))
    index = {key: i for i, key in enumerate(ordered)}
    return _Column(tuple(first[key] for key in ordered), [index[key] for key in keys], numeric)


def _grid(
    path: Path,
    names: tuple[str, ...],
    columns: list[_Column],
    numbers: list[int],
    costs: list[float],
) -> Floats:
    """Costs with one axis per parameter."""
    seen: dict[tuple[int, ...], int] = {}
    shape = tuple(len(column.values) for column in columns)
    for number, *cell in zip(numbers, *(column.indices for column in columns), strict=True):
        before = seen.setdefault(tuple(cell), number)
        if before != number:
            config = _named(names, columns, cell)
            raise BadInput(f"{path}:{number}: {config} was given in line {before} already")
    if len(seen) < math.prod(shape):
        absent = (p for p in product(*map(range, shape)) if p not in seen)
        examples = [_named(names, columns, p) for p in islice(absent, _MAX_NAMES)]
        missing = math.prod(shape) - len(seen)
        more = f" and {missing - len(examples):,} more" if missing > len(examples) else ""
        raise BadInput(
            f"{path}: the grid of {' x '.join(map(str, shape))} values is not complete;"
            f" missing: {'; '.join(examples)}{more}"
        )
    grid = np.empty(shape)
    grid[tuple(np.array(column.indices) for column in columns)] = costs
    return grid


def _named(names: tuple[str, ...], columns: list[_Column], cell: Sequence[int]) -> str:
    listed = zip(names, columns, cell, strict=True)
    return shortened(", ".join(f"{name}={column.values[i]}" for name, column, i in listed))


def _notes(names: tuple[str, ...], columns: list[_Column]) -> tuple[str, ...]:
    return tuple(
        f"The values of {name} are not all numbers: their order is that of the file."
        for name, column in zip(names, columns, strict=True)
        if not column.numeric
    )


@dataclass(frozen=True)
class OperatorCalls:
    """Mean calls of an operator on a table, with correct comparisons and fair ties."""

    name: str
    calls: float
    """Mean number of calls until an optimum is sampled, from a uniform start."""
    stuck_starts: int = 0
    """Number of configurations from which the search may never reach an optimum."""
    trap: dict[str, str] | None = None
    """Best configuration without a path to an optimum."""

    def to_json(self) -> dict[str, Any]:
        """Convert to plain data; `calls` is null where it is infinite."""
        calls = self.calls if math.isfinite(self.calls) else None
        return {
            "operator": self.name,
            "calls": calls,
            "stuck_starts": self.stuck_starts,
            "trap": self.trap,
        }


@dataclass(frozen=True)
class Near:
    """Calls until any configuration within a few per cent of the best cost is sampled.

    With noise, or on other instances, such configurations are as good as the best, and they are
    often many. The exact best is worth the search only where small differences count.
    """

    configurations: int
    total: int
    operators: tuple[OperatorCalls, ...]

    @property
    def advice(self) -> str:
        """Recommended operator for this aim, with the reason."""
        count = f"{self.configurations:,} of {self.total:,} configurations"
        if self.configurations == self.total:
            return f"All costs are within {GAP:.0%} of the best: any configuration will do."
        calls = sorted(self.operators, key=lambda operator: operator.calls)
        listed = [f"{o.calls:,.1f} with {o.name}" for o in calls if not o.stuck_starts]
        if not listed:
            return f"{count} are within {GAP:.0%} of the best; every operator may miss them all."
        verb = "is" if self.configurations == 1 else "are"
        return f"{count} {verb} within {GAP:.0%} of the best. To sample one takes {_and(listed)}."

    def to_json(self) -> dict[str, Any]:
        """Convert to plain data."""
        return {
            "within": GAP,
            "configurations": self.configurations,
            "operators": [
                {"operator": o.name, "calls": o.calls if math.isfinite(o.calls) else None}
                for o in self.operators
            ],
            "advice": self.advice,
        }


@dataclass(frozen=True)
class Analysis:
    """Everything `paramhs landscape` reports about a table."""

    table: Table
    operators: tuple[OperatorCalls, ...]
    profile: Profile | None
    """Profile of approximate unimodality; None for several parameters."""
    near: Near | None = None
    """Calls to nearly the best cost; None where the best cost is not above 0."""
    kind: Kind | None = None
    """Kind of the landscape; None for several parameters."""

    @cached_property
    def optima(self) -> list[dict[str, str]]:
        """Configurations with the best cost."""
        return [self.table.config(int(i)) for i in np.flatnonzero(self.table.optimal)]

    @cached_property
    def upper_bound(self) -> Best | None:
        """The paper's bound for the harmonic step, at the best point of its profile."""
        return None if self.profile is None else best_upper_bound(self.profile)

    @cached_property
    def lower_bounds(self) -> dict[str, float]:
        """Lower bounds by operator; none if several configurations share the best cost."""
        if len(self.optima) > 1:
            return {}
        moving = [i for i, levels in enumerate(self.table.costs.shape) if levels > 1]
        sizes = [self.table.costs.shape[i] for i in moving]
        best = np.unravel_index(int(np.argmin(self.table.costs)), self.table.costs.shape)
        towards = l_step_distance_bound(sizes, [int(best[i]) for i in moving])
        return {"l-step": float(towards), "uniform": float(uniform_lower_bound(sizes))}

    @property
    def steps(self) -> list[tuple[int, float]]:
        """Points (beta, alpha) at which the profile changes."""
        listed = list(enumerate(self.profile or [], 1))
        return [
            (beta, float(alpha))
            for beta, alpha in listed
            if beta == 1 or alpha != listed[beta - 2][1]
        ]

    @property
    def notes(self) -> list[str]:
        """Notes about the numbers."""
        notes = list(self.table.notes)
        if self.profile is None:
            notes.append(
                "Approximate unimodality and its bound are defined for one parameter, not several."
            )
        if len(self.optima) > 1:
            notes.append(
                f"{len(self.optima)} configurations share the best cost: calls are counted until"
                " any of them is sampled, and there are no lower bounds."
            )
            if self.profile is not None:
                notes.append("The profile is that around the first of them.")
        return notes

    @property
    def advice(self) -> str:
        """Recommended operator, with the reason."""
        return _advice(self.operators)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain data."""
        shape = self.table.costs.shape
        best = self.upper_bound
        return {
            "parameters": dict(zip(self.table.names, shape, strict=True)),
            "configurations": self.table.costs.size,
            "best_cost": float(self.table.costs.min()),
            "optima": self.optima,
            "operators": [operator.to_json() for operator in self.operators],
            "lower_bounds": self.lower_bounds,
            "upper_bound": best
            and {"alpha": float(best.alpha), "beta": best.beta, "calls": best.calls},
            "profile": None
            if self.profile is None
            else [{"beta": beta, "alpha": alpha} for beta, alpha in self.steps],
            "notes": self.notes,
            "near_best": self.near and self.near.to_json(),
            "kind": self.kind and self.kind.to_json(),
            "advice": self.advice,
        }


def analyse(table: Table) -> Analysis:
    """Compute profile, bounds and exact expected calls."""
    table = _without_constants(table)
    several = table.costs.ndim > 1
    if several:
        _check_several(table)
        note = "Moves without replacement are computed for one parameter only."
        table = replace(table, notes=(*table.notes, note))
    shape = None if several else profile(table.costs, int(np.argmin(table.costs)))
    kind = None if several else kind_of(table.costs)
    return Analysis(table, _operators(table), shape, _near(table), kind)


def _near(table: Table) -> Near | None:
    """Count configurations within a few per cent of the best as optima."""
    best = table.costs.min()
    if not best > 0:
        return None
    good = table.costs <= (1 + GAP) * best
    clipped = replace(table, costs=np.where(good, best, table.costs))
    return Near(int(good.sum()), table.costs.size, _operators(clipped))


def _operators(table: Table) -> tuple[OperatorCalls, ...]:
    if table.costs.ndim > 1:
        steps: dict[str, Step] = {"l-step": LStep(), "uniform": Uniform(), "harmonic": Harmonic()}
        return tuple(_on_grid(name, step, table) for name, step in steps.items())
    return (
        _on_grid("l-step", LStep(), table),
        *_uniform_on_one(table),
        _harmonic_on_one(table),
    )


def _check_several(table: Table) -> None:
    if table.costs.size * sum(table.costs.shape) > MAX_MOVES:
        raise BadInput(
            f"{table.costs.size:,} configurations with {sum(table.costs.shape):,} values are too"
            f" many: configurations times values may be {MAX_MOVES:,} at most"
        )
    equal = np.unique(table.costs[table.costs > table.costs.min()], return_counts=True)[1]
    if float((equal.astype(np.float64) ** 2).sum()) > MAX_TIES:
        raise BadInput(
            f"{equal.max():,} configurations have the same cost: this many ties cannot be weighed"
            f" exactly (at most about {int(MAX_TIES**0.5):,})"
        )


def _without_constants(table: Table) -> Table:
    """Reduce a table to one parameter if only one varies."""
    varying = [axis for axis, levels in enumerate(table.costs.shape) if levels > 1]
    if table.costs.ndim == 1 or len(varying) != 1:
        return table
    (axis,) = varying
    return replace(
        table,
        names=(table.names[axis],),
        values=(table.values[axis],),
        costs=table.costs.reshape(-1),
    )


def _uniform_on_one(table: Table) -> list[OperatorCalls]:
    """Calls with and without replacement if k of m values are optima; no comparison matters."""
    levels, best = table.costs.size, int(table.optimal.sum())
    elsewhere = 1 - best / levels
    return [
        OperatorCalls("uniform", elsewhere * (levels - 1) / best),
        OperatorCalls("uniform without replacement", elsewhere * levels / (best + 1)),
    ]


def _harmonic_on_one(table: Table) -> OperatorCalls:
    """Calls of the harmonic step, which never gets stuck because every value is one move away."""
    if table.costs.size <= _MAX_CHAIN_VALUES:
        return _on_grid("harmonic", Harmonic(), table)
    return OperatorCalls("harmonic", harmonic_line_calls(table.costs))


def _on_grid(name: str, step: Step, table: Table) -> OperatorCalls:
    calls = table_chain(table.costs, step).means()
    stuck = np.flatnonzero(np.isinf(calls))
    if not len(stuck):
        return OperatorCalls(name, float(calls.sum() / table.costs.size))
    # Anything better is not stuck, so the best stuck configuration can only reach equal ones.
    others = np.argsort(table.costs, axis=None, kind="stable")[int(table.optimal.sum()) :]
    return OperatorCalls(name, math.inf, len(stuck), table.config(int(others[stuck[0]])))


def _advice(operators: Sequence[OperatorCalls]) -> str:
    best, *others = sorted(operators, key=lambda operator: operator.calls)
    if math.isinf(best.calls):
        return (
            "No operator that moves one parameter at a time always arrives; move several at once,"
            f" or restart. {_stuck(best)}"
        )
    against = [
        f"{other.calls:,.1f} with {other.name}" for other in others if not other.stuck_starts
    ]
    why = f"{best.calls:,.1f} calls on average"
    why += f", against {_and(against)}." if against else "."
    return " ".join([f"Use {best.name}: {why}", *(_stuck(o) for o in others if o.stuck_starts)])


def _stuck(operator: OperatorCalls) -> str:
    where = ", ".join(f"{name}={value}" for name, value in (operator.trap or {}).items())
    return (
        f"With {operator.name} a search may get stuck, at {where} for one,"
        f" from {operator.stuck_starts:,} of the possible starts."
    )


def _and(items: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]]))
