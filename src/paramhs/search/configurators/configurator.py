"""What every configurator offers, and the small parts that they share."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

from paramhs.search.comparison import Comparison
from paramhs.search.configurators.foresight import NOBODY, Coming, Foresight
from paramhs.search.history import History
from paramhs.values.errors import BadInput
from paramhs.values.runs import Asking, Evaluate, Incumbent, Run, Search, Task
from paramhs.values.space import Config

Start = Literal["default", "uniform"]
"""Begin at the default configuration, or (the theory's setting) at a uniformly random one."""

IDLE = 1_000  # proposals in a row without a new run after which a search is taken to be at its end

Stage = Generator[Evaluate | Incumbent, Sequence[Run], Config]
"""A part of a search that ends with a configuration."""


class Configurator(Protocol):
    """A way of searching: the description of it, not its state."""

    def search(self, history: History) -> Search:
        """A new search, which fills this history.

        What it does depends on the history's scenario and seed and on the runs it is sent alone.
        """


@dataclass(frozen=True)
class Likely:
    """What will probably be asked for after a request; as things stand when somebody looks."""

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
    coming: Coming = NOBODY,
) -> Asking:
    """Whether the challenger wins; the history is told."""
    history.racing = (challenger, incumbent)
    foresight.begin(challenger, incumbent)
    asking, begun = comparison.better(history, challenger, incumbent), history.asked
    try:
        request = next(asking)
        while True:
            likely = Likely(foresight, incumbent, request, history.asked - begun, coming)
            request = asking.send((yield request._replace(likely=likely)))
    except StopIteration as end:
        won = bool(end.value)
    history.decide(challenger, incumbent, won)
    return won


def _listed(configs: Sequence[Config], history: History) -> Iterator[Config]:
    return iter(configs)


def first_incumbent(
    history: History, comparison: Comparison, start: Start, foresight: Foresight
) -> Stage:
    """Where a search begins: the winner of the start and the initial configurations, in turn."""
    space = history.scenario.space
    incumbent = space.default if start == "default" else space.sample(history.rng("start"))
    yield from comparison.start(history, incumbent)
    yield Incumbent(incumbent)
    initial = [config for config in history.scenario.initial if config != incumbent]
    for number, challenger in enumerate(initial, start=1):
        coming = Coming(partial(_listed, initial[number:]))
        if (yield from race(history, comparison, challenger, incumbent, foresight, coming)):
            incumbent = challenger
            yield Incumbent(incumbent)
    return incumbent


def why_ended(history: History) -> str:
    """Why there is nothing left to try."""
    size = history.scenario.space.size()
    if size == 1:
        return "there is only one configuration"
    if size is None or len(history.configs) < size:
        return "nothing is left to try"
    return f"all {size:,} configurations tried"


def check_configurator(thing: object) -> None:
    """Refuse what is not a configurator; a class must be called first."""
    if isinstance(thing, type):
        raise BadInput(f"{thing.__name__} is a class, not a configurator: write {thing.__name__}()")
    _check_has(thing, "a configurator, such as ParamHS()", "search")


def check_parts(operator: object, comparison: object, start: str = "default") -> None:
    """Refuse what a configurator cannot be made of."""
    check_operator(operator)
    _check_has(
        comparison,
        "a comparison, such as Growing() or FixedRuns(10)",
        *("start", "better", "is_final"),
    )
    if start not in ("default", "uniform"):
        raise BadInput(f"start must be 'default' or 'uniform', not {start!r}")


def check_operator(operator: object) -> None:
    """Refuse what is not an operator."""
    learns = callable(getattr(operator, "given", None))
    needed = ("given", "is_due") if learns else ("sample", "order")
    _check_has(operator, "an operator, such as One() or Several(Harmonic())", *needed)


def _check_has(thing: object, what: str, *methods: str) -> None:
    missing = [name for name in methods if not callable(getattr(thing, name, None))]
    if isinstance(thing, type) or missing:
        why = "it is a class" if isinstance(thing, type) else f"it has no method {missing[0]}"
        raise BadInput(f"{thing!r} is not {what}: {why}")
