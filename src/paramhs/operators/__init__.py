"""Operators: which parameters move, times how each moves."""

from paramhs.operators.anywhere import Anywhere
from paramhs.operators.both_sides import BothSides
from paramhs.operators.moves import Move, Operator
from paramhs.operators.one import One
from paramhs.operators.several import Several
from paramhs.operators.steps import Harmonic, LStep, Step, Uniform, law

__all__ = [
    "Anywhere",
    "BothSides",
    "Harmonic",
    "LStep",
    "Move",
    "One",
    "Operator",
    "Several",
    "Step",
    "Uniform",
    "law",
]
