import os
import subprocess
import sys
from fractions import Fraction
from itertools import islice, pairwise, permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.random_streams import (
    SEEDS,
    at_place,
    below,
    key_of,
    shuffled,
    stream,
    target_seeds,
)
from tests.support.laws import DRAWS, fits


class Fixed(Random):
    """A source whose only draw is given."""

    def __init__(self, u: float) -> None:
        super().__init__(0)
        self.u = u

    def random(self) -> float:
        return self.u


LARGEST = 1 - 2**-53


def test_a_stream_depends_on_its_name_alone():
    first = [stream(7, "perturb", 3).random() for _ in range(3)]
    assert len(set(first)) == 1


def test_streams_of_different_names_differ():
    names = [
        (0,),
        (1,),
        (0, "a"),
        (0, "b"),
        (0, "a", "b"),
        (0, "ab"),
        (0, 1),
        (0, "1"),
        (0, "a", 1),
    ]
    assert len({stream(*name).random() for name in names}) == len(names)


def test_a_stream_is_the_same_for_ever():
    """A changed stream would change the meaning of every stored seed."""
    rng = stream(0, "test")
    assert [rng.random() for _ in range(3)] == [
        0.9723068134180747,
        0.8741251426539288,
        0.6748280218647932,
    ]


def test_a_stream_does_not_depend_on_the_hash_seed():
    program = "from paramhs.core.random_streams import stream; print(stream(3, 'a', 1).random())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert printed == {f"{stream(3, 'a', 1).random()}\n"}


def test_below_is_uniform():
    rng = stream(0, "below")
    drawn = [below(7, rng) for _ in range(DRAWS)]
    assert fits(drawn, {i: Fraction(1, 7) for i in range(7)})


@given(st.integers(1, 2**80))
def test_below_stays_below(n: int):
    assert below(n, Fixed(0.0)) == 0
    assert 0 <= below(n, Fixed(LARGEST)) < n


def test_shuffled_gives_every_order_equally_often():
    rng = stream(0, "shuffled")
    drawn = [tuple(shuffled("abcd", rng)) for _ in range(DRAWS)]
    assert fits(drawn, {order: Fraction(1, 24) for order in permutations("abcd")})


def test_numbers_at_a_place_are_uniform_in_either_key():
    key = key_of(0, "challenger")
    for numbers in (
        [at_place(key, key_of("pair", n)) for n in range(DRAWS)],
        [at_place(key_of("pair", n), key) for n in range(DRAWS)],
        [at_place(key, n) for n in range(DRAWS)],
    ):
        assert all(0 < number < 1 for number in numbers)
        assert fits([int(16 * x) for x in numbers], {k: Fraction(1, 16) for k in range(16)})


def test_numbers_at_neighbouring_places_are_independent():
    keys = [key_of("pair", n) for n in range(DRAWS + 1)]
    both = [(int(4 * at_place(a, b)), int(4 * at_place(b, a))) for a, b in pairwise(keys)]
    assert fits(both, {(i, j): Fraction(1, 16) for i in range(4) for j in range(4)})


def test_a_place_has_the_same_number_in_every_process():
    assert at_place(key_of(1, "a"), key_of("b", 2)) == at_place(key_of(1, "a"), key_of("b", 2))
    assert at_place(1, 2) != at_place(2, 1)


@given(st.lists(st.integers()), st.integers())
def test_shuffled_keeps_the_items_and_the_original(items: list[int], seed: int):
    before = list(items)
    assert sorted(shuffled(items, stream(seed, "shuffled"))) == sorted(before)
    assert items == before


def test_target_seeds_fit_in_31_bits_and_do_not_repeat():
    seeds = list(islice(target_seeds(stream(0, "targets")), 100_000))
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < SEEDS == 2**31 for seed in seeds)


def test_target_seeds_are_scattered_from_the_first_on():
    seeds = islice(target_seeds(stream(0, "targets")), DRAWS)
    sixteenths = [seed * 16 // SEEDS for seed in seeds]
    assert fits(sixteenths, {part: Fraction(1, 16) for part in range(16)})


def test_target_seeds_start_elsewhere_for_another_seed():
    assert next(target_seeds(stream(0, "targets"))) != next(target_seeds(stream(1, "targets")))
