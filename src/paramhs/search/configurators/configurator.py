"""Base class of configurators, with the parts they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Literal

from paramhs.core.errors import BadInput
from paramhs.core.part_checks import check_part
from paramhs.core.runs import Asking, Coming, Evaluate, Incumbent, Run, Search
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History
from paramhs.search.operators import Learner, Operator

Start = Literal["default", "uniform"]
"""Start at the default configuration, or at a uniformly random one (the theory's setting)."""

MAX_IDLE_PROPOSALS = 1_000  # proposals in a row without a new run that end a search

Stage = Generator[Evaluate | Incumbent, Sequence[Run], Config]
"""A part of a search that ends with a configuration."""


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


Challengers = Callable[[], Iterable[Config]]
"""A function that returns the challengers of the next races, as far as they are known."""


def _none() -> Iterable[Config]:
    return ()


def race(
    history: History,
    comparison: Comparison,
    challenger: Config,
    incumbent: Config,
    following: Challengers = _none,
    fixed: bool = False,
) -> Asking:
    """Race a challenger, and record the outcome in the history.

    Args:
        history: What the search knows.
        comparison: The rule of the race.
        challenger: The configuration that was proposed.
        incumbent: The configuration to beat.
        following: The challengers of the races after this one, for idle workers.
        fixed: Whether they follow even if there is a new incumbent.

    Returns:
        A generator that asks for runs and returns whether the challenger has won.
    """
    history.open_race(challenger, incumbent)
    coming = Coming(incumbent, following, comparison.better, fixed)
    asking = Dialogue(comparison.better(history, challenger, incumbent))
    while request := asking.request:
        asking.advance((yield request._replace(coming=coming)))
    won = bool(asking.result)
    history.decide(challenger, incumbent, won)
    return won


def first_incumbent(
    history: History, comparison: Comparison, start: Start, following: Challengers = _none
) -> Stage:
    """Race the initial configurations against the start, one by one; return the winner.

    `following` are the challengers after these.
    """
    space = history.scenario.space
    incumbent = space.default if start == "default" else space.sample(history.rng("start"))
    initial = [config for config in history.scenario.initial if config != incumbent]

    def after(number: int) -> Iterable[Config]:
        return chain(initial[number:], following())

    coming = Coming(incumbent, partial(after, 0), comparison.better, fixed=True)
    asking = Dialogue(comparison.start(history, incumbent))
    while request := asking.request:
        asking.advance((yield request._replace(coming=coming)))
    yield Incumbent(incumbent)
    for number, challenger in enumerate(initial, start=1):
        known = partial(after, number)
        if (yield from race(history, comparison, challenger, incumbent, known, fixed=True)):
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
