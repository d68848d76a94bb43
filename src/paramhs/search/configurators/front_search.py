"""Search for a front where there are several costs."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from paramhs.core.errors import BadInput
from paramhs.core.runs import Evaluate, Incumbent, Run, Search
from paramhs.core.several_costs import Costs
from paramhs.core.space import Config
from paramhs.search.comparison import Comparison, Growing
from paramhs.search.configurators.configurator import Configurator, check_parts, why_ended
from paramhs.search.configurators.moves import Moves
from paramhs.search.configurators.param_hs import ParamHS
from paramhs.search.dialogue import Dialogue, checked
from paramhs.search.front import (
    RelativeCosts,
    Scalarised,
    Weights,
    bound_position,
    dominates,
    drawn_weights,
    mean_costs,
    positions,
    preferred,
    weighed,
    weighed_in_gap,
    weights_towards,
)
from paramhs.search.history import History
from paramhs.search.operators import Learned, Learner, Operator

_MAX_IDLE_DRAWS = 30  # weights in a row without anything to try that end a search
_AIMED_SHARE = 0.5  # share of the races that aim at the bounds
_MIN_RUNS = 5  # of an incumbent that it may always gain
_RUN_SHARE = 0.02  # of all runs so far that one incumbent may gain
_GAP_SHARE = 0.5  # of the races that look at a gap of the front
_CONFIGS_PER_RACE = 50  # configurations for which one more race shares its weights


@dataclass(frozen=True)
class FrontSearch(Configurator):
    """Races with other weights of the costs each time, and an archive of what none dominates.

    Weights are drawn for each race. With them every run has one cost, and the race is that of one
    cost: the best of the archive is the incumbent, a challenger is proposed by the operator from
    all runs, and both meet on common pairs. A configuration that looks better than the incumbent
    under these weights, on common pairs, comes before new ones: other weights rejected it. Half of
    the races take their units from the whole front, half from a gap between two neighbours; under
    bounds, half of all weigh costs so that the best configuration within the bounds improves.

    With `Growing`, an incumbent gains runs up to a fiftieth of all so far, at least five, because
    the evidence is shared by the archive.

    The default is run on all pairs, because costs are relative to its own. With many known
    configurations, a few races share their weights, which saves fits of the model.

    Args:
        operator: Where challengers come from.
        comparison: The rule of a race.

    Examples:
        >>> import paramhs
        >>> def both(config):
        ...     return config["x"] + 1, (config["x"] - 9) ** 2 + 1
        >>> costs = ["minimise size", "minimise loss"]
        >>> found = paramhs.tune(both, {"x": range(30)}, cost=costs, budget=30)
        >>> all(point.config["x"] <= 9 for point in found.front.points)
        True

    Source: the weights and their norm are those of ParEGO (Knowles, IEEE Transactions on
    Evolutionary Computation 10, 2006); the races are those of `ParamHS`.
    """

    operator: Operator | Learner = Learned()
    comparison: Comparison = Growing()

    def __post_init__(self) -> None:
        check_parts(self.operator, self.comparison)

    def search(self, history: History) -> Search:
        """A new search."""
        metric = history.scenario.cost
        if not isinstance(metric, Costs):
            raise BadInput("a search for a front needs several costs")
        default = history.scenario.space.default
        yield from checked(self.comparison.start(history, default))
        yield Incumbent(default)
        archive, best = [default], default
        waiting = [config for config in history.scenario.initial if config != default]
        idle = spare = 0
        for number in count():
            view = self._view(history, metric, number, archive, best)
            incumbent = min(archive, key=lambda config: _upper(view, config))
            rule = self._comparison(history, spare)
            moves = Moves(self.operator, view)
            tried = 0
            for _ in range(1 + len(history.configs) // _CONFIGS_PER_RACE):
                challenger = (
                    waiting.pop(0) if waiting else self._proposed(view, rule, moves, incumbent)
                )
                if challenger is None or challenger == incumbent:
                    break
                tried += 1
                yield from self._race(history, view, rule, challenger, incumbent)
                archive = _with(history, archive, challenger, incumbent)
                found = positions(history, RelativeCosts(history), archive)
                now = preferred(history, metric, found).config
                if now != best:
                    best = now
                    yield Incumbent(best)
            idle, spare = (0, spare) if tried else (idle + 1, spare + 1)
            if idle == _MAX_IDLE_DRAWS:
                return why_ended(history)
        raise AssertionError("there are more numbers")

    def _view(
        self,
        history: History,
        metric: Costs,
        number: int,
        archive: Sequence[Config],
        best: Config,
    ) -> History:
        """The history with one cost, by weights drawn for this race."""
        relative = RelativeCosts(history)
        rng = history.rng("weights", number)
        among = positions(history, relative, archive)
        weights = drawn_weights(len(metric.parts), rng)
        norm = weighed(weights, among)
        if rng.random() < _GAP_SHARE:
            norm = weighed_in_gap(weights, among, rng)
        if metric.bounds and rng.random() < _AIMED_SHARE:
            default = history.scenario.space.default
            means = dict(zip(metric.names, mean_costs(history, default), strict=True))
            at = next((p for p in among if p.config == best), among[0])
            aim = bound_position(metric, relative, means, at)
            norm = Weights(weights_towards(aim, norm), norm.ideal, norm.ranges)
        return history.seen_by(Scalarised(metric, norm, relative), rng.getrandbits(60))

    def _proposed(
        self, view: History, rule: Comparison, moves: Moves, incumbent: Config
    ) -> Config | None:
        """A challenger: one that looks better under these weights, else a move, else any left."""
        back = looks_better(view, rule, incumbent)
        if back is not None:
            return back
        if len(view.configs) != view.scenario.space.size():
            returning = moves.look(incumbent)
            rejected = {
                config
                for config in view.configs
                if config not in returning or rule.is_final(view, config, incumbent)
            }
            move = moves.take(incumbent, rejected) or moves.jump(incumbent, rejected)
            if move:
                return move[0]
        open_ = [
            config
            for config in view.configs
            if config != incumbent and not rule.is_final(view, config, incumbent)
        ]
        return open_[int(view.rng("again").random() * len(open_))] if open_ else None

    def _comparison(self, history: History, spare: int) -> Comparison:
        """The rule of a race; an incumbent gains a share of the runs, more if nothing is left."""
        if not isinstance(self.comparison, Growing):
            return self.comparison
        fair = max(_MIN_RUNS, int(history.asked * _RUN_SHARE)) + spare
        return replace(self.comparison, max_runs=min(self.comparison.max_runs, fair))

    def _race(
        self,
        history: History,
        view: History,
        rule: Comparison,
        challenger: Config,
        incumbent: Config,
    ) -> Generator[Evaluate, Sequence[Run], None]:
        """Race in the view; its runs, and the default's beside them, are made in the history."""
        default = history.scenario.space.default
        history.open_race(challenger, incumbent)
        asking = Dialogue(rule.better(view, challenger, incumbent))
        while request := asking.request:
            pairs = dict.fromkeys(task.pair for task in request.tasks)
            asked = {task.call for task in request.tasks}
            beside = [t for t in history.missing(default, pairs) if t.call not in asked]
            before = len(history.runs)
            yield from history.make([*beside, *request.tasks], request.likely)
            made = history.runs[before:]
            for run in made[: len(beside)]:
                view.add(run)
            asking.advance(made[len(beside) :])
        won = bool(asking.result)
        view.decide(challenger, incumbent, won)
        history.decide(challenger, incumbent, won)


