"""Scores and orders of pairs in which all families of instances count alike."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from paramhs.core.costs import Cost, Score, mean, score
from paramhs.core.runs import Pair
from paramhs.search.history import History


def total(history: History, pairs: Sequence[Pair], costs: Sequence[Cost]) -> Score:
    """Score of costs on these pairs; where families are balanced, the mean of the families' scores.

    Costs compared with each other must be on the same pairs, so that both have the same families.
    """
    if not history.scenario.balanced:
        return score(costs)
    grouped: dict[str, list[Cost]] = defaultdict(list)
    for pair, cost in zip(pairs, costs, strict=True):
        grouped[history.scenario.families[pair.instance.name]].append(cost)
    scores = [score(group) for group in grouped.values()]
    return tuple(mean(numbers) for numbers in zip(*scores, strict=True))


def by_blocks(history: History, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Pairs in blocks of one from each family, in the given order within each family."""
    grouped: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        grouped[history.scenario.families[pair.instance.name]].append(pair)
    for block in zip_longest(*grouped.values()):
        yield from (pair for pair in block if pair is not None)


def family_count(history: History) -> int:
    """Number of families among the instances of the search."""
    scenario = history.scenario
    return len({scenario.families[instance.name] for instance in scenario.instances})
