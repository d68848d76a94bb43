"""The paper's scenarios and curves."""

from dataclasses import dataclass

from paramhs.search.comparison import Comparison
from paramhs.search.configurators import Configurator, ParamILS, ParamRLS
from paramhs.search.operators import BothSides, Harmonic, LStep, One, Operator, Uniform
from paramhs.values.errors import BadInput
from paramhs.values.space import Integer, Space
from paramhs_paper.heuristics import Heuristic, LeadingOnes, OneMax, Ridge

RUNS = 1500
SIZES = tuple(range(5, 51, 5))


@dataclass(frozen=True)
class PaperScenario:
    """One parameter of one search heuristic, with growing numbers of values."""

    name: str
    title: str
    heuristic: Heuristic
    symbol: str
    values: tuple[float, ...]
    optimum: int
    """The index of the best value."""
    step: int
    """The l of its l-step curve."""
    sizes: tuple[int, ...] = SIZES


SCENARIOS = {
    s.name: s
    for s in (
        PaperScenario(
            "ridge", "(1+1) EA on Ridge", Ridge(50, 2500), "chi",
            tuple(0.5 + 0.5 * i for i in range(50)), 1, 1,
        ),
        PaperScenario(
            "leadingones", "(1+1) EA on LeadingOnes", LeadingOnes(50, 2500), "chi",
            tuple(round(0.6 + 0.5 * i, 1) for i in range(50)), 2, 1,
        ),
        PaperScenario(
            "onemax", "RLS_k on OneMax", OneMax(50, 200), "k",
            tuple(float(k) for k in range(1, 51)), 0, 2,
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """A configurator with an operator, under the names of the tables."""

    configurator: str
    operator: str

    @property
    def name(self) -> str:
        """Such as paramrls/harmonic."""
        return f"{self.configurator}/{self.operator}"


CURVES = (
    Curve("paramrls", "l-step"),
    Curve("paramrls", "random-with-replacement"),
    Curve("paramrls", "random-without-replacement"),
    Curve("paramrls", "harmonic"),
    Curve("paramrls", "harmonic-both-sides"),
    Curve("paramils", "random"),
    Curve("paramils", "harmonic"),
)

DELTAS = (
    (Curve("paramrls", "harmonic"), Curve("paramrls", "l-step")),
    (Curve("paramrls", "harmonic"), Curve("paramrls", "random-with-replacement")),
    (Curve("paramrls", "harmonic"), Curve("paramrls", "random-without-replacement")),
    (Curve("paramils", "harmonic"), Curve("paramils", "random")),
)
"""The pairs between which the paper gives Cliff's delta."""


def space_of(size: int) -> Space:
    """So many values, by their indices."""
    return Space({"value": Integer(0, size - 1)})


def operator_of(curve: Curve, step: int) -> Operator:
    """The operator behind a curve of ParamRLS, or of ParamILS's local search."""
    if curve.operator == "l-step":
        return One(LStep(step))
    if curve.operator == "harmonic-both-sides":
        return BothSides()
    return One(Harmonic() if curve.operator == "harmonic" else Uniform())


def configurator_of(curve: Curve, step: int, comparison: Comparison) -> Configurator:
    """The real configurator behind a curve, in the theory's setting."""
    operator = operator_of(curve, step)
    if curve.configurator == "paramils":
        return ParamILS(
            operator,
            comparison,
            random_starts=0,
            revisits=curve.operator == "harmonic",
            start="uniform",
        )
    replacement = curve.operator != "random-without-replacement"
    return ParamRLS(operator, comparison, "uniform", replacement)


def chosen_scenarios(name: str | None) -> list[PaperScenario]:
    """The scenario of this name, or all."""
    if name is None:
        return list(SCENARIOS.values())
    if name not in SCENARIOS:
        raise BadInput(f"there is no scenario {name!r}; there are {', '.join(SCENARIOS)}")
    return [SCENARIOS[name]]
