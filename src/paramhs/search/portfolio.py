"""Choice of several configurations that together do well: a portfolio.

The cost of a portfolio on a pair is the least cost of its members there. `addition` chooses the
next member from everything that was run. The mean over pairs of the least cost is submodular, so a
greedy choice keeps at least 63 % of the gain that any choice of as many members could have. What is
unknown is never guessed: promising candidates are run on more and more of the pairs, the better
third of them each time on twice as many, and only a candidate known on all pairs can be chosen.
Where time is the cost, a candidate need not run longer than the portfolio takes: its cost is then
at least as large, and the least of both is known.

`round_of` makes a search for a configuration that complements a portfolio: a run costs the least of
its own cost and the portfolio's on the same pair.

Sources: Nemhauser, Wolsey, Fisher (Mathematical Programming 14, 1978) for greedy choices; Karnin,
Koren, Somekh (ICML 2013) for halving; Xu, Hoos, Leyton-Brown, Hydra (AAAI 2010) for the rounds.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paramhs.core.capping import Capping
from paramhs.core.costs import Cost, CostMetric, Score, score
from paramhs.core.random_streams import shuffled, stream
from paramhs.core.runs import Evaluate, Incumbent, Pair, Run, Status, Task
from paramhs.core.space import Config
from paramhs.search.configurators import Configurator
from paramhs.search.dialogue import Dialogue
from paramhs.search.history import History

_STAGES = (0.25, 0.5, 1.0)
"""Shares of the pairs on which candidates are compared, one after the other."""
_STAGE_DIVISOR = 3  # divisor of the number of candidates after each stage
_MAX_PAIRS = 200  # pairs of a choice

Best = Mapping[Pair, Cost]
"""Cost of a portfolio on each pair."""


def pairs_for(history: History, first: Config) -> list[Pair]:
    """Pairs on which members are compared: those of the best single configuration.

    New ones are added until every instance has one.
    """
    pairs = list(history.pairs_of(first))[:_MAX_PAIRS]
    covered = {pair.instance for pair in pairs}
    for pair in history.new_pairs(first):
        if len(covered) >= len(history.scenario.instances) or len(pairs) >= _MAX_PAIRS:
            break
        if pair.instance not in covered:
            pairs.append(pair)
            covered.add(pair.instance)
    return pairs


def best_costs(history: History, members: Sequence[Config], pairs: Sequence[Pair]) -> Best:
    """Least known cost of the members on each pair; one of them must be known there."""
    found: dict[Pair, Cost] = {}
    for pair in pairs:
        known = (history.costs(member).get(pair) for member in members)
        found[pair] = min(cost for cost in known if cost is not None)
    return found


def with_member(history: History, best: Best, config: Config, pair: Pair) -> Cost | None:
    """Least of a portfolio's cost on a pair and a configuration's; None if it is unknown."""
    cost = history.costs(config).get(pair)
    if cost is not None:
        return min(cost, best[pair])
    least = history.at_least(config, pair)
    return None if least is None or least < best[pair][0] else best[pair]


def addition(
    history: History, members: Sequence[Config], pairs: Sequence[Pair], runs: int
) -> Generator[Evaluate, Sequence[Run], Config | None]:
    """Find the configuration that improves a portfolio most, with at most this many new runs.

    Returns:
        The configuration; None if no other improves it.
    """
    best = best_costs(history, members, pairs)
    order = shuffled(pairs, stream(history.seed, "portfolio", len(members)))
    candidates = _ranked(history, best, members)
    complete = [c for c in candidates if _is_known(history, best, c, pairs)]
    count = _affordable(runs, len(pairs))
    chosen = [c for c in candidates if c not in set(complete)][:count]
    end = history.asked + runs
    for share in _STAGES:
        part = order[: max(1, math.ceil(share * len(order)))]
        while chosen:
            tasks = [t for c in chosen for t in _tasks(history, best, c, part)]
            if history.asked + len(tasks) <= end:
                yield from history.make(tasks)
                break
            chosen = chosen[:-1]
        chosen.sort(key=lambda c: _score(history, best, c, part))
        if share < 1:
            chosen = chosen[: max(1, math.ceil(len(chosen) / _STAGE_DIVISOR))]
    finished = [c for c in (*complete, *chosen) if _is_known(history, best, c, pairs)]
    if not finished:
        return None
    found = min(finished, key=lambda c: _score(history, best, c, pairs))
    return found if _score(history, best, found, pairs) < score([*best.values()]) else None


def _affordable(runs: int, pairs: int) -> int:
    """Number of candidates for which the runs of all stages suffice."""
    each, before = 0.0, 0.0
    for stage, share in enumerate(_STAGES):
        each += (share - before) * pairs / _STAGE_DIVISOR**stage
        before = share
    return int(runs / max(each, 1.0))


def _is_known(history: History, best: Best, config: Config, pairs: Sequence[Pair]) -> bool:
    return all(with_member(history, best, config, pair) is not None for pair in pairs)


def _tasks(history: History, best: Best, config: Config, pairs: Sequence[Pair]) -> list[Task]:
    """Runs that are missing on these pairs, no longer than the portfolio takes."""
    unknown = [pair for pair in pairs if with_member(history, best, config, pair) is None]
    return [Task(config, *pair, limit(history, best, pair)) for pair in unknown]


def limit(history: History, best: Best, pair: Pair) -> float:
    """Cutoff of a run beside a portfolio."""
    scenario = history.scenario
    usable = scenario.cost.grows_with_time and 0 < best[pair][0] < scenario.cutoff
    return best[pair][0] if usable else scenario.cutoff


def _score(history: History, best: Best, config: Config, pairs: Sequence[Pair]) -> Score:
    """Score of the portfolio with this configuration."""
    return score([with_member(history, best, config, pair) or best[pair] for pair in pairs])


def _ranked(history: History, best: Best, members: Sequence[Config]) -> list[Config]:
    """Candidates by their mean gain on known pairs, shrunk towards none; without any, left out."""
    finite = [cost[0] for cost in best.values() if math.isfinite(cost[0])]
    scale = max(map(abs, finite), default=1.0) or 1.0
    worth: dict[Config, float] = {}
    for config in history.configs:
        gains = [
            _gain(cost[0], best[pair][0], scale)
            for pair, cost in history.costs(config).items()
            if pair in best
        ]
        if config not in members and gains and config not in history.wrong:
            worth[config] = math.fsum(gains) / (len(gains) + 1)
    return sorted((c for c, gain in worth.items() if gain > 0), key=lambda c: -worth[c])


def _gain(cost: float, best: float, scale: float) -> float:
    if math.isinf(best):
        return 0.0 if math.isinf(cost) else 2 * scale
    return max(0.0, best - cost)


# Rounds of Hydra


@dataclass(frozen=True)
class Beside(CostMetric):
    """The least of a run's own cost and a portfolio's on the same pair."""

    metric: CostMetric
    best: dict[Pair, Cost] = field(default_factory=dict)
    """Costs of the portfolio; they are added as pairs are run."""

    @property
    def needs_quality(self) -> bool:
        """Same as for the underlying metric."""
        return self.metric.needs_quality

    @property
    def needs_runtime(self) -> bool:
        """Same as for the underlying metric."""
        return self.metric.needs_runtime

    @property
    def label(self) -> str:
        """Same as for the underlying metric."""
        return self.metric.label

    def of(self, run: Run) -> Cost:
        """Return the least of both costs; a wrong answer keeps its own."""
        own = self.metric.of(run)
        known = self.best.get(run.task.pair)
        return own if known is None or run.status is Status.WRONG else min(own, known)

    def shown(self, score: Score) -> float:
        """Same as for the underlying metric."""
        return self.metric.shown(score)


def round_of(
    history: History,
    members: Sequence[Config],
    configurator: Configurator,
    runs: int,
    number: int,
) -> Generator[Evaluate, Sequence[Run], Config]:
    """Search for a configuration that complements a portfolio.

    Args:
        history: The record of everything that was run; the round adds its runs.
        members: The portfolio.
        configurator: The search of the round.
        runs: Number of new runs.
        number: Number of the round, which names its random stream.

    Returns:
        The last incumbent of the round.
    """
    metric = Beside(history.scenario.cost)
    scenario = replace(
        history.scenario, cost=metric, capping=Capping("none"), known=(), initial=(members[-1],)
    )
    inner = History(scenario, history.seed)
    inner.judge.tells_cutoff = history.judge.tells_cutoff
    dialogue = Dialogue(configurator.search(inner))
    incumbent, end = members[0], history.asked + runs
    made: dict[tuple[Config, Pair], Run] = {}
    read = 0
    while (request := dialogue.request) is not None:
        if isinstance(request, Incumbent):
            incumbent = request.config
            dialogue.advance()
            continue
        pairs = list(dict.fromkeys(task.pair for task in request.tasks))
        missing = [t for m in members for t in history.missing(m, pairs)]
        if history.asked + len(missing) + len(request.tasks) > end:
            break
        yield from history.make(missing)
        metric.best.update(best_costs(history, members, pairs))
        wanted = [t for t in request.tasks if _is_missing(history, metric.best, t)]
        cut = [t._replace(cutoff=limit(history, metric.best, t.pair)) for t in wanted]
        yield from history.make(cut)
        for run in history.runs[read:]:
            made[run.task.config, run.task.pair] = run
        read = len(history.runs)
        dialogue.advance([_seen(made[t.config, t.pair], t) for t in request.tasks])
    dialogue.close()
    return incumbent


def _is_missing(history: History, best: Best, task: Task) -> bool:
    return with_member(history, best, task.config, task.pair) is None


def _seen(run: Run, task: Task) -> Run:
    """Convert a run to the form that the search of a round receives.

    One that was cut at the portfolio's time has lost to it: it costs what the portfolio costs, so
    it is complete for this search.
    """
    if run.status is Status.CAPPED:
        return Run(task, Status.TIMEOUT, task.cutoff, None, "it took longer than the portfolio")
    return run._replace(task=task)
