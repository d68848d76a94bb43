"""Everything `paramhs reproduce` computes and writes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramhs.values.errors import BadInput
from paramhs.values.seeds import stream
from paramhs_paper import summary, tables, theorems
from paramhs_paper.exact import scenario_outcomes
from paramhs_paper.scenarios import RUNS, SCENARIOS, PaperScenario
from paramhs_paper.searching import duel_by_bits, duel_by_law
from paramhs_paper.several import all_answered
from paramhs_paper.writing import Writing

MOST_RUNS = 20_000  # in a comparison: its laws take 60 kB a run
FEW_RUNS = (1, 10, 100, 1500)
"""The numbers of runs in a comparison that are shown side by side."""


@dataclass
class Reproduction:
    """What to compute, how, and where to put it (nowhere: only the rows are returned)."""

    scenarios: Sequence[PaperScenario]
    method: str = "exact"
    repetitions: int = 200
    seed: int = 0
    jobs: int = 1
    runs: int = RUNS
    writing: Writing = field(default_factory=Writing)
    advance: Callable[[], object] = field(default=lambda: None)
    """Called after each point."""

    def __post_init__(self) -> None:
        if self.method not in tables.METHODS:
            known = ", ".join(tables.METHODS)
            raise BadInput(f"there is no method {self.method!r}; there are {known}")
        for name in ("repetitions", "jobs", "runs"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.runs > MOST_RUNS:
            raise BadInput(f"runs must be at most {MOST_RUNS:,}, not {self.runs:,}: laws are exact")

    def figure1(self) -> list[dict[str, Any]]:
        """The landscapes."""
        points = [p for scenario in self.scenarios for p in tables.landscape_points(scenario)]
        self.writing.say("figure1", summary.landscape_summary(points))
        for scenario in self.scenarios:
            own = [p for p in points if p.scenario == scenario.name]
            self._draw(f"figure1_{scenario.name}", "landscape_figure", own)
        return self.writing.table("figure1", tables.as_dicts(points))

    def figure2(self) -> list[dict[str, Any]]:
        """The calls, and the deltas."""
        answers = self._answers(self.method, self.runs)
        points = [tables.calls_point(answer) for answer in answers]
        deltas = tables.delta_points(answers)
        self.writing.say("figure2", summary.calls_summary(points, deltas, self.runs))
        few: dict[int, list[tables.CallsPoint]] = {}
        if self.writing.out is not None:
            few = {r: points if r == self.runs else self._points(r) for r in FEW_RUNS}
            self.writing.say("figure2_runs", summary.few_runs_summary(few))
            rows = [{"runs": r, **row} for r in few for row in tables.as_dicts(few[r])]
            self.writing.table("figure2_runs", rows)
        for scenario in self.scenarios:
            own = [p for p in points if p.scenario == scenario.name]
            crosses = [d for d in deltas if d.scenario == scenario.name]
            by_runs = {r: [p for p in few[r] if p.scenario == scenario.name] for r in few}
            self._draw(f"figure2_{scenario.name}", "calls_figure", own, crosses)
            self._draw(f"figure2_{scenario.name}_runs", "runs_figure", by_runs)
        self.writing.table("figure2_deltas", tables.as_dicts(deltas))
        return self.writing.table("figure2", tables.as_dicts(points))

    def theorems(self) -> dict[str, list[dict[str, Any]]]:
        """Bounds against exact calls, and growth to a million values."""
        rows = theorems.study_rows(20, self.seed)
        self.advance()
        sizes = theorems.growth_rows()
        self.advance()
        self.writing.say("theorems", theorems.theorems_summary(rows, sizes))
        self._draw("theorems_growth", "growth_figure", sizes)
        self._draw("theorems_looseness", "looseness_figure", rows)
        return {
            "study": self.writing.table("theorems_study", theorems.study_table(rows)),
            "growth": self.writing.table("theorems_growth", [dict(vars(row)) for row in sizes]),
        }

    def points_to_compute(self, figure2: bool, theorems: bool) -> int:
        """How often `advance` will be called."""
        cells = len(tables.cells(self.scenarios, "exact", 1, 0, 1))
        rounds = 1 + (len([r for r in FEW_RUNS if r != self.runs]) if self.writing.out else 0)
        return cells * rounds * figure2 + 2 * theorems

    def _answers(self, method: str, runs: int) -> list[tables.Answer]:
        wanted = tables.cells(self.scenarios, method, self.repetitions, self.seed, runs)
        return list(all_answered(tables.answered, wanted, self.jobs, self.advance))

    def _points(self, runs: int) -> list[tables.CallsPoint]:
        return [tables.calls_point(answer) for answer in self._answers("exact", runs)]

    def _draw(self, name: str, figure: str, *parts: Any) -> None:
        def chart() -> Any:
            from paramhs_paper import figures

            return getattr(figures, figure)(*parts)

        self.writing.draw(name, chart)


def cost_of_better(name: str, runs: int = RUNS, calls: int = 100_000) -> tuple[float, float]:
    """Seconds for one call of `better` by the law and by simulating every bit, in one run."""
    scenario_outcomes(name, runs)
    by_law, by_bits = duel_by_law(name, runs), duel_by_bits(name, 1)
    rng = stream(0, "cost of better")
    best = SCENARIOS[name].optimum
    by_bits(best, best + 1, rng)  # compiles
    by_bits = duel_by_bits(name, runs)
    begin = time.perf_counter()
    for _ in range(calls):
        by_law(best, best + 1, rng)
    middle = time.perf_counter()
    by_bits(best, best + 1, rng)
    return (middle - begin) / calls, time.perf_counter() - middle
