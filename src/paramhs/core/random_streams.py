"""Named random streams, and the primitive draws that decisions use.

A stream is a function of the seed and its name alone, so what one part of a search draws never
depends on what another part drew before. `Random.random` is the only primitive draw, because Python
guarantees its sequence across versions.
"""

import hashlib
from collections.abc import Iterator, Sequence
from random import Random
from struct import Struct
from typing import Protocol, TypeVar

T = TypeVar("T")

_WORDS = Struct(">4Q")

SEEDS = 2**31  # seeds for targets lie in 0 .. 2^31 - 1, which every solver's int can hold
_MASK = 2**64 - 1
_STRIDE = 1640531527  # odd, so multiples of it run through all of 0 .. 2^31 - 1 without repeating


def stream(seed: int, *name: str | int) -> Random:
    """Return the random stream with this name."""
    digest = hashlib.sha256(repr((seed, *name)).encode()).digest()
    return Random(int.from_bytes(digest[:16], "big"))


class ShortStream:
    """Random stream for a few draws; creating one costs a tenth of creating a `Random`.

    The draws are 53 bits of SHA-256 of the name and a counter, four draws for each digest.
    """

    def __init__(self, seed: int, *name: str | int) -> None:
        self._name = repr((seed, *name)).encode()
        self._drawn: list[float] = []
        self._digests = 0

    def random(self) -> float:
        """Draw a number uniformly from [0, 1)."""
        if not self._drawn:
            self._digests += 1
            digest = hashlib.sha256(self._name + self._digests.to_bytes(4, "big")).digest()
            self._drawn = [(word >> 11) * 2.0**-53 for word in _WORDS.unpack(digest)]
        return self._drawn.pop()


class Rng(Protocol):
    """Source of random numbers, such as `Random` or `ShortStream`."""

    def random(self) -> float:
        """Draw a number uniformly from [0, 1)."""


def below(n: int, rng: Rng) -> int:
    """Draw an integer uniformly from 0 .. n - 1."""
    return int(rng.random() * n)


def shuffled(items: Sequence[T], rng: Random) -> list[T]:
    """Return the items in uniformly random order."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = below(last + 1, rng)
        result[last], result[other] = result[other], result[last]
    return result


def drawn(items: Sequence[T], rng: Rng) -> Iterator[T]:
    """Yield the items in uniformly random order, lazily: k items cost k draws."""
    # Fisher-Yates from the end, with a sparse array: `moved` holds only the positions that a swap
    # has changed, so that drawing a few of a million items does not copy them.
    moved: dict[int, T] = {}
    for last in range(len(items) - 1, -1, -1):
        index = below(last + 1, rng)
        yield moved.get(index, items[index])
        moved[index] = moved.get(last, items[last])


def key_of(*name: str | int) -> int:
    """A number of 64 bits that a name has in every process."""
    return int.from_bytes(hashlib.sha256(repr(name).encode()).digest()[:8], "big")


def at_place(first: int, second: int) -> float:
    """Number in (0, 1) that belongs to two keys: as if drawn uniformly, and always the same.

    Source: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    """
    x = ((first + second * 0x9E3779B97F4A7C15) ^ second) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return ((x ^ (x >> 31)) + 0.5) * 2.0**-64


def other_seed(seed: int) -> int:
    """Return the seed that `target_seeds` reaches a quarter of its period later."""
    return (seed + SEEDS // 4 * _STRIDE) % SEEDS


def target_seeds(rng: Random, skip: int = 0) -> Iterator[int]:
    """Yield seeds for runs of the target: scattered, and distinct within 2^31 draws.

    Skips the first `skip` of them.
    """
    # An arithmetic progression modulo a power of two with an odd stride visits every residue once
    # before it repeats. The stride is 2^32 divided by the square of the golden ratio, which spreads
    # successive seeds evenly.
    seed = (below(SEEDS, rng) + skip * _STRIDE) % SEEDS
    while True:
        yield seed
        seed = (seed + _STRIDE) % SEEDS
