"""How often the verdict's interval covers the truth, and how often it claims what is not so.

python -m benchmarks.calibration                all tables
python -m benchmarks.calibration --save         the same, all rows in data/calibration.csv, and the
                                                tables in docs/benchmarks/calibration.md
python -m benchmarks.calibration --trials 200   the same with larger errors
python -m benchmarks.calibration --only few     one table: ours, seeds, few, unseen, power or others
python -m benchmarks.calibration --save --more  only rows that are not saved with as many trials

Each trial draws instances from a population, and runs of two configurations on them. The truth is
the ratio of the mean costs over the whole population. An interval covers it if the test that is
inverted passes the true ratio. Where the means are equal, "better" and "worse" are both false.

The standard errors of 4,000 trials: 0.25 points for a rate of 2.5 %, 0.34 for a coverage of 95 %.
Each process uses one thread; the tests of a row stop at the first that does not refute it.
"""

import argparse
import csv
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paramhs.analysis import paired_means as means
from paramhs.analysis.cases import claim
from paramhs.analysis.intervals import MARGIN, MIN_CASES, Tolerance
from paramhs.analysis.paired_estimate import claim_p_value
from paramhs.core.distribution_tails import t_tail
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.space import Config, Space

Numbers = npt.NDArray[np.float64]
Law = Callable[[np.random.Generator, tuple[int, ...]], tuple[Numbers, Numbers]]
"""Costs of both, by trial, instance and seed."""

LEVEL = 0.05
SIZES = (6, 8, 12, 30, 100, 200)
TIE = Tolerance(MARGIN, 0.0)
DATA = Path(__file__).with_name("data") / "calibration.csv"
PAGE = Path(__file__).parents[2] / "docs/benchmarks/calibration.md"


@dataclass
class Population:
    """Instances, and the costs of two configurations on them."""

    name: str
    law: Law
    equal: bool = True
    """Whether the mean costs are equal, so that any claim is false."""
    rarest: float = 1.0
    """Share of the rarest kind of instance that matters."""

    @cached_property
    def truth(self) -> float:
        """The ratio of the means, exact where they are equal, else of 10 million instances."""
        if self.equal:
            return 1.0
        rng = np.random.default_rng(99)
        sums = np.zeros(2)
        for _ in range(10):
            sums += [x.sum() for x in self.law(rng, (1000, 1000, 1))]
        return float(sums[0] / sums[1])

    def shows(self, instances: int) -> bool:
        """Whether at least 97.5 % of samples of this size contain all kinds of instances."""
        return (1 - self.rarest) ** instances <= 0.025


def noise(rng: np.random.Generator, shape: tuple[int, ...], size: float = 0.5) -> Numbers:
    """Factors of mean 1, one for each run."""
    return rng.lognormal(-(size**2) / 2, size, shape)


def instance(shape: tuple[int, ...]) -> tuple[int, ...]:
    """One number for each instance."""
    return (*shape[:2], 1)


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    base = 10 + 2 * rng.normal(size=instance(shape))
    return base + rng.normal(size=shape), base + rng.normal(size=shape)


def log_normal(spread: float, factor: float) -> Law:
    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        size = rng.lognormal(0, spread, instance(shape))
        first, second = (size * noise(rng, instance(shape), 0.4) for _ in range(2))
        return first * noise(rng, shape, 0.3) * factor, second * noise(rng, shape, 0.3)

    return law


