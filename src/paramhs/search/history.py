"""All that a search knows: every run it was given, and every race that was decided.

There is one History for each search. Whatever decides reads it: comparisons, operators that learn,
configurators; and so does whoever tells of the search afterwards. It only ever grows, and what is
in it depends on the scenario, the seed and the runs alone, never on a clock or on who made a run.
"""

import math
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from random import Random
from typing import NamedTuple

from paramhs.values.costs import Cost
from paramhs.values.runs import Evaluate, Instance, Pair, Run, Status, Task, answer, cut
from paramhs.values.scenario import Scenario, endless_pairs, known_seeds
from paramhs.values.seeds import stream
from paramhs.values.space import Config

NO_COSTS: Mapping[Pair, Cost] = {}


class Race(NamedTuple):
    """A comparison that was decided."""

    challenger: Config
    incumbent: Config
    won: bool
    asked: int
    """How many runs the search had asked for by then."""


class History:
    """What a search has seen so far, by configuration and by pair.

    A run that was cut short by a cutoff smaller than the scenario's (`Status.CAPPED`) is censored:
    it says that its cost is no smaller than something, and is never taken for a cost.

    Without capping, targets are given the scenario's cutoff and all else is the same: a run that
    was asked for with a smaller one is *known* only as if it had been cut there, until more of it
    is needed. So whatever decides by costs decides the same with and without.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self._cost_of = scenario.cost_of
        self._is_capped = scenario.capping.kind != "none"
        self.asked = 0
        """How many runs the search has asked for (or calls, where a call needs no run)."""
        self.races: list[Race] = []
        """Every comparison that was decided, in order."""
        self.racing: tuple[Config, Config] | None = None
        """The challenger and the incumbent whose race is not decided yet."""
        self.left = math.inf
        """How many more runs the search may ask for; only for those who look ahead."""
        self.is_shared = False
        """Whether several races are under way, of which two may ask for the same run."""
        self.noise_of: Mapping[str, float] = {}
        """By instance, how many times as large the variance of a run is as on average: what who
        learns from this history found at its last look. Empty where nobody did."""
        self._met: dict[tuple[Config, Config], int] = {}
        self._runs: list[Run] = []
        self._costs: dict[Config, dict[Pair, Cost]] = {}
        self._pairs_of: dict[Config, list[Pair]] = {}
        self._censored: dict[tuple[Config, Pair], Run] = {}
        self._cut_short: dict[Config, dict[Pair, None]] = {}
        self._whole: dict[tuple[Config, Pair], Run] = {}  # those of them that were not cut in fact
        self._recalled = 0
        self._foreseen: dict[tuple[Config, Instance, int], Run] = {}
        self._awaited: set[tuple[Config, Instance, int]] = set()
        self._beyond: dict[Config, int] = {}  # so many first pairs of the list are known
        self._listed: list[Pair] = []
        self._unlisted = endless_pairs(
            scenario.instances,
            seed,
            known=known_seeds(scenario.known),
            deterministic=scenario.deterministic,
        )
        for run in scenario.known:
            self.add(run)

    @property
    def runs(self) -> Sequence[Run]:
        """Every run, in the order in which the search was given them; those known before first."""
        return self._runs

    @property
    def configs(self) -> Collection[Config]:
        """All configurations that have runs, in the order of their first."""
        return self._costs.keys()

    def costs(self, config: Config) -> Mapping[Pair, Cost]:
        """What a configuration cost on each pair it was run on; censored runs are left out."""
        return self._costs.get(config, NO_COSTS)

    def pairs_of(self, config: Config) -> Sequence[Pair]:
        """The pairs on which its costs are known, in the order of its runs."""
        return self._pairs_of.get(config, ())

    def censored(self, config: Config, pair: Pair) -> Run | None:
        """The longest run that was cut short, where no other is known."""
        return self._censored.get((config, pair))

    def cut_short(self, config: Config) -> Collection[Pair]:
        """The pairs on which only runs that were cut short are known, in the order of the first."""
        return self._cut_short.get(config, {}).keys()

    def at_least(self, config: Config, pair: Pair) -> float | None:
        """The first number of its cost, or what that is no smaller than; None if it was not run."""
        cost = self.costs(config).get(pair)
        if cost is not None:
            return cost[0]
        run = self._censored.get((config, pair))
        return None if run is None else run.task.cutoff

    @property
    def learned(self) -> int:
        """How often something new became known: the same with and without capping."""
        return self.asked + self._recalled

    def common(self, first: Config, second: Config) -> list[Pair]:
        """The pairs on which the costs of both are known, in the order of the first's runs."""
        other = self.costs(second)
        return [pair for pair in self.pairs_of(first) if pair in other]

    def rng(self, *name: str | int) -> Random:
        """The random stream of this name, from its beginning."""
        return stream(self.seed, *name)

    # Which pairs there are.

    @property
    def pair_count(self) -> float:
        """How many pairs there are: one an instance if the target is deterministic, else no end."""
        return len(self.scenario.instances) if self.scenario.deterministic else math.inf

    def pair(self, k: int) -> Pair:
        """The k-th of the search's list of pairs, from 0."""
        while k >= len(self._listed):
            self._listed.append(next(self._unlisted))
        return self._listed[k]

    def pairs(self, first: int, after: int) -> list[Pair]:
        """Those from the first up to, but without, another."""
        return [self.pair(k) for k in range(first, after)]

    def new_pairs(self, config: Config) -> Iterator[Pair]:
        """The pairs of the list that a configuration was not run on, in order."""
        known, k = self.costs(config), self._beyond.get(config, 0)
        while k < self.pair_count and self.pair(k) in known:
            k += 1
        self._beyond[config] = k
        while k < self.pair_count:
            if self.pair(k) not in known:
                yield self.pair(k)
            k += 1

    # Asking for runs.

    def task(self, config: Config, pair: Pair, cutoff: float = math.inf) -> Task:
        """A configuration on a pair; the scenario's cutoff holds in any case."""
        return Task(config, *pair, self._given(cutoff))

    def _given(self, cutoff: float) -> float:
        """The cutoff that a target is given where no more than this one is needed."""
        return min(cutoff, self.scenario.cutoff) if self._is_capped else self.scenario.cutoff

    def missing(
        self, config: Config, pairs: Iterable[Pair], cutoff: float = math.inf
    ) -> list[Task]:
        """The tasks that bring a configuration to these pairs, each with at least this cutoff.

        What ended by itself is known for any cutoff; what was cut short, up to where it was cut.
        """
        known, given = self.costs(config), self._given(cutoff)
        tasks = [Task(config, *pair, given) for pair in pairs if pair not in known]
        if not self._censored:
            return tasks
        limit = min(cutoff, self.scenario.cutoff)
        return [task for task in tasks if not self._is_cut_beyond(config, task.pair, limit)]

    def _is_cut_beyond(self, config: Config, pair: Pair, cutoff: float) -> bool:
        run = self._censored.get((config, pair))
        return run is not None and run.task.cutoff >= cutoff

    def ask(
        self,
        *wanted: tuple[Config, Sequence[Pair]],
        likely: Iterable[Task] = (),
        cutoff: float = math.inf,
    ) -> Generator[Evaluate, Sequence[Run], None]:
        """Bring configurations to pairs; `likely`: what will probably be asked for next."""
        tasks: list[Task] = []
        for config, pairs in wanted:
            if pairs:
                tasks += self.missing(config, pairs, cutoff)
        yield from self.make(tasks, likely, cutoff)

    def make(
        self, tasks: Sequence[Task], likely: Iterable[Task] = (), cutoff: float = math.inf
    ) -> Generator[Evaluate, Sequence[Run], None]:
        """Ask for these runs, whatever is known; no more of them is wanted than the cutoff.

        What was not cut short in fact is remembered, and becomes known in its place among them.
        """
        known = {task: self._whole.get((task.config, task.pair)) for task in tasks if self._whole}
        new = [task for task in tasks if known.get(task) is None] if known else tasks
        self.asked += len(new)
        self._recalled += len(tasks) - len(new)
        if self.is_shared:
            self._awaited.update(task.call for task in new)
        made = iter((yield Evaluate(new, likely)) if new else ())
        if self.is_shared:
            self._awaited.difference_update(task.call for task in new)
        if self._foreseen:
            for task in new:
                self._foreseen.pop(task.call, None)
        for task in tasks:
            whole = known.get(task)
            if whole is None:
                run = next(made)
                if self.is_shared and task.pair in self.costs(task.config):
                    self.asked -= 1
                else:
                    self.add(run, cutoff)
            else:
                self._whole.pop((task.config, task.pair), None)
                self._take_in(whole, cutoff)

    def add(self, run: Run, cutoff: float = math.inf) -> None:
        """Take in a run, of which no more is to be known than up to the cutoff."""
        self._runs.append(run)
        self._take_in(run, cutoff)

    def add_shared(self, run: Run) -> None:
        """Take in a run of an incumbent before the race that asked for it has all of its own, so
        that no other asks for it again."""
        self.asked += 1
        self.add(run)

    def _take_in(self, run: Run, cutoff: float) -> None:
        known = run if cutoff >= run.task.cutoff else cut(run, cutoff)
        if known.status is not run.status:
            self._whole[run.task.config, run.task.pair] = run
        self._know(known)

    def _know(self, run: Run) -> None:
        task = run.task
        if run.status is Status.CAPPED:
            self._costs.setdefault(task.config, {})
            self._cut_short.setdefault(task.config, {})[task.pair] = None
            if not self._is_cut_beyond(task.config, task.pair, task.cutoff):
                self._censored[task.config, task.pair] = run
            return
        pair, costs = task.pair, self._costs.setdefault(task.config, {})
        if pair not in costs:
            self._pairs_of.setdefault(task.config, []).append(pair)
        costs[pair] = self._cost_of(run)
        if self._censored:
            self._censored.pop((task.config, pair), None)
            self._cut_short.get(task.config, {}).pop(pair, None)

    def awaits(self, config: Config, pair: Pair) -> bool:
        """Whether another race has asked for this run, and it is not there yet."""
        return (config, *pair) in self._awaited

    # Looking ahead.

    def foresee(self, run: Run) -> None:
        """Take note of a run that was made early. Nothing decides by it, until it is asked for."""
        known = self._foreseen.get(run.task.call)
        if known is None or known.task.cutoff < run.task.cutoff:
            self._foreseen[run.task.call] = run

    def foreseen(self, task: Task) -> Run | None:
        """What a run made early says of a task."""
        run = self._foreseen.get(task.call)
        return None if run is None else answer(run, task)

    def copy(self) -> "History":
        """Another that knows the same, and of which nobody else learns more."""
        other = copy(self)
        other.races, other._runs = [*self.races], [*self._runs]
        other._costs = {config: {**costs} for config, costs in self._costs.items()}
        other._pairs_of = {config: [*pairs] for config, pairs in self._pairs_of.items()}
        other._cut_short = {config: {**pairs} for config, pairs in self._cut_short.items()}
        other._met, other._censored = {**self._met}, {**self._censored}
        other._whole, other._beyond = {**self._whole}, {**self._beyond}
        other._foreseen = {}
        return other

    # Races.

    def decide(self, challenger: Config, incumbent: Config, won: bool) -> None:
        """Take in who won."""
        self.racing = None
        self._met[challenger, incumbent] = self.times_met(challenger, incumbent) + 1
        self.races.append(Race(challenger, incumbent, won, self.asked))

    def times_met(self, challenger: Config, incumbent: Config) -> int:
        """How many races between them were decided."""
        return self._met.get((challenger, incumbent), 0)
