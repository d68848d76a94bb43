"""Operators: which parameters move, and how each moves."""

from paramhs.search.operators.improving import Improving
from paramhs.search.operators.initial_design import InitialDesign
from paramhs.search.operators.model_guided import Guided, Learned
from paramhs.search.operators.narrowing import Narrowed, Narrowing
from paramhs.search.operators.one_parameter import OneParameter
from paramhs.search.operators.operator import Learner, Move, Operator, Seen, given
from paramhs.search.operators.several_parameters import SeveralParameters
from paramhs.search.operators.steps import Harmonic, LStep, Step, Uniform, law
from paramhs.search.operators.two_sided import BothSides
from paramhs.search.operators.uniform_random import UniformRandom

__all__ = [
    "BothSides",
    "Guided",
    "Harmonic",
    "Improving",
    "InitialDesign",
    "LStep",
    "Learned",
    "Learner",
    "Move",
    "Narrowed",
    "Narrowing",
    "OneParameter",
    "Operator",
    "Seen",
    "SeveralParameters",
    "Step",
    "Uniform",
    "UniformRandom",
    "given",
    "law",
]
