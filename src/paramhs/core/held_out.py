"""The held-out instances: which instances become the test set."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from paramhs.core.errors import BadInput
from paramhs.core.families import Families, told_by_names
from paramhs.core.random_streams import shuffled, stream
from paramhs.core.runs import Instance

USUAL_SHARE = 0.3  # of the instances, held out by default
MIN_TEST_PAIRS = 6  # pairs from which on a sign-flip test can fall below p = 0.05: 2 / 2^6
MIN_INSTANCES = 10  # instances from which on some are held out by default


def split(
    instances: Sequence[Instance], share: float, seed: int, families: Families | None = None
) -> tuple[tuple[Instance, ...], tuple[Instance, ...]]:
    """Instances to search on, and held-out ones: a share of every family.

    Args:
        instances: All of them; their names differ.
        share: Share to hold out, at least 0 and below 1.
        seed: Seed of the draw.
        families: Family by instance name; left out, inferred from the names.
    """
    if not 0 <= share < 1:
        raise BadInput(f"the share of instances held out must be at least 0 and below 1: {share}")
    out: set[str] = set()
    grouped = _grouped(instances, families or told_by_names([i.name for i in instances]))
    for (family, members), count in zip(grouped.items(), _apportioned(grouped, share), strict=True):
        chosen = shuffled(members, stream(seed, "split", family))[:count]
        out.update(instance.name for instance in chosen)
    kept = tuple(instance for instance in instances if instance.name not in out)
    return kept, tuple(instance for instance in instances if instance.name in out)


def _apportioned(grouped: Mapping[str, Sequence[Instance]], share: float) -> list[int]:
    """Number of held-out instances of each family, by the largest remainders.

    They sum to the share of all instances; at least one is held out, and never a whole family.
    """
    sizes = [len(members) for members in grouped.values()]
    wanted = min(max(round(share * sum(sizes)), 1), sum(sizes) - len(sizes)) if share else 0
    counts = [min(int(share * size), size - 1) for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda i: counts[i] - share * sizes[i])
    while sum(counts) < wanted:
        for i in by_remainder:
            if sum(counts) < wanted and counts[i] < sizes[i] - 1:
                counts[i] += 1
    return counts


def _grouped(instances: Sequence[Instance], found: Families) -> Mapping[str, list[Instance]]:
    """Group instances by family."""
    grouped: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        grouped[found.get(instance.name, "")].append(instance)
    return grouped


def usual_share(count: int) -> float:
    """Share that is held out by default: enough for a test that can prove a difference, where that
    leaves as many instances to search on.
    """
    if count < MIN_INSTANCES:
        return 0.0
    return max(USUAL_SHARE, MIN_TEST_PAIRS / count) if count >= 2 * MIN_TEST_PAIRS else USUAL_SHARE
