import os
import subprocess
import sys
from fractions import Fraction
from itertools import islice, permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from paramhs.core.random_streams import (
    SEEDS,
    below,
    drawn_by_weight,
    shuffled,
    stream,
    target_seeds,
)
from tests.support.laws import DRAWS, fits, successive


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


def test_drawn_by_weight_draws_one_after_the_other_in_proportion_to_what_is_left():
    rng = stream(0, "by weight")
    weights = {"a": Fraction(1), "b": Fraction(2), "c": Fraction(1, 3), "d": Fraction(5)}
    numbers = [float(weight) for weight in weights.values()]
    orders = [tuple(drawn_by_weight(list(weights), numbers, rng)) for _ in range(DRAWS)]
    assert fits(orders, successive(weights))


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
