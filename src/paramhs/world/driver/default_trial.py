"""Whether the target is broken: its default configuration fails at once."""

from collections.abc import Iterable
from itertools import islice

from paramhs.values.errors import TargetError
from paramhs.values.runs import FAILURES, Run, Task
from paramhs.values.space import Config
from paramhs.world.driver.flights import Runner
from paramhs.world.store import Store

_ENOUGH = 3  # failures of the default after which the target is taken to be broken


class DefaultTrial:
    """The first runs of the default, until they are all there.

    The first are those asked for first, not those that end first: failures are quick.
    """

    def __init__(self, asked: Iterable[Task], default: Config | None) -> None:
        self._awaited = set(islice((task for task in asked if task.config == default), _ENOUGH))
        self._given: list[Run] = []

    def note(self, run: Run) -> bool:
        """Take a run that the search is given; whether it was the last that was awaited."""
        if not self._awaited:
            return False
        self._given.append(run)
        return self._awaited <= {given.task for given in self._given}

    def end(self, store: Store, speculative: Iterable[Task], target: Runner) -> None:
        """Raise if all its runs have failed; failures of a broken target are not worth keeping."""
        runs = [run for run in self._given if run.task in self._awaited]
        made = {*speculative, *(run.task for run in self._given)}
        self._awaited, self._given = set(), []
        if not runs or any(run.status not in FAILURES for run in runs):
            return
        store.forget(made)
        last = runs[-1]
        raise TargetError(
            f"the target fails with its default configuration, in {len(runs)} of {len(runs)} runs."
            f"\nThe last call was {target.shown(last.task)}"
            f"\nand what came of it:\n{last.detail.rstrip()}"
            "\nThese runs are not kept: mend the target and start again."
        )
