"""Every reader answers every fuzzed input with a value or a refusal.

A few of each kind here; `python -m benchmarks.stress.fuzz --minutes N` tries many more.
"""

from pathlib import Path

import pytest

from tests.support.fuzzing import TARGETS, Tally, made, tried

INPUTS = 300


@pytest.mark.parametrize("name", list(TARGETS))
def test_a_fuzzed_input_is_read_or_refused(tmp_path: Path, name: str):
    tally = Tally()
    for number in range(INPUTS):
        tried(TARGETS[name], 0, number, tmp_path, tally)
    assert tally.failures == []
    assert tally.accepted > INPUTS / 50
    assert tally.accepted + tally.refused == INPUTS


@pytest.mark.parametrize(
    ("name", "seed", "number"),
    [("store", 12, 3015), ("store", 12, 3304), ("table of costs", 12, 296), ("command", 7, 137)],
)
def test_what_once_broke_a_reader_is_refused(tmp_path: Path, name: str, seed: int, number: int):
    tally = Tally()
    tried(TARGETS[name], seed, number, tmp_path, tally)
    assert tally.failures == []


def test_an_input_can_be_made_again():
    target = TARGETS["irace"]
    assert made(target, 1, 5) == made(target, 1, 5)
    assert len({made(target, 1, number) for number in range(50)}) > 40
