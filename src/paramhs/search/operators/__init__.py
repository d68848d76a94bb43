"""Operators: which parameters move, and how each moves."""

from paramhs.search.operators.mixture import Mixture
from paramhs.search.operators.model_guided import Guided, Learned
from paramhs.search.operators.narrowing import Narrowed, Narrowing
from paramhs.search.operators.one_parameter import OneParameter
from paramhs.search.operators.operator import (
    RUNS_PER_CHALLENGER,
    Guide,
    Learner,
    Move,
    Operator,
    cohort_size,
    given,
)
from paramhs.search.operators.several_parameters import SeveralParameters
from paramhs.search.operators.steps import Harmonic, LStep, Step, Uniform, law
from paramhs.search.operators.stratified import Stratified
from paramhs.search.operators.two_sided import BothSides
from paramhs.search.operators.uniform_random import UniformRandom

__all__ = [
    "RUNS_PER_CHALLENGER",
    "BothSides",
    "Guide",
    "Guided",
    "Harmonic",
    "LStep",
    "Learned",
    "Learner",
    "Mixture",
    "Move",
    "Narrowed",
    "Narrowing",
    "OneParameter",
    "Operator",
    "SeveralParameters",
    "Step",
    "Stratified",
    "Uniform",
    "UniformRandom",
    "cohort_size",
    "given",
    "law",
]
