"""Searches with and without capping: `python -m benchmarks.studies.capping.searching`.

The same budget of target time for each, the same seeds; PAR10 of the incumbent on the instances
that the search does not see, as time passes. Everything is replayed from the collected runs, so
the machine's noise changes nothing. Writes docs/benchmarks/capping.svg and prints the table of
docs/benchmarks/capping.md.
"""

import argparse
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from benchmarks.studies.capping.collect import CADICAL, MINISAT, Family, text
from benchmarks.studies.capping.replaying import Replayed, halves, replayed, scenario, space
from paramhs.core.capping import Capping
from paramhs.core.runs import Status
from paramhs.execution.driver import Budget, Driver
from paramhs.execution.storage import MemoryStore
from paramhs.search.comparison import FixedRuns, Growing
from paramhs.search.configurators import Configurator, IteratedRace, ParamHS, ParamILS
from paramhs.search.history import History
from paramhs.search.operators import Harmonic, OneParameter, SeveralParameters

DOCS = Path(__file__).parents[3] / "docs" / "benchmarks"
CAPPINGS = {
    "none": Capping(),
    "preserving": Capping("preserving"),
    "aggressive": Capping("aggressive"),
    "factor 2": Capping("aggressive", 2),
}
CONFIGURATORS: dict[str, Configurator] = {
    "ParamHS": ParamHS(SeveralParameters(), Growing(min_runs=3)),
    "FocusedILS": ParamILS(),
    "FocusedILS, harmonic": ParamILS(OneParameter(Harmonic())),
    "BasicILS(100)": ParamILS(comparison=FixedRuns()),
    "BasicILS(100), harmonic": ParamILS(OneParameter(Harmonic()), FixedRuns()),
    "Race": IteratedRace(),
}
BUDGETS = {"minisat": 200.0, "cadical": 30.0}  # seconds of target time
STEPS = 50  # times at which a curve is drawn


class Study(NamedTuple):
    """A family, and the configuration where its searches begin."""

    name: str
    target: Replayed
    default: str

    @property
    def family(self) -> Family:
        """The solver and its formulas."""
        return self.target.family

    @property
    def seconds(self) -> float:
        """The budget of target time."""
        return BUDGETS[self.family.name]


class Searched(NamedTuple):
    """What became of one search."""

    races: Sequence[float]
    """When each was decided, in seconds."""
    cut: int
    """How many runs were cut short."""
    points: Sequence[tuple[float, float]]
    """Seconds, and the incumbent's PAR10 elsewhere from then on."""

    def cost_at(self, seconds: float) -> float:
        """The PAR10 at this time."""
        return next(cost for at, cost in reversed(self.points) if at <= seconds)


class Curve(NamedTuple):
    """Many searches that differ in their seeds."""

    searched: Sequence[Searched]
    seconds: float

    def at(self, seconds: float) -> list[float]:
        """The PAR10 of each at this time."""
        return [one.cost_at(seconds) for one in self.searched]

    @property
    def steps(self) -> list[float]:
        """The times at which it is drawn."""
        return [self.seconds * k / STEPS for k in range(1, STEPS + 1)]

    def decided(self, seconds: float) -> float:
        """How many races are decided by then, in the mean."""
        return fmean(bisect(one.races, seconds) for one in self.searched)

    def faster(self, other: "Curve") -> float:
        """How many times sooner it has decided as many races as the other in the end."""
        pairs = [(a.races, b.races) for a, b in zip(self.searched, other.searched, strict=True)]
        pairs = [(a, b) for a, b in pairs if a and b]
        last = [min(len(a), len(b)) - 1 for a, b in pairs]
        mine = sum(a[k] for (a, _), k in zip(pairs, last, strict=True))
        return sum(b[k] for (_, b), k in zip(pairs, last, strict=True)) / mine if mine else 1.0


def studies() -> Iterator[Study]:
    """Each family from the solver's default; the first also from what times out most."""
    for family in (MINISAT, CADICAL):
        yield Study(family.name, replayed(family), "")
    family = MINISAT
    target, (train, _) = replayed(family), halves(family)
    worst = max(space(family).configs(), key=lambda config: target.cost(config, train))
    yield Study(f"{family.name}, badly set", target, text(worst.as_dict()))


def search(study: Study, rules: Configurator, capping: Capping, seed: int) -> Searched:
    """One search in the time that the work stands for."""
    train, test = halves(study.family)
    history = History(scenario(study.family, train, capping, study.default), seed)
    store, budget = MemoryStore(), Budget(target_time=study.seconds)
    driver = Driver(rules.search(history), history, study.target, store, budget)
    driver.run()
    points = [(p.target_time, study.target.cost(p.config, test)) for p in driver.record.trajectory]
    points[0] = (0.0, points[0][1])
    passed = [0.0, *accumulate(run.runtime for run in history.runs)]
    races = [passed[race.asked] for race in history.races]
    return Searched(races, sum(run.status is Status.CAPPED for run in history.runs), points)


def curve(study: Study, name: str, capping: str, seeds: int) -> Curve:
    """Mean curve over several seeds."""
    rules = CONFIGURATORS[name]
    made = [search(study, rules, CAPPINGS[capping], seed) for seed in range(seeds)]
    return Curve(made, study.seconds)


def row(study: Study, name: str, capping: str, now: Curve, none: Curve) -> str:
    """A line of the table."""
    costs = now.at(study.seconds)
    cells = [
        *(study.name, name, capping),
        f"{fmean(len(one.races) for one in now.searched):.0f}",
        f"{fmean(one.cut for one in now.searched):.0f}",
        f"{now.faster(none):.2f}",
        f"{fmean(now.at(study.seconds / 4)):.3f}",
        f"{fmean(costs):.3f} ± {stdev(costs) / len(costs) ** 0.5:.3f}",
    ]
    return f"| {' | '.join(cells)} |"


def figure(curves: Sequence[tuple[str, str, Curve]]) -> Any:
    """How many races are decided as time passes, the mean over seeds, one panel a study."""
    import altair as alt

    rows = [
        {"study": study, "capping": capping, "target time in s": t, "races": one.decided(t)}
        for study, capping, one in curves
        for t in one.steps
    ]
    lines = (
        alt.Chart(width=200, height=170)
        .mark_line()
        .encode(
            alt.X("target time in s:Q"),
            alt.Y("races:Q", title="races decided"),
            alt.Color("capping:N", sort=list(CAPPINGS)),
            alt.StrokeDash("capping:N", sort=list(CAPPINGS), legend=None),
        )
    )
    chart = lines.facet(alt.Facet("study:N", title=None), data=alt.Data(values=rows), columns=3)
    return chart.resolve_scale(x="independent", y="independent")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", choices=CONFIGURATORS, nargs="*", default=list(CONFIGURATORS))
    args = parser.parse_args()
    print("| runs of | search | capping | races | cut short | faster | after 1/4 | in the end |")
    print("|---|---|---|---|---|---|---|---|")
    drawn = []
    for study in studies():
        for name in args.only:
            kinds = [kind for kind in CAPPINGS if name == "ParamHS" or kind != "factor 2"]
            kinds = kinds[:1] if name == "Race" else kinds  # which cuts nothing short
            curves = {capping: curve(study, name, capping, args.seeds) for capping in kinds}
            for capping, one in curves.items():
                print(row(study, name, capping, one, curves["none"]), flush=True)
                if name == "ParamHS":
                    drawn.append((study.name, capping, one))
    if drawn:
        from paramhs.report.chart_files import draw

        draw(figure(drawn), DOCS, "capping", ("svg",))


if __name__ == "__main__":
    main()
