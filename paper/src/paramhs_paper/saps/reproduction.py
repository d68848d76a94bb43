"""Everything `paramhs reproduce --scenario saps` computes and writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from paramhs.results.landscape.outcomes import Array
from paramhs.values.errors import BadInput
from paramhs.world.targets.saps import SMOOTHINGS, Smoothing
from paramhs_paper.saps import tuning
from paramhs_paper.saps.calls_summary import calls_summary, runs_summary
from paramhs_paper.saps.choices import Choice
from paramhs_paper.saps.landscape_summary import landscape_summary
from paramhs_paper.saps.ranking import (
    AGGREGATIONS,
    Aggregation,
    aggregated,
    chance_of_five,
    five_best,
)
from paramhs_paper.saps.study import Kind, studied, study_tasks
from paramhs_paper.saps.study_summary import choices_summary
from paramhs_paper.saps.table import QUALITIES, Landscape, kept
from paramhs_paper.saps.tuning import ALPHAS, CURVES, Task
from paramhs_paper.scenarios import Curve
from paramhs_paper.several import all_answered
from paramhs_paper.writing import Writing

NOISY_ALPHAS = tuple(range(3, 31, 3))
NOISY_RUNS = (1, 10, 100)
METHODS = ("exact", "search")
_FIRST = ("ubcsat", "plain")


def checked_choice(smoothing: str, aggregation: str) -> tuple[Smoothing, Aggregation]:
    """Both, if there are such."""
    _known("smoothing", smoothing, SMOOTHINGS)
    _known("aggregation", aggregation, AGGREGATIONS)
    return cast(Smoothing, smoothing), cast(Aggregation, aggregation)


def _known(name: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise BadInput(f"there is no {name} {word!r} for saps; there are {', '.join(words)}")


@dataclass
class SapsReproduction:
    """What to compute, how, and where to put it."""

    smoothing: Smoothing = "ubcsat"
    aggregation: Aggregation = "plain"
    method: str = "exact"
    repetitions: int = tuning.REPETITIONS
    seed: int = 0
    jobs: int = 1
    writing: Writing = field(default_factory=Writing)
    advance: Callable[[], object] = field(default=lambda: None)
    """Called after each point."""
    alphas: tuple[int, ...] = ALPHAS

    def __post_init__(self) -> None:
        _known("method", self.method, METHODS)
        for name in ("repetitions", "jobs"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")

    @property
    def choice(self) -> Choice:
        """The table that the figures are made from."""
        return Choice(self.smoothing, self.aggregation)

    def figure1(self, landscape: Landscape | None = None) -> list[dict[str, Any]]:
        """The landscape: the one that comes with the package, or another."""
        found = landscape or kept(self.smoothing)
        costs = aggregated(found, self.aggregation, "best")
        chance = chance_of_five(costs, self.seed)
        name = self._name("figure1_saps")
        self.writing.say(name, landscape_summary(found, self.aggregation, costs, chance))

        def chart() -> Any:
            from paramhs_paper.saps import figures

            title = (
                f"SAPS, {found.smoothing} smoothing: fewest false clauses, {self.aggregation} mean"
                f" over {len(found.instances)} instances, {found.runs_text} runs a cell"
            )
            return figures.landscape_figure(costs, chance, found.alphas, title)

        self.writing.draw(name, chart)
        return self.writing.table(name, self._rows(found, chance))

    def _rows(self, landscape: Landscape, chance: Array) -> list[dict[str, Any]]:
        """One row a setting, with every aggregation and quality."""
        tables = {
            (aggregation, quality): aggregated(landscape, aggregation, quality)
            for aggregation in AGGREGATIONS
            for quality in QUALITIES
        }
        best = five_best(tables[self.aggregation, "best"].mean)
        rows = []
        for a, alpha in enumerate(landscape.alphas):
            for r, rho in enumerate(landscape.rhos):
                row: dict[str, Any] = {"alpha_15": alpha, "rho_15": rho}
                for (aggregation, quality), costs in tables.items():
                    row[f"{aggregation}_{quality}"] = round(float(costs.mean[a, r]), 6)
                    row[f"{aggregation}_{quality}_se"] = round(float(costs.error[a, r]), 6)
                row["null_flips"] = round(float(landscape.null_flips[:, a, r].mean()), 2)
                row["chance_of_five"] = float(chance[a, r])
                row["five_best"] = a * len(landscape.rhos) + r in best
                rows.append(row)
        return rows

    def figure2(self) -> list[dict[str, Any]]:
        """The calls on the table; with a folder also with fresh runs, and (once, with the first
        choice of a table) the study of all choices."""
        answers = list(all_answered(tuning.answered, self._tasks(), self.jobs, self.advance))
        points = [tuning.point_of(answer) for answer in answers]
        deltas = tuning.deltas_of(answers)
        name = self._name("figure2_saps")
        self.writing.say(name, calls_summary(self.choice, points, deltas))
        self._draw(name, "calls_figure", points, f"SAPS: {self.choice.name}")
        self.writing.table(f"{name}_deltas", tuning.as_dicts(deltas))
        if self.writing.out is not None:
            self._choices()
            self._noisy(points)
        return self.writing.table(name, tuning.as_dicts(points))

    def _tasks(self) -> list[Task]:
        """ParamILS is always searched: not all of it can be computed."""

        def task(curve: Curve, count: int) -> Task:
            searched = self.method == "search" or curve.configurator == "paramils"
            repetitions = self.repetitions if searched else 0
            law = curve in tuning.ONE_CALL
            return Task(self.choice, curve, count, repetitions, self.seed, law=law)

        return [task(curve, count) for curve in CURVES for count in self.alphas]

    def _study_tasks(self) -> list[tuple[Kind, Task]]:
        return study_tasks(self.seed, self.alphas) if self.choice == Choice() else []

    def _choices(self) -> None:
        tasks = self._study_tasks()
        if not tasks:
            return
        fits, points = studied(tasks, self.jobs, self.advance)
        self.writing.say("figure2_saps_choices", choices_summary(fits))
        self._draw("figure2_saps_choices", "choices_figure", points)
        self.writing.table("figure2_saps_choices", [fit.to_json() for fit in fits])

    def _noisy(self, points: list[tuning.Point]) -> None:
        """Fresh runs are summed over the instances as they are: nothing is normalised."""
        tasks = self._noisy_tasks()
        if not tasks:
            return
        fresh = [
            tuning.point_of(answer)
            for answer in all_answered(tuning.answered, tasks, self.jobs, self.advance)
        ]
        sizes = {point.size for point in fresh}
        shown = [*fresh, *(point for point in points if point.size in sizes)]
        name = self._name("figure2_saps") + "_runs"
        self.writing.say(name, runs_summary(shown))
        self._draw(name, "runs_figure", shown)
        self.writing.table(name, tuning.as_dicts(shown))

    def _noisy_tasks(self) -> list[Task]:
        if self.aggregation != "plain":
            return []
        return [
            Task(self.choice, curve, count, 0, self.seed, runs)
            for runs in NOISY_RUNS
            for curve in CURVES
            for count in NOISY_ALPHAS
            if count in self.alphas
        ]

    def points_to_compute(self) -> int:
        """How often `advance` will be called for Figure 2."""
        more = len(self._study_tasks()) + len(self._noisy_tasks())
        return len(self._tasks()) + (more if self.writing.out is not None else 0)

    def _name(self, name: str) -> str:
        """Of files: other choices than the first have other names."""
        parts = [part for part in (self.smoothing, self.aggregation) if part not in _FIRST]
        return "_".join([name, *parts])

    def _draw(self, name: str, figure: str, *parts: Any) -> None:
        def chart() -> Any:
            from paramhs_paper.saps import figures

            return getattr(figures, figure)(*parts)

        self.writing.draw(name, chart)