def log_normal_apart(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    return rng.lognormal(0, 1, shape), rng.lognormal(0, 1, shape)


def exponential(turned: bool) -> Law:
    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        one = np.ones(shape)
        drawn = rng.exponential(size=instance(shape)) * np.ones(shape)
        return (drawn, one) if turned else (one, drawn)

    return law


def exponential_seeds(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    return np.ones(shape), rng.exponential(size=shape)


def timed_out(seconds: Numbers, share: float) -> Numbers:
    """PAR10, with a cutoff that this share of a Pareto law of index 1.2 exceeds."""
    cutoff = share ** (-1 / 1.2)
    return np.where(seconds > cutoff, 10 * cutoff, seconds)


def log_normal_against_constant(spread: float) -> Law:
    """One size for each instance, against the mean of that law."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        return np.ones(shape), noise(rng, instance(shape), spread) * np.ones(shape)

    return law


def pareto(share: float, factor: float, common: bool) -> Law:
    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        sizes = [rng.pareto(1.2, instance(shape)) + 1 for _ in range(2)]
        if common:
            sizes = [sizes[0] * noise(rng, instance(shape), 0.3) for _ in range(2)]
        first, second = (timed_out(size * noise(rng, shape, 0.3) * scale, share)
                         for size, scale in zip(sizes, (1, 1 / factor), strict=True))  # fmt: skip
        return first, second

    return law


def pareto_against_constant(share: float) -> Law:
    """One size for each instance, with this share of time-outs, against the mean of that law."""
    cutoff = share ** (-1 / 1.2)
    mean = 10 * cutoff * share + 6 * (1 - cutoff**-0.2)

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        drawn = timed_out(rng.pareto(1.2, instance(shape)) + 1, share)
        return np.full(shape, mean), drawn * np.ones(shape)

    return law


def families(sizes: float, gain: float, spread: float = 0.1, share: float = 0.5) -> Law:
    """Some instances gain a share of their cost; the others are larger and lose as much in sum."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        large = rng.random(instance(shape)) < share
        size = rng.lognormal(0, 1, instance(shape))
        first = np.where(large, sizes * size, size)
        loss = gain * (1 - share) / share
        second = first + np.where(large, loss * size, -gain * size)
        return first * noise(rng, shape, spread), second * noise(rng, shape, spread)

    return law


def steady(factor: float, spread: float) -> Law:
    """Costs that differ by this factor on every instance, apart from noise."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        size = rng.lognormal(0, 1, instance(shape))
        first, second = (size * noise(rng, shape, spread) for _ in range(2))
        return factor * first, second

    return law


def falling(small: float, large: float) -> Law:
    """Half of the instances are 10 times larger, and gain another factor."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        is_large = rng.random(instance(shape)) < 0.5
        size = rng.lognormal(0, 1, instance(shape)) * np.where(is_large, 10, 1)
        second = size / np.where(is_large, large, small)
        return size * noise(rng, shape, 0.1), second * noise(rng, shape, 0.1)

    return law


def mixture(share: float) -> Law:
    """Most instances are halved, and a share costs so much more that the means are equal."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        rare = rng.random(instance(shape)) < share
        size = noise(rng, instance(shape), 0.3)
        more = 3 + (1 - share) / share / 2
        first, second = np.where(rare, 3 * size, size), np.where(rare, more * size, size / 2)
        return first * noise(rng, shape, 0.2), second * noise(rng, shape, 0.2)

    return law


def ties(skewed: bool) -> Law:
    """On half of the instances both cost the same."""

    def law(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        same = rng.random(instance(shape)) < 0.5
        base = np.ones(shape)
        other = rng.exponential(size=shape) if skewed else 1 + 0.2 * rng.normal(size=shape)
        return base, np.where(same, base, other)

    return law


POPULATIONS = (
    Population("normal", normal),
    Population("log-normal, independent", log_normal_apart),
    Population("log-normal, common sizes", log_normal(1.5, 1.0)),
    Population("log-normal, 2 times", log_normal(1.5, 2.0), equal=False),
    Population("exponential against constant", exponential(turned=False)),
    Population("constant against exponential", exponential(turned=True)),
    Population("constant against log-normal, 1", log_normal_against_constant(1.0)),
    Population("constant against log-normal, 1.5", log_normal_against_constant(1.5)),
    Population("Pareto, 10 % time out", pareto(0.1, 1.0, common=False)),
    Population("Pareto, 30 % time out", pareto(0.3, 1.0, common=False)),
    Population("Pareto, common sizes", pareto(0.2, 1.0, common=True)),
    Population("Pareto, 2 times", pareto(0.2, 2.0, common=True), equal=False),
    Population("constant against Pareto, 30 %", pareto_against_constant(0.3), rarest=0.3),
    Population("constant against Pareto, 10 %", pareto_against_constant(0.1), rarest=0.1),
    Population("two families, equal sizes", families(1.0, 0.5), rarest=0.5),
    Population("two families, 3 times larger", families(3.0, 0.5), rarest=0.5),
    Population("two families, 10 times larger", families(10.0, 0.5), rarest=0.5),
    Population("two families, 30 times larger", families(30.0, 0.5), rarest=0.5),
    Population("two families, 20 % noise", families(10.0, 0.5, 0.2), rarest=0.5),
    Population("two families, 40 % larger ones", families(10.0, 0.5, 0.1, 0.4), rarest=0.4),
    Population("two kinds, half each", mixture(0.5), rarest=0.5),
    Population("two kinds, 30 %", mixture(0.3), rarest=0.3),
    Population("two kinds, 10 %", mixture(0.1), rarest=0.1),
    Population("half ties, normal", ties(skewed=False)),
    Population("half ties, exponential", ties(skewed=True)),
    Population("exponential seeds", exponential_seeds),
)

POWER = (
    *(
        Population(
            f"{ratio:g} times, {100 * spread:.0f} % noise", steady(ratio, spread), equal=False
        )
        for ratio in (1.1, 1.5, 2.0, 3.0)
        for spread in (0.1, 0.2, 0.4)
    ),
    Population("8 times, 80 % noise", steady(8.0, 0.8), equal=False),
    Population("4 times, larger ones 1.5 times", falling(4.0, 1.5), equal=False),
)
POWER_SIZES = (6, 8, 12, 30, 100)


@dataclass(frozen=True)
class Row:
    """Rates of one population and size, in percent."""

    table: str
    population: str
    method: str
    instances: int
    seeds: int
    trials: int
    covered: float
    better: float
    worse: float

    @property
    def key(self) -> tuple[object, ...]:
        """What the rates are of."""
        return self.table, self.population, self.method, self.instances, self.seeds

    @property
    def rates(self) -> str:
        return f"{self.covered:.1f}, {self.better:.1f}, {self.worse:.1f}"


def refuted(first: Numbers, second: Numbers) -> list[int]:
    """Rows whose equal means the verdict's test refutes, tested some at a time to save memory."""
    parts = (np.array_split(x, max(len(x) // 250, 1)) for x in (first, second))
    sides = zip(*parts, strict=True)
    found = np.concatenate([means.pair_p_values(a, b, LEVEL) for a, b in sides])
    return [
        k
        for k in map(int, np.flatnonzero(found < LEVEL))
        if means.claimed_p_value(first[k], second[k], LEVEL) < LEVEL
    ]


def claims(first: Numbers, second: Numbers, candidates: Iterable[int]) -> tuple[int, int]:
    """How many of these rows are claimed to be better and to be worse."""
    better = worse = 0
    for k in candidates:
        claimed = claim_p_value(first[k], second[k], TIE) < LEVEL
        better += claimed and bool(first[k].mean() > second[k].mean())
        worse += claimed and bool(first[k].mean() < second[k].mean())
    return better, worse


def measured(population: Population, instances: int, seeds: int, trials: int, table: str) -> Row:
    """The rates of the verdict itself, by its own functions."""
    rng = np.random.default_rng([instances, seeds, len(population.name)])
    a, b = (x.mean(axis=2) for x in population.law(rng, (trials, instances, seeds)))
    truth = population.truth
    missed = refuted(a, truth * b)
    covered, better, worse = trials - len(missed), 0, 0
    if population.equal or table == "power":  # a claim needs equal means refuted, and more
        better, worse = claims(a, b, missed if truth == 1 else refuted(a, b))
    rates = [100 * x / trials for x in (covered, better, worse)]
    return Row(table, population.name, "verdict", instances, seeds, trials, *rates)


# Alternatives: one-sided p-values of "the mean is at most zero", for each row of differences


def t_statistic(x: Numbers) -> Numbers:
    return np.asarray(x.mean(1) / np.maximum(x.std(1, ddof=1), 1e-12) * np.sqrt(x.shape[1]))


def student(x: Numbers) -> Numbers:
    t = t_statistic(x)
    tail = np.array([t_tail(abs(v), x.shape[1] - 1) / 2 for v in t])
    return np.where(t > 0, tail, 1 - tail)


def johnson(x: Numbers) -> Numbers:
    """Hall's transformation of t, by the skewness of the sample."""
    n = x.shape[1]
    centred = x - x.mean(1, keepdims=True)
    g = (centred**3).mean(1) / np.maximum((centred**2).mean(1), 1e-24) ** 1.5 / np.sqrt(n)
    t = np.clip(t_statistic(x), -1e3, 1e3)
    moved = t + g * t * t / 3 + g * g * t**3 / 27 + g / 6
    tail = np.array([t_tail(abs(v), n - 1) / 2 for v in moved])
    return np.where(moved > 0, tail, 1 - tail)


def counts(n: int) -> Numbers:
    return np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), 1999).astype(float)


def percentile(x: Numbers) -> Numbers:
    drawn = x @ counts(x.shape[1]).T
    return np.asarray((drawn <= 0).mean(1))


def bootstrap_t(x: Numbers) -> Numbers:
    n = x.shape[1]
    drawn, c = counts(n), x - x.mean(1, keepdims=True)
    middle = c @ drawn.T / n
    spread = np.sqrt(np.maximum((c * c) @ drawn.T / n - middle**2, 1e-18)) / np.sqrt(n - 1)
    return np.asarray((middle / spread >= t_statistic(x)[:, None]).mean(1))


def sign_flips(x: Numbers) -> Numbers:
    signs = np.random.default_rng(1).integers(0, 2, (1999, x.shape[1])) * 2.0 - 1
    signs[0] = 1
    return np.asarray((x @ signs.T >= x.sum(1, keepdims=True) - 1e-9).mean(1))


def flips_and_bootstrap_t(x: Numbers) -> Numbers:
    return np.maximum(sign_flips(x), bootstrap_t(x))


ALTERNATIVES: dict[str, Callable[[Numbers], Numbers]] = {
    "percentile bootstrap": percentile,
    "sign flips": sign_flips,
    "Student's t": student,
    "t by skewness (Hall)": johnson,
    "bootstrap-t": bootstrap_t,
    "flips and bootstrap-t": flips_and_bootstrap_t,
}


def alternative(name: str, population: Population, instances: int, trials: int) -> Row:
    rng = np.random.default_rng([instances, 1, len(population.name)])
    a, b = (x.mean(axis=2) for x in population.law(rng, (trials, instances, 1)))
    x = a - population.truth * b
    up, down = (ALTERNATIVES[name](sign * x) < LEVEL / 2 for sign in (1.0, -1.0))
    rates = [100 * float(r.mean()) for r in (~up & ~down, up, down)]
    return Row("others", population.name, name, instances, 1, trials, *rates)


SPACE = Space({"x": range(2)})
SIDES = [SPACE.config({"x": x}) for x in range(2)]


def few(instances: int, seeds: int, trials: int) -> Row:
    """Equal on these instances on average; seeds have log-normal costs.

    Claims are about these instances: with fewer than six there are none about others. The unit is
    the repetition, a run on each of them.
    """
    better, worse = few_claims(*few_costs(instances, seeds, trials))
    rates = [100 * x / trials for x in (trials - better - worse, better, worse)]
    return Row("few", "log-normal seeds", "verdict", instances, seeds, trials, *rates)


def few_costs(instances: int, seeds: int, trials: int) -> tuple[Numbers, Numbers]:
    """Costs of both by trial, instance and seed."""
    rng = np.random.default_rng([instances, seeds])
    size = rng.lognormal(0, 1.5, (trials, instances, 1))
    first, second = (size * noise(rng, (trials, instances, seeds), 0.8) for _ in range(2))
    return first, second


def few_claims(first: Numbers, second: Numbers) -> tuple[int, int]:
    """How many verdicts on these few instances claim "better" and "worse"."""
    a, b = (x.mean(axis=1) for x in (first, second))
    return (0, 0) if a.shape[1] < MIN_CASES else claims(a, b, refuted(a, b))


def runs_of(config: Config, costs: Numbers) -> list[Run]:
    """Runs with these costs by instance and seed; those with infinite costs have failed."""
    return [
        Run(
            Task(config, Instance(str(i)), k, 1.0),
            Status.OK,
            0.0,
            None if math.isinf(cost) else float(cost),
        )
        for (i, k), cost in np.ndenumerate(costs)
    ]


def failing(instances: int, seeds: int, trials: int) -> Row:
    """Both fail in a fifth of the runs, and cost the same on average otherwise."""
    rng = np.random.default_rng([instances, seeds, 7])
    better = worse = 0
    for _ in range(trials):
        p_value, favours_second = claim(failing_costs(rng, instances, seeds))
        better += p_value < LEVEL and favours_second
        worse += p_value < LEVEL and not favours_second
    rates = [100 * x / trials for x in (trials - better - worse, better, worse)]
    return Row("ours", "failures", "verdict", instances, seeds, trials, *rates)


def failing_costs(
    rng: np.random.Generator, instances: int, seeds: int
) -> dict[tuple[str, int], tuple[float, float]]:
    """Costs of both by instance and seed, infinite where a run has failed."""
    size = rng.lognormal(0, 1, (instances, 1))
    sides = [size * noise(rng, (instances, seeds), 0.8) for _ in SIDES]
    first, second = (np.where(rng.random(x.shape) < 0.2, np.inf, x) for x in sides)
    return {
        (str(i), k): (float(first[i, k]), float(second[i, k])) for i, k in np.ndindex(first.shape)
    }


Call = tuple[Callable[..., Row], tuple[object, ...]]


def calls(trials: int, only: Sequence[str]) -> Iterator[Call]:
    """The functions and arguments that make the rows. Populations are named by their index."""
    every = [(k, p) for k, p in enumerate(POPULATIONS)]
    if "ours" in only:
        for k, p in every:
            yield from ((row_of, (k, n, 1, trials, "ours")) for n in SIZES if p.shows(n))
        yield from ((failing, (n, 1, trials)) for n in (6, 12, 30))
    if "seeds" in only:
        for k, p in every:
            yield from ((row_of, (k, n, seeds, trials, "seeds"))
                        for n in (6, 12, 30) for seeds in (5, 20) if p.shows(n))  # fmt: skip
    if "few" in only:
        sizes = [(n, k) for n in (1, 3, 5) for k in (2, 6, 10, 20)]
        yield from ((few, (*size, trials)) for size in sizes)
    if "unseen" in only:
        for k, p in every:
            yield from ((row_of, (k, n, 1, trials, "unseen")) for n in SIZES if not p.shows(n))
    if "power" in only:
        for k, n in product(range(len(POWER)), POWER_SIZES):
            yield power, (k, n, 1, max(trials // 4, 50), "power")
    if "others" in only:
        for name in ALTERNATIVES:
            for k, p in every:
                yield from ((other, (name, k, n, max(trials // 4, 50)))
                            for n in (6, 12, 30, 100) if p.shows(n))  # fmt: skip


def planned(call: Call) -> tuple[object, ...]:
    """Key and trials of the row that a call makes."""
    function, given = call
    if function is other:
        name, k, n, trials = given
        return ("others", POPULATIONS[int(k)].name, name, n, 1), trials  # type: ignore[call-overload]
    if function is few:
        return ("few", "log-normal seeds", "verdict", *given[:2]), given[2]
    if function is failing:
        return ("ours", "failures", "verdict", *given[:2]), given[2]
    k, n, seeds, trials, table = given
    population = (POWER if function is power else POPULATIONS)[int(k)]  # type: ignore[call-overload]
    return (table, population.name, "verdict", n, seeds), trials


def row_of(population: int, *arguments: object) -> Row:
    return measured(POPULATIONS[population], *arguments)  # type: ignore[arg-type]


def power(population: int, *arguments: object) -> Row:
    return measured(POWER[population], *arguments)  # type: ignore[arg-type]


def other(name: str, population: int, *arguments: object) -> Row:
    return alternative(name, POPULATIONS[population], *arguments)  # type: ignore[arg-type]


def made(call: Call) -> Row:
    function, arguments = call
    return function(*arguments)


def table(rows: Sequence[Row], name: str) -> Iterator[str]:
    """One line for each population and number of seeds, one column for each number of instances."""
    chosen = {(r.population, r.seeds, r.instances): r for r in rows if r.table == name}
    sizes = sorted({n for _, _, n in chosen})
    yield f"| population | seeds | {' | '.join(map(str, sizes))} |"
    yield "|---" * (len(sizes) + 2) + "|"
    for population, seeds in dict.fromkeys((p, seeds) for p, seeds, _ in chosen):
        cells = [chosen.get((population, seeds, n)) for n in sizes]
        shown = [(f"{c.better:.0f}" if name == "power" else c.rates) if c else "" for c in cells]
        yield f"| {population} | {seeds} | {' | '.join(shown)} |"


def worst(rows: Sequence[Row]) -> Iterator[str]:
    """For each method and size the least coverage and the most false claims, with one seed."""
    chosen = [r for r in rows if r.table in ("others", "ours") and r.population != "failures"]
    sizes = (6, 12, 30, 100)
    yield f"| method | {' | '.join(map(str, sizes))} |"
    yield "|---" * (len(sizes) + 1) + "|"
    for method in dict.fromkeys(
        r.method for r in sorted(chosen, key=lambda r: r.table != "others")
    ):
        cells = []
        for n in sizes:
            own = [r for r in chosen if (r.method, r.instances) == (method, n)]
            equal = [r for r in own if "2 times" not in r.population]
            false = max((max(r.better, r.worse) for r in equal), default=math.nan)
            cells.append(f"{min((r.covered for r in own), default=math.nan):.1f}, {false:.1f}")
        yield f"| {method} | {' | '.join(cells)} |"


TABLES = ("ours", "seeds", "few", "unseen", "power")


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """The tables of the page, by name."""
    made = {name: "\n".join(table(rows, name)) for name in TABLES}
    made["others"] = "\n".join(worst(rows))
    return {name: f"{trials(rows, name)}\n\n{text}" for name, text in made.items()}


def trials(rows: Sequence[Row], name: str) -> str:
    """How many trials the rows of a table have, and what that means, as a sentence."""
    counts = [r.trials for r in rows if r.table == name and r.population != "failures"]
    least = min(counts, default=0)
    error = 100 * math.sqrt(0.025 * 0.975 / least) if least else math.nan
    return f"At least {least:,} trials; the standard error of 2.5 % is at most {error:.2f} points."


def filled(page: str, texts: Mapping[str, str]) -> str:
    """The page with these tables between their marks."""
    for name, text in texts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = f"{before}{begin}{text}\n{end}{rest.split(end)[1]}"
    return page


def saved() -> list[Row]:
    """The rows of the last `--save`."""
    with DATA.open(newline="") as file:
        return [
            Row(r["table"], r["population"], r["method"], int(r["instances"]), int(r["seeds"]),
                int(r["trials"]), float(r["covered"]), float(r["better"]), float(r["worse"]))
            for r in csv.DictReader(file)
        ]  # fmt: skip


def save(rows: Sequence[Row]) -> None:
    with DATA.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row.__dataclass_fields__)
        writer.writerows([getattr(r, f) for f in Row.__dataclass_fields__] for r in rows)
    PAGE.write_text(filled(PAGE.read_text(), tables(rows)))


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.calibration", description=__doc__)
    names = (*TABLES, "others")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--save", action="store_true", help=f"write {DATA.name} and the page")
    parser.add_argument("--more", action="store_true", help="skip rows that are saved already")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    rows: list[Row] = saved() if options.save else []
    done = {(row.key, row.trials) for row in rows} if options.more else set()
    left = [c for c in calls(options.trials, options.only) if planned(c) not in done]
    with ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(made, left):
            rows = [r for r in rows if r.key != row.key] + [row]
            if options.save:  # after each, so that nothing is lost when it is stopped
                save(rows)
    for name, text in tables(rows).items():
        print(name, text, "", sep="\n")
    print(f"{len(rows)} rows, {time.monotonic() - began:.0f} s")
