"""Groups of instances that prefer different configurations, where this is beyond chance.

The costs of configurations by instance (logarithms, where all are positive) are adjusted for how
hard an instance is. The configurations are divided into two halves at random. One half groups the
instances: by the sign of the leading factor of what remains after the effects of instances and
configurations are removed (a singular vector over the known cells). The other half tests the
groups: by how much the best configuration of each group beats the best one for all. Under the
hypothesis that no group exists, labels from one half mean nothing for the other, so the gain is
compared with gains under permuted labels, which is an exact test. Both directions are tested, and
the smaller p-value is doubled.

An instance that is only *more sensitive* to parameters prefers the same configurations as others,
gains nothing from a group of its own, and forms none.

Groups that are known, such as families, need no configurations to form them: the same test is made
on all configurations.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from paramhs.core.families import Families
from paramhs.core.random_streams import shuffled, stream
from paramhs.core.scenario import plain_name
from paramhs.core.space import Config
from paramhs.core.space.literals import value_text
from paramhs.core.text.numbers import counted
from paramhs.search.history import History

Numbers = npt.NDArray[np.float64]

MIN_INSTANCES = 8
MIN_CONFIGS = 6
MIN_GROUP_INSTANCES = 3  # instances in a group
SIGNIFICANCE_LEVEL = 0.01
_PERMUTATIONS = 999
_PASSES = 30  # of the alternating fits
_MAX_CONFIGS = 400  # those with the most cells
_MAX_CHANGES = 5  # changes of a configuration that a sentence shows
_FAMILY_SHARE = 0.3  # of the instances, on which a configuration is known


@dataclass(frozen=True)
class Clusters:
    """Groups of instances that prefer different configurations."""

    groups: tuple[tuple[str, ...], ...]
    """Names of the instances of each group."""
    prefers: tuple[Config, ...]
    """Best configuration of each group, among those that test the groups."""
    gain: float
    """Factor by which one for each group beats one for all, beyond what permuted labels give."""
    p_value: float
    families: tuple[str, ...] = ()
    """Name of each group; empty if the groups were found and not known."""

    @property
    def sentence(self) -> str:
        """The finding, in one sentence."""
        if self.families:
            return self._of_families
        first, second = (_named(group) for group in self.groups)
        return (
            f"Instances fall into two groups that prefer different configurations (p ="
            f" {self.p_value:.2g}): {first}, and {second}; one configuration for each would be"
            f" about {self.gain:.3g} times better than one for both."
        )

    @property
    def _of_families(self) -> str:
        named = "; ".join(
            f"{config or 'the default'} on {family or '(none)'}"
            for family, config in zip(self.families, map(_changes, self.prefers), strict=True)
        )
        return (
            f"In the search, families prefer different configurations (p = {self.p_value:.2g}):"
            f" {named}. One for each would be about {self.gain:.3g} times better than one for all;"
            " `paramhs portfolio` chooses a few and compares them on the test set."
        )

    def to_json(self) -> dict[str, object]:
        """Convert the result to JSON types."""
        return {
            "families": list(self.families),
            "groups": [list(group) for group in self.groups],
            "prefers": [config.as_dict() for config in self.prefers],
            "gain": self.gain,
            "p_value": self.p_value,
        }


def _changes(config: Config) -> str:
    """Differences from the default, in words; empty for the default."""
    default = config.space.default
    words = [f"{k}={value_text(v)}" for k, v in config.items() if default.get(k) != v]
    more = f" ... ({len(words) - _MAX_CHANGES} more)" if len(words) > _MAX_CHANGES else ""
    return " ".join(words[:_MAX_CHANGES]) + more


def _named(group: tuple[str, ...]) -> str:
    names = ", ".join(map(plain_name, group[:3]))
    return f"{counted(len(group), 'instance')} ({names}{', ...' if len(group) > 3 else ''})"


def clusters(history: History) -> Clusters | None:
    """Find two groups of instances with different preferences; None unless beyond chance."""
    configs, names, cells = _cells(history)
    if len(configs) < MIN_CONFIGS or len(names) < MIN_INSTANCES:
        return None
    adjusted = cells - _instance_effects(cells)[None, :]
    order = np.array(shuffled(range(len(configs)), stream(history.seed, "clusters")))
    halves = order[::2], order[1::2]
    found = [_tested(adjusted, halves[k], halves[1 - k], history.seed) for k in (0, 1)]
    tests = [one for one in found if one is not None]
    if not tests:
        return None
    best = min(tests, key=lambda one: one.p_value)
    p_value = min(1.0, 2 * best.p_value)
    if p_value >= SIGNIFICANCE_LEVEL or best.gain <= 1:
        return None
    first, second = (
        tuple(name for name, label in zip(names, best.labels, strict=True) if label == side)
        for side in (False, True)
    )
    return Clusters(
        (first, second), (configs[best.best[0]], configs[best.best[1]]), best.gain, p_value
    )


def family_preferences(history: History, families: Families) -> Clusters | None:
    """The configuration that each family prefers; None unless that differs beyond chance."""
    configs, names, cells = _cells(history, _FAMILY_SHARE)
    known = [families.get(plain_name(name), "") for name in names]
    order = sorted(set(known))
    labels = np.array([order.index(family) for family in known])
    if len(configs) < 2 or len(order) < 2 or np.bincount(labels).min() < MIN_GROUP_INSTANCES:
        return None
    test = _permuted(cells - _instance_effects(cells)[None, :], labels, history.seed)
    prefers = tuple(configs[best] for best in test.best)
    if test.p_value >= SIGNIFICANCE_LEVEL or test.gain <= 1 or len(set(prefers)) < 2:
        return None
    groups = tuple(
        tuple(name for name, own in zip(names, known, strict=True) if own == family)
        for family in order
    )
    return Clusters(groups, prefers, test.gain, test.p_value, tuple(order))


def _cells(history: History, share: float = 0.5) -> tuple[list[Config], list[str], Numbers]:
    """Configurations known on this share of the instances, instances, and mean costs (or NaN)."""
    names = [instance.name for instance in history.scenario.instances]
    column = {name: k for k, name in enumerate(names)}
    least = max(4, int(share * len(names)))
    rows: list[tuple[Config, Numbers]] = []
    for config in history.configs:
        sums, counts = np.zeros(len(names)), np.zeros(len(names))
        for pair, cost in history.costs(config).items():
            if np.isfinite(cost[0]) and pair.instance in column:
                sums[column[pair.instance]] += cost[0]
                counts[column[pair.instance]] += 1
        if (counts > 0).sum() >= least:
            with np.errstate(invalid="ignore"):
                rows.append((config, sums / counts))
    rows = sorted(rows, key=lambda row: -int(np.isfinite(row[1]).sum()))[:_MAX_CONFIGS]
    if not rows:
        return [], names, np.empty((0, len(names)))
    cells = np.array([row for _, row in rows])
    known = np.isfinite(cells).sum(axis=0) >= 2
    cells = cells[:, known]
    if cells.size and np.nanmin(cells) > 0:
        cells = np.log(cells)
    kept = [name for name, keep in zip(names, known, strict=True) if keep]
    return [config for config, _ in rows], kept, cells


def _instance_effects(cells: Numbers) -> Numbers:
    """Effect of each instance in the additive model of instances and configurations."""
    rows = np.zeros(len(cells))
    columns: Numbers = np.zeros(cells.shape[1])
    for _ in range(_PASSES):
        columns = np.nanmean(cells - rows[:, None], axis=0)
        rows = np.nanmean(cells - columns[None, :], axis=1)
    return columns


def _labels(adjusted: Numbers) -> npt.NDArray[np.bool_]:
    """Sign of the leading factor of the instances, over the known cells."""
    residual = adjusted - np.nanmean(adjusted, axis=1, keepdims=True)
    known = np.isfinite(residual)
    filled = np.where(known, residual, 0.0)
    factor = filled[np.argmax(np.abs(filled).sum(axis=1))].copy()
    for _ in range(_PASSES):
        weights = filled @ factor / np.maximum(known @ factor**2, 1e-12)
        factor = weights @ filled / np.maximum(weights**2 @ known, 1e-12)
    return np.asarray(factor > 0)


Labels = npt.NDArray[np.int_]


@dataclass(frozen=True)
class _Test:
    labels: Labels
    best: tuple[int, ...]
    gain: float
    p_value: float


def _tested(
    adjusted: Numbers, grouping: npt.NDArray[np.int_], testing: npt.NDArray[np.int_], seed: int
) -> _Test | None:
    """Group the instances by one half of the configurations, and test that with the other."""
    labels = _labels(adjusted[grouping])
    if min(labels.sum(), (~labels).sum()) < MIN_GROUP_INSTANCES:
        return None
    test = _permuted(adjusted[testing], labels.astype(int), seed)
    return replace(test, best=tuple(int(testing[k]) for k in test.best))


def _permuted(cells: Numbers, labels: Labels, seed: int) -> _Test:
    """Compare the gain of these groups with gains under permuted labels."""
    gain, best = _gain(cells, labels)
    rng = np.random.default_rng([abs(seed) % 2**32, len(cells)])
    permuted = np.array([_gain(cells, rng.permutation(labels))[0] for _ in range(_PERMUTATIONS)])
    p_value = (1 + int((permuted >= gain).sum())) / (1 + _PERMUTATIONS)
    return _Test(labels, best, float(np.exp(gain - float(permuted.mean()))), p_value)


def _gain(cells: Numbers, labels: Labels) -> tuple[float, tuple[int, ...]]:
    """Gain of the best configuration of each group over the best one for all."""
    known = np.isfinite(cells)
    filled = np.where(known, cells, 0.0)
    together, apart = np.zeros(len(cells)), 0.0
    best: list[int] = []
    for group in range(labels.max() + 1):
        side = labels == group
        count = known[:, side].sum(axis=1)
        usable = count >= max(2, side.sum() // 3)
        mean = np.where(usable, filled[:, side].sum(axis=1) / np.maximum(count, 1), np.inf)
        together += side.mean() * mean
        best.append(int(np.argmin(mean)))
        apart += side.mean() * float(mean[best[-1]])
    single = float(together.min())
    return (single - apart if np.isfinite(single) else 0.0), tuple(best)


def virtual_best(history: History, best: Config) -> tuple[float, int] | None:
    """Ratio of the best's mean cost to that of a perfect choice for each of its pairs.

    Returns:
        The ratio and the number of configurations with a run on these pairs; None unless all costs
        are positive and finite. It is computed from the runs that were made: an unknown run is
        never guessed.
    """
    own = history.costs(best)
    least: dict[object, float] = {pair: cost[0] for pair, cost in own.items()}
    if not least or not 0 < min(least.values()) <= max(least.values()) < np.inf:
        return None
    count = 0
    for config in history.configs:
        costs: Mapping[object, tuple[float, ...]] = history.costs(config)  # type: ignore[assignment]
        met = [pair for pair in costs if pair in least]
        count += bool(met)
        for pair in met:
            least[pair] = min(least[pair], costs[pair][0])
    if min(least.values()) <= 0:
        return None
    return sum(cost[0] for cost in own.values()) / sum(least.values()), count
