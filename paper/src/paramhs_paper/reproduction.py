"""Everything the commands compute and write, along one path for all scenarios."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from paramhs_paper import figures, summary, theorems
from paramhs_paper.landscapes import FitnessPoint, fitness_points, setting_rows
from paramhs_paper.points import Task, all_answered, deltas_of, point_of, tasks_of
from paramhs_paper.saps.ranking import aggregated, chance_of_five
from paramhs_paper.saps.summary import landscape_summary
from paramhs_paper.saps.table import Landscape, kept
from paramhs_paper.scenarios import HeuristicScenario, PaperScenario, SapsScenario
from paramhs_paper.writing import Output

STUDY_LANDSCAPES = 20  # random landscapes of each kind and size

Advance = Callable[[], object]


def figure1(scenarios: Sequence[PaperScenario], seed: int, out: Output) -> None:
    """Compute Figure 1, the landscapes."""
    computed: list[FitnessPoint] = []
    for scenario in scenarios:
        if isinstance(scenario, HeuristicScenario):
            points = fitness_points(scenario)
            computed += points
            out.table(f"figure1_{scenario.name}", [asdict(point) for point in points])
            out.draw(f"figure1_{scenario.name}", figures.fitness_figure, points)
    if computed:
        out.say("Figure 1", summary.fitness_summary(computed))
    for scenario in scenarios:
        if isinstance(scenario, SapsScenario):
            settings(kept(scenario.smoothing), scenario.name, seed, out)


def settings(landscape: Landscape, name: str, seed: int, out: Output) -> None:
    """Compute Figure 1 of a measured landscape of SAPS."""
    costs = aggregated(landscape)
    chance = chance_of_five(costs, seed)
    out.say(f"Figure 1, {name}", landscape_summary(landscape, chance))
    title = (
        f"SAPS, {landscape.smoothing} smoothing: fewest false clauses, plain mean over"
        f" {len(landscape.instances)} instances"
    )
    out.draw(f"figure1_{name}", figures.settings_figure, costs, chance, landscape.alphas, title)
    out.table(f"figure1_{name}", setting_rows(landscape, chance))


def figure2_tasks(
    scenarios: Sequence[PaperScenario], searches: int | None, seed: int
) -> list[Task]:
    """All points of Figure 2."""
    return [task for scenario in scenarios for task in tasks_of(scenario, searches, seed)]


def figure2(tasks: Sequence[Task], jobs: int, out: Output, advance: Advance) -> None:
    """Compute Figure 2, the calls and the deltas."""
    answers = list(all_answered(tasks, jobs, advance))
    points, deltas = [point_of(answer) for answer in answers], deltas_of(answers)
    out.say("Figure 2", summary.calls_summary(points, deltas))
    for name in dict.fromkeys(p.scenario for p in points):
        own = [p for p in points if p.scenario == name]
        crosses = [d for d in deltas if d.scenario == name]
        out.draw(f"figure2_{name}", figures.calls_figure, own, crosses)
    out.table("figure2", [asdict(point) for point in points])
    if deltas:
        out.table("figure2_deltas", [asdict(delta) for delta in deltas])


def prove(seed: int, out: Output, advance: Advance) -> None:
    """Compute bounds and exact calls, for one and several parameters, up to a million values."""
    rows = theorems.study_rows(STUDY_LANDSCAPES, seed)
    advance()
    several = theorems.several_rows()
    advance()
    sizes = theorems.growth_rows()
    advance()
    out.say("The theorems", theorems.theorems_summary(rows, several, sizes))
    out.draw("theorems_growth", figures.growth_figure, sizes)
    out.draw("theorems_looseness", figures.looseness_figure, rows)
    out.table("theorems_study", theorems.study_table(rows))
    out.table("theorems_several", [asdict(row) for row in several])
    out.table("theorems_growth", [asdict(row) for row in sizes])
