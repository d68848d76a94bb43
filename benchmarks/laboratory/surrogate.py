"""A surrogate of a real target: a forest of its log work, and the part that no forest explains.

What is left over is added back as noise that is a function of (configuration, instance, seed), of
the instance alone for a deterministic target: a deviation of the configuration, drawn from those
really seen, and a deviation of the run, drawn from those really seen on that instance. So heavy
tails, runs over the limit and instances that tell more than others stay what they are.
(Eggensperger, Lindauer, Hoos, Hutter, Leyton-Brown, Machine Learning
107, 2018, on such surrogates.)
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold, cross_val_predict

from benchmarks.laboratory.cases import Case, CountedWork
from paramhs.core.costs import mean
from paramhs.core.random_streams import ShortStream, below
from paramhs.core.runs import Instance, Run, Status, Target, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config

DATA = Path(__file__).parent / "data"
PENALTY = 3.0  # times the limit is what a run without an answer is taken to have worked
TREES = 30
FOLDS = 5
LEAF_ROWS = 3  # rows in a leaf


@dataclass(frozen=True)
class Table:
    """The rows that were collected."""

    config: np.ndarray
    instance: np.ndarray
    work: np.ndarray

    @staticmethod
    def read(name: str) -> "Table":
        """From the data folder."""
        with np.load(DATA / f"{name}.npz") as data:
            return Table(data["config"].astype(float), data["instance"], data["work"].astype(float))


class Pool:
    """Deviations really seen, to be drawn from those where about the same was expected."""

    def __init__(self, expected: np.ndarray, deviations: np.ndarray, window: int) -> None:
        order = np.argsort(expected, kind="stable")
        self.expected, self.deviations = expected[order], deviations[order]
        self.window = min(window, len(order))

    def drawn(self, expected: float, rng: ShortStream) -> float:
        """One of the nearest."""
        middle = int(np.searchsorted(self.expected, expected)) - self.window // 2
        first = min(max(middle, 0), len(self.expected) - self.window)
        return float(self.deviations[first + below(self.window, rng)])


class Surrogate(Target):
    """Gives runs whose work the forest and the noise make up."""

    def __init__(self, case: Case) -> None:
        self.case = case
        table = Table.read(case.name)
        instances = (*case.scenario.instances, *case.tests)
        self.number = {instance: n for n, instance in enumerate(instances)}
        metric = case.scenario.cost
        limit = metric.limit if isinstance(metric, CountedWork) else np.inf
        least = table.work[table.work > 0].min() / 2  # what counts as nothing has a logarithm, too
        work = np.where(np.isnan(table.work), np.inf, np.maximum(table.work, least))
        logs = np.log(np.minimum(work, PENALTY * limit))
        self.level = np.array([np.median(logs[table.instance == n]) for n in range(len(instances))])
        relative = logs - self.level[table.instance]
        _, who = np.unique(table.config, axis=0, return_inverse=True)
        self.forest = RandomForestRegressor(
            TREES, min_samples_leaf=LEAF_ROWS, max_features=0.5, random_state=0
        )
        rows = self._rows(table.config, table.instance)
        expected = cross_val_predict(
            self.forest, rows, relative, groups=who.ravel(), cv=GroupKFold(FOLDS)
        )
        self._take_noise(who.ravel(), table.instance, expected, relative - expected)
        self.explained = 1 - np.var(relative - expected) / np.var(relative)
        self.forest.fit(rows, relative)
        self._known: dict[Config, np.ndarray] = {}
        self.target = self

    def _rows(self, config: np.ndarray, instance: np.ndarray) -> np.ndarray:
        return np.column_stack([config, self.level[instance], instance])

    def _take_noise(
        self, who: np.ndarray, where: np.ndarray, expected: np.ndarray, rest: np.ndarray
    ) -> None:
        """Two pools: deviations of configurations, and of their runs, where no run of the same
        configuration was known."""
        counts = np.bincount(who)
        means = np.bincount(who, rest) / counts
        within = (rest - means[who]) * np.sqrt(counts / np.maximum(counts - 1, 1))[who]
        often = counts >= 3
        noise = np.var(within[often[who]])
        between = max(np.var(means[often]) - noise * np.mean(1 / counts[often]), 0.0)
        shrunk = means[often] * np.sqrt(between / max(np.var(means[often]), 1e-12))
        self.of_runs = [
            Pool(expected[here], within[here], 40)
            for here in (often[who] & (where == number) for number in range(len(self.level)))
        ]
        self.of_configs = Pool((np.bincount(who, expected) / counts)[often], shrunk, 40)

    def __call__(self, task: Task) -> Run:
        """A run that took no time."""
        seed = 0 if self.case.scenario.deterministic else task.seed
        return Run(task, Status.OK, 0.0, self.work(task.config, task.instance, seed))

    def work(self, config: Config, instance: Instance, seed: int) -> float:
        """The work of a run."""
        number = self.number[instance]
        rng = ShortStream(seed, number, *config.indices)
        expected = self._expected(config)[number]
        noise = self.of_runs[number].drawn(expected, rng)
        return float(np.exp(self.level[number] + expected + noise))

    def _expected(self, config: Config) -> np.ndarray:
        if config not in self._known:
            every = np.arange(len(self.level))
            rows = self._rows(np.tile(np.array(config.indices, float), (len(every), 1)), every)
            relative = self.forest.predict(rows)
            if config != config.space.default:
                rng = ShortStream(0, "own", *config.indices)
                relative = relative + self.of_configs.drawn(float(relative.mean()), rng)
            self._known[config] = relative
        return self._known[config]

    def true_cost(self, config: Config) -> float:
        """On the test instances, each many times: what is to be expected of more of their kind."""
        seeds = range(-20, 0)
        metric = self.case.scenario.cost
        return mean(
            [
                metric.of(Run(Task(config, i, s), Status.OK, 0.0, self.work(config, i, s)))[0]
                for i in self.case.tests
                for s in seeds
            ]
        )

    @cached_property
    def default_cost(self) -> float:
        """What the default costs."""
        return self.true_cost(self.case.scenario.space.default)

    @property
    def scenario(self) -> Scenario:
        """The case's, without its limit on time."""
        return replace(self.case.scenario, cutoff=float("inf"))
