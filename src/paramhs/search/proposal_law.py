"""Known part of the law of a search's proposals, which holds whatever a model adds."""

from typing import NamedTuple

from paramhs.search.configurators import Configurator, ParamHS
from paramhs.search.operators import (
    RUNS_PER_CHALLENGER,
    Learned,
    OneParameter,
    SeveralParameters,
    UniformRandom,
)


class ProposalLaw(NamedTuple):
    """Guaranteed shares of every proposal that follow known laws.

    Attributes:
        plain: Share of moves by the plain operator around the incumbent.
        uniform: Share of configurations drawn uniformly at random.
    """

    plain: float = 0.0
    uniform: float = 0.0


UNKNOWN_LAW = ProposalLaw()


def proposal_law(configurator: Configurator) -> ProposalLaw:
    """Law of the proposals of a configurator; shares are 0 where nothing is guaranteed.

    Only searches are known whose challengers are drawn around the incumbent they race, except for
    a part of a cohort after each new incumbent (`analysis.untried`).
    """
    if type(configurator) is not ParamHS:
        return UNKNOWN_LAW
    operator = configurator.operator
    if isinstance(operator, UniformRandom):
        return ProposalLaw(uniform=1.0)
    if isinstance(operator, OneParameter | SeveralParameters):
        return ProposalLaw(plain=1.0)
    if isinstance(operator, Learned) and operator.growth >= RUNS_PER_CHALLENGER:
        return ProposalLaw(plain=operator.epsilon)
    return UNKNOWN_LAW
