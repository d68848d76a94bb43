"""Named random streams, and the few draws that decisions use.

Every stream is a function of the seed and of its name alone, so what one part of a search draws
never depends on what another part drew before. `Random.random` is the only primitive draw: its
sequence is promised across Python versions.
"""

import hashlib
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

SEEDS = 2**31  # seeds for targets lie in 0 .. 2^31 - 1, which every solver's int can hold
_STRIDE = 1640531527  # odd, so multiples of it run through all of 0 .. 2^31 - 1 without repeating


def stream(seed: int, *name: str | int) -> Random:
    """The random stream of this name."""
    digest = hashlib.sha256(repr((seed, *name)).encode()).digest()
    return Random(int.from_bytes(digest[:16], "big"))


def below(n: int, rng: Random) -> int:
    """A uniform integer in 0 .. n - 1."""
    return int(rng.random() * n)


def shuffled(items: Sequence[T], rng: Random) -> list[T]:
    """The items in uniformly random order."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = below(last + 1, rng)
        result[last], result[other] = result[other], result[last]
    return result


def drawn(items: Sequence[T], rng: Random) -> Iterator[T]:
    """The items in uniformly random order, lazily: a few of many cost a few draws."""
    moved: dict[int, T] = {}
    for last in range(len(items) - 1, -1, -1):
        place = below(last + 1, rng)
        yield moved.get(place, items[place])
        moved[place] = moved.get(last, items[last])


def other_seed(seed: int) -> int:
    """A seed that `target_seeds` gives a quarter of all seeds later."""
    return (seed + SEEDS // 4 * _STRIDE) % SEEDS


def target_seeds(rng: Random, skip: int = 0) -> Iterator[int]:
    """Seeds for runs of the target: scattered, and none twice within 2^31 of them.

    Without the first `skip` of them.
    """
    seed = (below(SEEDS, rng) + skip * _STRIDE) % SEEDS
    while True:
        yield seed
        seed = (seed + _STRIDE) % SEEDS
