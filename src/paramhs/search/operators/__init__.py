"""Operators: which parameters move, times how each moves."""

from paramhs.search.operators.anywhere import Anywhere
from paramhs.search.operators.both_sides import BothSides
from paramhs.search.operators.initial_design import InitialDesign
from paramhs.search.operators.learned import Guided, Learned
from paramhs.search.operators.moves import Learner, Move, Operator, Seen, given
from paramhs.search.operators.narrowing import Narrowed, Narrowing
from paramhs.search.operators.one import One
from paramhs.search.operators.several import Several
from paramhs.search.operators.steps import Harmonic, LStep, Step, Uniform, law

__all__ = [
    "Anywhere",
    "BothSides",
    "Guided",
    "Harmonic",
    "InitialDesign",
    "LStep",
    "Learned",
    "Learner",
    "Move",
    "Narrowed",
    "Narrowing",
    "One",
    "Operator",
    "Seen",
    "Several",
    "Step",
    "Uniform",
    "given",
    "law",
]
