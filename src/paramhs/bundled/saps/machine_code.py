"""Building blocks of machine code: compilation, bit operations, a small random generator.

Source of the generator: xoshiro256** (Blackman, Vigna, "Scrambled Linear Pseudorandom Number
Generators", ACM TOMS 47, 2021), its state filled by SplitMix64 (Steele, Lea, Flood, "Fast
Splittable Pseudorandom Number Generators", OOPSLA 2014), as its authors advise.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Signed = Any
Unsigned = Any
"""Integers of 64 bits, for numba."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)

# Without `_nrt=False`, references to arrays are counted at every use, which takes half of the time.
# Therefore no array can be created in compiled code.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile at the first call and cache on disk; other threads continue while it runs."""
    return cast(F, numba.njit(**_OPTIONS)(function))


def inlined(function: F) -> F:
    """Compile only as part of the caller: it cannot be called or cached by itself."""
    alone = {"cache": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, numba.njit(forceinline=True, **{**_OPTIONS, **alone})(function))


@inlined
def ones(bits: Unsigned) -> Signed:
    """Number of set bits; compilers recognise this pattern."""
    bits = bits - ((bits >> _ONE) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    bits = (bits & pairs) + ((bits >> np.uint64(2)) & pairs)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def begin(seed: Unsigned, run: Unsigned, random: Words) -> None:
    """State of the generator at the start of a run."""
    counter = _mixed(_mixed(seed + _GOLDEN) + run)
    for i in range(4):
        counter += _GOLDEN
        random[i] = _mixed(counter)


@inlined
def _mixed(bits: Unsigned) -> Unsigned:
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inlined
def word(random: Words) -> Unsigned:
    """Draw 64 random bits."""
    second = random[1]
    result = _rotated(second * np.uint64(5), np.uint64(7)) * np.uint64(9)
    random[2] ^= random[0]
    random[3] ^= second
    random[1] ^= random[2]
    random[0] ^= random[3]
    random[2] ^= second << np.uint64(17)
    random[3] = _rotated(random[3], np.uint64(45))
    return result


@inlined
def _rotated(bits: Unsigned, by: Unsigned) -> Unsigned:
    return (bits << by) | (bits >> (np.uint64(64) - by))


@inlined
def uniform(random: Words) -> float:
    """Draw a number uniformly from [0, 1), a multiple of 2^-53."""
    return float((word(random) >> np.uint64(11)) * 2.0**-53)


@inlined
def below(count: int, random: Words) -> int:
    """Draw an integer uniformly from 0 .. count - 1."""
    return int(uniform(random) * count)
