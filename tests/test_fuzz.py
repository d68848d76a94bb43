"""Every reader answers every fuzzed input with a value or a refusal.

A few of each kind here; `python -m benchmarks.fuzz --minutes N` tries as many as there is time for.
"""

from pathlib import Path

import pytest

from fuzzing import TARGETS, Tally, made, tried

INPUTS = 300


@pytest.mark.parametrize("name", list(TARGETS))
def test_a_fuzzed_input_is_read_or_refused(tmp_path: Path, name: str):
    tally = Tally()
    for number in range(INPUTS):
        tried(TARGETS[name], 0, number, tmp_path, tally)
    assert tally.failures == []
    assert tally.accepted > INPUTS / 50
    assert tally.accepted + tally.refused == INPUTS


def test_an_input_can_be_made_again():
    target = TARGETS["irace"]
    assert made(target, 1, 5) == made(target, 1, 5)
    assert len({made(target, 1, number) for number in range(50)}) > 40
