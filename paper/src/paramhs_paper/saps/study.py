"""How the curves depend on what the paper leaves open, and which choice the published ones fit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scipy.stats import chi2

from paramhs_paper import published
from paramhs_paper.saps.choices import (
    Choice,
    plausible,
    redrawn,
    retargeted,
    single_instances,
)
from paramhs_paper.saps.tuning import ALPHAS, CURVES, Answer, Point, Task, answered, point_of
from paramhs_paper.scenarios import Curve
from paramhs_paper.several import all_answered

Kind = Literal["measured", "redrawn", "retargeted", "instance"]


@dataclass(frozen=True)
class Fit:
    """A published curve against one choice of table."""

    kind: Kind
    choice: Choice
    curve: Curve
    mean_square: float
    """The mean of z^2 over the sizes; about 1 if the choice is the paper's."""
    points: int
    never: float
    """The largest probability of being trapped, over the sizes."""
    last: float
    """The mean at the largest size."""

    @property
    def verdict(self) -> str:
        """Whether chance explains the mean square."""
        return verdict(self.mean_square, self.points, self.never)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        choice = self.choice
        return {
            "kind": self.kind,
            "smoothing": choice.smoothing,
            "aggregation": choice.instance or choice.aggregation,
            "quality": choice.quality,
            "redrawn": choice.redrawn,
            "aimed_at": choice.aimed_at,
            "curve": self.curve.name,
            "mean_square_z": self.mean_square,
            "points": self.points,
            "never": self.never,
            "mean_at_largest": self.last,
            "verdict": self.verdict,
        }


def verdict(mean_square: float, points: int, never: float = 0.0) -> str:
    """Whether chance explains a mean of squares of standard normals, and that all searches behind a
    mean ended though each never does with this probability: at 1 %, at 0.01 %, or not."""
    p = float(chi2.sf(mean_square * points, points)) * (1 - never) ** published.SAPS_REPETITIONS
    return "agrees" if p > 0.01 else "doubtful" if p > 1e-4 else "does not agree"


def study_tasks(seed: int, alphas: Sequence[int] = ALPHAS) -> list[tuple[Kind, Task]]:
    """All points of the study; redrawn ones have the exact curves of ParamRLS only."""
    choices: list[tuple[Kind, Choice]] = [("measured", choice) for choice in plausible()]
    choices += [("redrawn", again) for choice in plausible() for again in redrawn(choice)]
    choices += [("retargeted", again) for choice in plausible() for again in retargeted(choice)]
    choices += [("instance", choice) for choice in single_instances()]
    return [
        (kind, Task(choice, curve, count, 0, seed))
        for kind, choice in choices
        for curve in CURVES
        if kind in ("measured", "instance") or curve.configurator == "paramrls"
        for count in alphas
    ]


def studied(
    wanted: Sequence[tuple[Kind, Task]], jobs: int, advance: Callable[[], object]
) -> tuple[list[Fit], list[Point]]:
    """The fits, and the points of the tables as measured."""
    answers = list(all_answered(answered, [task for _, task in wanted], jobs, advance))
    groups: dict[tuple[Kind, Choice, Curve], list[Answer]] = {}
    for (kind, task), answer in zip(wanted, answers, strict=True):
        groups.setdefault((kind, task.choice, task.curve), []).append(answer)
    fits = [fit for key, group in groups.items() for fit in _fit(*key, group)]
    points = [
        point_of(answer)
        for key, group in groups.items()
        if key[0] == "measured"
        for answer in group
    ]
    return fits, points


def _fit(kind: Kind, choice: Choice, curve: Curve, answers: Sequence[Answer]) -> Iterator[Fit]:
    """None where no size has a target."""
    points = [point_of(answer) for answer in answers]
    squares = [p.z_published**2 for p in points if p.z_published is not None]
    means = [p.mean for p in points if p.mean is not None]
    if squares:
        never = max(p.never or 0.0 for p in points)
        mean_square = sum(squares) / len(squares)
        yield Fit(kind, choice, curve, mean_square, len(squares), never, means[-1])