def front_search(configurator: Configurator) -> FrontSearch:
    """Turn a configurator into a search for a front with the same moves and comparison."""
    if isinstance(configurator, FrontSearch):
        return configurator
    if type(configurator) is ParamHS:
        return FrontSearch(configurator.operator, configurator.comparison)
    raise BadInput(
        f"{type(configurator).__name__} cannot search with several costs: only ParamHS can, by"
        " whatever moves and comparison"
    )


def looks_better(view: History, comparison: Comparison, incumbent: Config) -> Config | None:
    """The configuration that is best of all ahead of the incumbent on common pairs, if any.

    It was rejected by other weights, or never raced under these.
    """
    ahead: list[tuple[float, Config]] = []
    costs = view.costs(incumbent)
    for config in view.configs:
        own = view.costs(config)
        common = [pair for pair in own if pair in costs]
        if config != incumbent and common:
            apart = [own[pair][0] - costs[pair][0] for pair in common]
            mean = sum(apart) / len(apart)
            if mean < 0 and not comparison.is_final(view, config, incumbent):
                ahead.append((mean, config))
    return min(ahead, key=lambda one: one[0], default=(0.0, None))[1]


def _upper(view: History, config: Config) -> tuple[float, float]:
    """Mean of a configuration's costs in a view, one standard error worse; failures first."""
    costs = [cost[0] for cost in view.costs(config).values()]
    usable = [cost for cost in costs if cost < float("inf")]
    if not usable:
        return (1.0, 0.0)
    middle = sum(usable) / len(usable)
    squares = sum((cost - middle) ** 2 for cost in usable)
    error = (squares / (len(usable) - 1) / len(usable)) ** 0.5 if len(usable) > 1 else 0.0
    return (1 - len(usable) / len(costs), middle + error)


def _with(history: History, archive: Sequence[Config], *new: Config) -> list[Config]:
    """The archive with new configurations, without those that are dominated beyond doubt."""
    relative = RelativeCosts(history)
    default = history.scenario.space.default
    known = {position.config for position in positions(history, relative, new)}
    entered = [
        config
        for config in dict.fromkeys(new)
        if config in known
        and not any(dominates(history, relative, c, config) for c in archive if c != config)
    ]
    kept = [
        config
        for config in archive
        if config not in entered
        and not any(dominates(history, relative, c, config) for c in entered)
    ]
    return [*kept, *entered] or [default]
