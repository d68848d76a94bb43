"""Operators: which parameters move, times how each moves."""

from paramhs.search.operators.anywhere import Anywhere
from paramhs.search.operators.both_sides import BothSides
from paramhs.search.operators.moves import Learner, Move, Operator, given
from paramhs.search.operators.one import One
from paramhs.search.operators.several import Several
from paramhs.search.operators.steps import Harmonic, LStep, Step, Uniform, law

__all__ = [
    "Anywhere",
    "BothSides",
    "Harmonic",
    "LStep",
    "Learner",
    "Move",
    "One",
    "Operator",
    "Several",
    "Step",
    "Uniform",
    "given",
    "law",
]
