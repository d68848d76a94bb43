"""What parameters do together, where that is known exactly."""

import sys

import numpy as np
import pytest

from paramhs import Boolean, Real, Space
from paramhs.analysis.interactions import _Boxes, interactions
from paramhs.core import Quality
from tests.support.effects import runs

SPACE = Space({"a": Boolean(), "b": Boolean(), "x": Real(0.0, 1.0), "idle": Real(0.0, 1.0)})


@pytest.fixture(autouse=True, scope="module")
def _forest():
    pytest.importorskip("sklearn")


def shares(function, **options):
    made = runs(function, 400, space=SPACE, noise=0.1, **options)
    return {one.names: one.share for one in interactions(made, Quality())}


def test_what_two_do_only_together_is_theirs_together():
    found = shares(lambda config: 3.0 if config["a"] != config["b"] else 1.0)
    assert found["a", "b"] > 0.4  # the hardest case for trees: no first cut tells anything
    assert max(share for names, share in found.items() if names != ("a", "b")) < 0.15


def test_shares_of_a_product_are_thirds():
    """The variance of z = ab is 3/16, of its mean over either 1/16."""
    found = shares(lambda config: 3.0 if config["a"] and config["b"] else 1.0)
    for names in (("a",), ("b",), ("a", "b")):
        assert found[names] == pytest.approx(1 / 3, abs=0.06)


def test_what_each_does_alone_is_no_interaction():
    found = shares(lambda config: (2.0 if config["a"] else 1.0) * (1.5 if config["b"] else 1.0))
    whole = np.log(2) ** 2 + np.log(1.5) ** 2
    assert found["a",] == pytest.approx(np.log(2) ** 2 / whole, abs=0.05)
    assert found["b",] == pytest.approx(np.log(1.5) ** 2 / whole, abs=0.05)
    assert found["a", "b"] < 0.03


def test_a_share_is_exact_for_one_box_cut_in_two():
    """A parameter of ten values whose last two cost 1, beside one that does nothing."""
    boxes = _Boxes(
        np.array([[0.0, 0.0], [8.0, 0.0]]),
        np.array([[0.8, 1.0], [0.2, 1.0]]),
        np.array([10.0, 5.0]),
        np.array([0.0, 1.0]),
    )
    assert boxes.mean == pytest.approx(0.2)
    assert boxes.variance == pytest.approx(0.16)
    assert boxes.explained(0) == pytest.approx(0.16)
    assert boxes.explained(1) == pytest.approx(0.0)
    assert boxes.explained(0, 1) == pytest.approx(0.16)


def test_without_the_extra_there_are_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    assert interactions([], Quality()) is None


def test_nothing_is_said_of_nothing():
    assert interactions([], Quality()) == ()
    assert interactions(runs(lambda config: 1.0, 5, space=SPACE), Quality()) == ()
