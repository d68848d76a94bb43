"""Base class of configurators, with the parts they share."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal

from paramhs.core.errors import BadInput
from paramhs.core.part_checks import check_part
from paramhs.core.runs import (
    Asking,
    Evaluate,
    Found,
    Incumbent,
    Run,
    Search,
    Task,
    nothing_follows,
)
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.comparison.comparison import first_tasks
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import Learner, Operator

Start = Literal["default", "uniform"]
"""Start at the default configuration, or at a uniformly random one (the theory's setting)."""

MAX_IDLE_PROPOSALS = 1_000  # proposals in a row without a new run that end a search

Stage = Generator[Evaluate | Incumbent, Sequence[Run], Config]
"""A part of a search that ends with a configuration."""


Following = Callable[[Found], Iterable[Task]]
"""A function that returns runs to come, given those that were made early."""


class Configurator(ABC):
    """Description of a search algorithm, without its state."""

    @abstractmethod
    def search(self, history: History) -> Search:
        """Start a search that fills this history.

        Its requests depend only on the history's scenario and seed and on the runs it is sent.

        Args:
            history: The history to fill; its scenario and seed define the search.

        Returns:
            A generator that yields requests and incumbents, and returns why it ended.
        """


def race(
    history: History,
    comparison: Comparison,
    challenger: Config,
    incumbent: Config,
    following: Following = nothing_follows,
) -> Asking:
    """Race a challenger, and record the outcome in the history.

    Args:
        history: What the search knows.
        comparison: The rule of the race.
        challenger: The configuration that was proposed.
        incumbent: The configuration to beat.
        following: Returns runs that the search will probably request after this race, for idle
            workers.

    Returns:
        A generator that asks for runs and returns whether the challenger has won.
    """
    history.open_race(challenger, incumbent)
    won = yield from _before(comparison.better(history, challenger, incumbent), following)
    history.decide(challenger, incumbent, won)
    return won


def _before(asking: Asking, following: Following) -> Asking:
    """Requests for runs, which say what follows."""
    dialogue = Dialogue(asking)
    while request := dialogue.request:
        dialogue.advance((yield request._replace(following=following)))
    return bool(dialogue.result)


def next_races(
    history: History,
    comparison: Comparison,
    challengers: Callable[[], Iterable[Config]],
    incumbent: Config,
) -> Following:
    """The first runs of races against this incumbent, as long as it keeps its place."""

    def following(found: Found) -> Iterator[Task]:
        copy = history.copy()
        for challenger in challengers():
            yield from first_tasks(comparison.better(copy, challenger, incumbent))

    return following


def first_incumbent(
    history: History,
    comparison: Comparison,
    start: Start,
    following: Following = nothing_follows,
) -> Stage:
    """Race the initial configurations against the start, one by one; return the winner.

    `following` returns runs that will probably be requested after that.
    """
    space = history.scenario.space
    incumbent = space.default if start == "default" else space.sample(history.rng("start"))
    initial = deque(config for config in history.scenario.initial if config != incumbent)

    def ahead(found: Found) -> Iterable[Task]:
        known = next_races(history, comparison, lambda: [*initial], incumbent)
        return chain(known(found), following(found))

    yield from _before(comparison.start(history, incumbent), ahead)
    yield Incumbent(incumbent)
    while initial:
        challenger = initial.popleft()
        if (yield from race(history, comparison, challenger, incumbent, ahead)):
            incumbent = challenger
            yield Incumbent(incumbent)
    return incumbent


def why_ended(history: History) -> str:
    """Reason why the search has no configuration left to try."""
    size = history.scenario.space.size()
    if size == 1:
        return "there is only one configuration"
    if size is None or len(history.configs) < size:
        return "no other allowed configuration was found"
    return f"all {size:,} configurations tried"


def check_configurator(thing: object) -> None:
    """Reject anything but a configurator; a class must be called first."""
    check_part(thing, "a configurator, such as ParamHS()", Configurator)


def check_parts(operator: object, comparison: object, start: str = "default") -> None:
    """Reject invalid parts of a configurator."""
    check_operator(operator)
    check_part(comparison, "a comparison, such as Growing() or FixedRuns(10)", Comparison)
    if start not in ("default", "uniform"):
        raise BadInput(f"start must be 'default' or 'uniform', not {start!r}")


def check_operator(operator: object) -> None:
    """Reject anything but an operator."""
    check_part(
        operator,
        "an operator, such as OneParameter() or SeveralParameters(Harmonic())",
        Operator,
        Learner,
    )
