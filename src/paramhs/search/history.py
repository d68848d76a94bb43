"""Everything a search knows: the runs it received, and the races it decided.

There is one History for each search. Everything that decides reads it: comparisons, learning
operators, configurators; reports read it afterwards. It only grows, and its content depends only on
the scenario, the seed and the runs, never on a clock or on the worker of a run.
"""

import math
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from typing import NamedTuple

from paramhs.core.costs import Cost, CostMetric
from paramhs.core.random_streams import stream
from paramhs.core.runs import Evaluate, Pair, Run, Status, Task, cut
from paramhs.core.scenario import Scenario, endless_pairs, known_seeds
from paramhs.core.space import Config
from paramhs.search.judge import Judge

NO_COSTS: Mapping[Pair, Cost] = {}


class Race(NamedTuple):
    """A comparison that was decided.

    Attributes:
        challenger: The configuration that was proposed.
        incumbent: The configuration it raced.
        won: Whether the challenger won.
    """

    challenger: Config
    incumbent: Config
    won: bool
    asked: int
    """Number of runs the search had requested by then."""


class History:
    """Runs and races of a search, by configuration and by pair.

    A run stopped by a cutoff smaller than the scenario's (`Status.CAPPED`) is censored: it gives a
    lower bound of its cost, and is never used as a cost.

    Without capping, targets receive the scenario's cutoff and everything else is the same: a run
    requested with a smaller one is *known* only as if it had been stopped there, until more of it
    is needed. So everything that decides by costs decides the same with and without capping.

    Args:
        scenario: Space, instances, cost and cutoff.
        seed: Seed of the search.
        baseline: Configuration whose answers are the reference. Left out: the default.

    Examples:
        >>> import paramhs
        >>> found = paramhs.tune(lambda config: config["x"], {"x": range(3)}, budget=9)
        >>> len(found.history.runs) == found.asked
        True
    """

    def __init__(self, scenario: Scenario, seed: int, baseline: Config | None = None) -> None:
        """Create the history of a search; answers are compared with the baseline's."""
        self.scenario = scenario
        self.seed = seed
        self._cost_of = scenario.cost_of
        self._is_capped = scenario.capping.kind != "none"
        self._asked = 0
        self.races: list[Race] = []
        """Every decided comparison, in order."""
        self._racing: tuple[Config, Config] | None = None
        self.wrong: dict[Config, None] = {}
        """Configurations that gave a wrong answer, none of which can be the best."""
        self._references = 0
        self._noise_of: Mapping[str, float] = {}
        self._met: dict[tuple[Config, Config], int] = {}
        self._runs: list[Run] = []
        self._costs: dict[Config, dict[Pair, Cost]] = {}
        self._pairs_of: dict[Config, list[Pair]] = {}
        self._censored: dict[tuple[Config, Pair], Run] = {}
        self._cut_short: dict[Config, dict[Pair, None]] = {}
        # Those of them that were not actually capped.
        self._whole: dict[tuple[Config, Pair], Run] = {}
        self._recalled = 0
        self.judge = Judge(scenario, baseline or scenario.space.default)
        """Judge of answers, which decides which runs are solved and which are wrong."""
        self._beyond: dict[Config, int] = {}  # number of leading pairs of the list that are known
        self._listed: list[Pair] = []
        self._unlisted = self._endless_pairs()
        for run in scenario.known:
            self.add(run)

    def _endless_pairs(self) -> Iterator[Pair]:
        return endless_pairs(
            self.scenario.instances,
            self.seed,
            known=known_seeds(self.scenario.known),
            deterministic=self.scenario.deterministic,
            families=self.scenario.families if self.scenario.balanced else None,
        )

    def __getstate__(self) -> dict[str, object]:
        """State without the generator of pairs, which cannot be pickled and can be made again."""
        return {name: value for name, value in vars(self).items() if name != "_unlisted"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._unlisted = islice(self._endless_pairs(), len(self._listed), None)

    @property
    def asked(self) -> int:
        """Number of runs requested by the search (or calls, where a call needs no run)."""
        return self._asked

    @property
    def references(self) -> int:
        """Number of runs of the default that were requested only to have its answers."""
        return self._references

    def count_request(self, reference: bool = False) -> None:
        """Count a run that was requested in another way than by `make`.

        Args:
            reference: Whether it is a run of the default that is needed only for its answer.
        """
        self._asked += 1
        self._references += reference

    def restore(self, asked: int, races: Iterable[Race], references: int = 0) -> None:
        """Take over the counts and races of a stored search, whose runs were added.

        Args:
            asked: Number of runs that the search had requested.
            races: Its decided races, in order.
            references: Number of runs of the default requested only to have its answers.
        """
        self._asked, self._references = asked, references
        self.races.extend(races)

    @property
    def noise_of(self) -> Mapping[str, float]:
        """Variance of a run on each instance, relative to the average; empty if unknown."""
        return self._noise_of

    def weigh_instances(self, noise_of: Mapping[str, float]) -> None:
        """Set the variance of a run on each instance, as a model has found it.

        Args:
            noise_of: Variance by name of the instance, relative to the average over instances.
        """
        self._noise_of = noise_of

    @property
    def runs(self) -> Sequence[Run]:
        """Every run in the order received, runs known before the search first."""
        return self._runs

    @property
    def configs(self) -> Collection[Config]:
        """All configurations with runs, in the order of their first run."""
        return self._costs.keys()

    def costs(self, config: Config) -> Mapping[Pair, Cost]:
        """Cost of a configuration on each of its pairs, without censored runs.

        Args:
            config: The configuration.

        Returns:
            Costs by pair; empty if the configuration has not run.
        """
        return self._costs.get(config, NO_COSTS)

    def pairs_of(self, config: Config) -> Sequence[Pair]:
        """Pairs on which a configuration's cost is known, in the order of its runs.

        Args:
            config: The configuration.

        Returns:
            The pairs; empty if the configuration has not run.
        """
        return self._pairs_of.get(config, ())

    def censored(self, config: Config, pair: Pair) -> Run | None:
        """Longest capped run, if no finished one is known.

        Args:
            config: The configuration.
            pair: The instance and the seed.

        Returns:
            The run; None if a finished one is known, or none at all.
        """
        return self._censored.get((config, pair))

    def cut_short(self, config: Config) -> Collection[Pair]:
        """Pairs with only capped runs, in the order of the first.

        Args:
            config: The configuration.

        Returns:
            The pairs; their costs are known only to exceed a bound (`at_least`).
        """
        return self._cut_short.get(config, {}).keys()

    def at_least(self, config: Config, pair: Pair) -> float | None:
        """First number of a cost, or its lower bound.

        Args:
            config: The configuration.
            pair: The instance and the seed.

        Returns:
            The first number of the cost; the cutoff if all runs were capped; None without a run.
        """
        cost = self.costs(config).get(pair)
        if cost is not None:
            return cost[0]
        run = self._censored.get((config, pair))
        return None if run is None else run.task.cutoff

    @property
    def learned(self) -> int:
        """Number of times something new became known, with or without capping."""
        return self.asked + self._recalled

    def common(self, first: Config, second: Config) -> list[Pair]:
        """Pairs on which both costs are known.

        Args:
            first: A configuration.
            second: Another one.

        Returns:
            The pairs, in the order of the first's runs.
        """
        other = self.costs(second)
        return [pair for pair in self.pairs_of(first) if pair in other]

    def rng(self, *name: str | int) -> Random:
        """Random stream with this name, from its beginning.

        Args:
            *name: Parts of the name, such as a purpose and a number.

        Returns:
            A generator that depends on the seed of the search and the name alone.
        """
        return stream(self.seed, *name)

    # Pairs

    @property
    def pair_count(self) -> float:
        """Number of pairs: one per instance for a deterministic target, else infinite."""
        return len(self.scenario.instances) if self.scenario.deterministic else math.inf

    def pair(self, k: int) -> Pair:
        """A pair of the search's list.

        Args:
            k: Position in the list, counted from 0.

        Returns:
            The instance and the seed, which follow from the scenario and the search's seed.
        """
        while k >= len(self._listed):
            self._listed.append(next(self._unlisted))
        return self._listed[k]

    def pairs(self, first: int, after: int) -> list[Pair]:
        """A part of the search's list of pairs.

        Args:
            first: Position of the first pair, counted from 0.
            after: Position after the last pair.

        Returns:
            The pairs, in the order of the list.
        """
        return [self.pair(k) for k in range(first, after)]

    def new_pairs(self, config: Config) -> Iterator[Pair]:
        """Pairs of the list on which a configuration has not run.

        Args:
            config: The configuration.

        Returns:
            The pairs in the order of the list; endless unless the target is deterministic.
        """
        known, k = self.costs(config), self._beyond.get(config, 0)
        while k < self.pair_count and self.pair(k) in known:
            k += 1
        self._beyond[config] = k
        while k < self.pair_count:
            if self.pair(k) not in known:
                yield self.pair(k)
            k += 1

    # Requests for runs

    def task(self, config: Config, pair: Pair, cutoff: float = math.inf) -> Task:
        """Task of a configuration on a pair.

        Args:
            config: The configuration.
            pair: The instance and the seed.
            cutoff: Seconds after which the run is of no use; limited to the scenario's cutoff.

        Returns:
            The task. Without capping, it has the scenario's cutoff.
        """
        return Task(config, *pair, self._given(cutoff))

    def _given(self, cutoff: float) -> float:
        """Cutoff passed to the target where no more than this one is needed."""
        return min(cutoff, self.scenario.cutoff) if self._is_capped else self.scenario.cutoff

    def missing(
        self, config: Config, pairs: Iterable[Pair], cutoff: float = math.inf
    ) -> list[Task]:
        """Tasks that bring a configuration to these pairs.

        A finished run is known for any cutoff, a capped one only up to its cutoff.

        Args:
            config: The configuration.
            pairs: The pairs on which its cost is needed.
            cutoff: Seconds up to which it is needed.

        Returns:
            One task for each pair on which less than that is known.
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
        """Bring configurations to pairs, by requesting the runs that are missing.

        Args:
            *wanted: Configurations, each with the pairs on which its cost is needed.
            likely: Tasks that will probably be requested next, for idle workers.
            cutoff: Seconds up to which the costs are needed.

        Returns:
            A generator that yields at most one request, to be sent its runs; they are added.
        """
        tasks: list[Task] = []
        for config, pairs in wanted:
            if pairs:
                tasks += self.missing(config, pairs, cutoff)
        yield from self.make(tasks, likely, cutoff)

    def make(
        self, tasks: Sequence[Task], likely: Iterable[Task] = (), cutoff: float = math.inf
    ) -> Generator[Evaluate, Sequence[Run], None]:
        """Request these runs even if known; the result is used only up to the cutoff.

        A run that was not actually capped is remembered, and revealed in its place when requested.

        Args:
            tasks: The runs to make.
            likely: Tasks that will probably be requested next, for idle workers.
            cutoff: Seconds up to which the results are used.

        Returns:
            A generator that yields at most one request, to be sent its runs; they are added.
        """
        known = {task: self._whole.get((task.config, task.pair)) for task in tasks if self._whole}
        new = [task for task in tasks if known.get(task) is None] if known else tasks
        made = iter((yield Evaluate(new, likely)) if new else ())
        self._asked += len(new)
        self._recalled += len(tasks) - len(new)
        for task in tasks:
            whole = known.get(task)
            if whole is None:
                self.add(next(made), cutoff)
            else:
                self._whole.pop((task.config, task.pair), None)
                self._take_in(whole, cutoff)

    def add(self, run: Run, cutoff: float = math.inf) -> None:
        """Add a run.

        Args:
            run: The run, not yet judged by its answer.
            cutoff: Seconds up to which it becomes known.
        """
        self._runs.append(self._take_in(run, cutoff))

    def _take_in(self, run: Run, cutoff: float) -> Run:
        """Judge a run and limit it to the cutoff."""
        run = self.judge(run)
        known = run if cutoff >= run.task.cutoff else cut(run, cutoff)
        if known.status is not run.status:
            self._whole[run.task.config, run.task.pair] = run
        self.judge.note(known)
        if known.status is Status.WRONG:
            self.wrong[known.task.config] = None
        self._know(known)
        return run

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

    def copy(self) -> "History":
        """Copy to which runs and races can be added without a change of this history.

        Both share the list of pairs and its generator, which depend on the seed alone.

        Returns:
            The copy.
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.races, other._runs = [*self.races], [*self._runs]
        other._costs = {config: {**costs} for config, costs in self._costs.items()}
        other._pairs_of = {config: [*pairs] for config, pairs in self._pairs_of.items()}
        other._cut_short = {config: {**pairs} for config, pairs in self._cut_short.items()}
        other._met, other._censored = {**self._met}, {**self._censored}
        other._whole, other._beyond = {**self._whole}, {**self._beyond}
        other.judge, other.wrong = self.judge.copy(), {**self.wrong}
        return other

    def seen_by(self, metric: CostMetric, seed: int) -> "History":
        """Copy in which the same runs have another cost.

        The pairs are the same.

        Args:
            metric: What a run costs in the copy.
            seed: Seed of the copy's random streams.

        Returns:
            The copy.
        """
        other = self.copy()
        other.scenario, other.seed = replace(self.scenario, cost=metric), seed
        other._cost_of = other.scenario.cost_of
        for run in self._runs:
            costs = other._costs[run.task.config]
            if run.task.pair in costs:
                costs[run.task.pair] = other._cost_of(run)
        return other

    # Races

    @property
    def racing(self) -> tuple[Config, Config] | None:
        """Challenger and incumbent of the undecided race."""
        return self._racing

    def open_race(self, challenger: Config, incumbent: Config) -> None:
        """Record that a race has begun.

        Args:
            challenger: The configuration that was proposed.
            incumbent: The configuration it races.
        """
        self._racing = challenger, incumbent

    def decide(self, challenger: Config, incumbent: Config, won: bool) -> None:
        """Record the winner of a race.

        Args:
            challenger: The configuration that was proposed.
            incumbent: The configuration it raced.
            won: Whether the challenger won.
        """
        self._racing = None
        self._met[challenger, incumbent] = self.times_met(challenger, incumbent) + 1
        self.races.append(Race(challenger, incumbent, won, self.asked))

    def times_met(self, challenger: Config, incumbent: Config) -> int:
        """Number of decided races between the two.

        Args:
            challenger: The configuration that was proposed.
            incumbent: The configuration it raced.

        Returns:
            The number; races with the roles exchanged are not counted.
        """
        return self._met.get((challenger, incumbent), 0)
