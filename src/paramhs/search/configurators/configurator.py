"""Base class of configurators, with the parts they share."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from paramhs.core.errors import BadInput
from paramhs.core.part_checks import check_part
from paramhs.core.runs import Asking, Evaluate, Incumbent, Run, Search, Task
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison
from paramhs.search.dialogue import Dialogue, checked
from paramhs.search.history import History
from paramhs.search.lookahead.speculation import NO_WORKERS, Coming, Foresight
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


@dataclass(frozen=True)
class Likely:
    """Tasks that will probably follow a request, computed anew at each iteration."""

    foresight: Foresight
    incumbent: Config
    request: Evaluate
    runs: int
    coming: Coming

    def __iter__(self) -> Iterator[Task]:
        return self.foresight.likely(self.incumbent, self.request, self.runs, self.coming)


def race(
    history: History,
    comparison: Comparison,
    challenger: Config,
    incumbent: Config,
    foresight: Foresight,
    coming: Coming = NO_WORKERS,
) -> Asking:
    """Race a challenger, and record the outcome in the history."""
    history.racing = (challenger, incumbent)
    foresight.begin(challenger, incumbent)
    begun = history.asked
    asking = Dialogue(comparison.better(history, challenger, incumbent))
    while request := asking.request:
        likely = Likely(foresight, incumbent, request, history.asked - begun, coming)
        asking.advance((yield request._replace(likely=likely)))
    won = bool(asking.result)
    history.decide(challenger, incumbent, won)
    return won


def _listed(configs: Sequence[Config], history: History) -> Iterator[Config]:
    return iter(configs)


def first_incumbent(
    history: History, comparison: Comparison, start: Start, foresight: Foresight
) -> Stage:
    """Race the initial configurations against the start, one by one; return the winner."""
    space = history.scenario.space
    incumbent = space.default if start == "default" else space.sample(history.rng("start"))
    yield from checked(comparison.start(history, incumbent))
    yield Incumbent(incumbent)
    initial = [config for config in history.scenario.initial if config != incumbent]
    for number, challenger in enumerate(initial, start=1):
        coming = Coming(partial(_listed, initial[number:]))
        if (yield from race(history, comparison, challenger, incumbent, foresight, coming)):
            incumbent = challenger
            yield Incumbent(incumbent)
    return incumbent


def why_ended(history: History) -> str:
    """Reason why the search has no configuration left to try."""
    size = history.scenario.space.size()
    if size == 1:
        return "there is only one configuration"
    if size is None or len(history.configs) < size:
        return "nothing is left to try"
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
