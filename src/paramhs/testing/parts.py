"""Conformance suite for any kind of part."""

import json
from typing import Any

from paramhs.core.description import description
from paramhs.core.space import Space
from paramhs.search.comparison import Comparison
from paramhs.search.configurators import ParamHS, ParamILS, Walk
from paramhs.search.model.model import Model
from paramhs.search.operators import Learned, Learner, OneParameter, Operator, Step
from paramhs.search.registry import rebuilt
from paramhs.testing.comparisons import check_comparison
from paramhs.testing.configurators import check_configurator
from paramhs.testing.driving import SPACE
from paramhs.testing.laws import DRAWS, check_operator
from paramhs.testing.models import check_model


def check_part(part: Any, space: Space = SPACE, *, draws: int = DRAWS, runs: int = 200) -> None:
    """Check a part with the suite of its kind, and rebuild it from its description.

    Only a part registered with `paramhs.search.registry.register` can be rebuilt. An operator is
    sampled `draws` times; each search of a configurator ends after `runs` runs.

    Args:
        part: The part to check: an operator, a step, a comparison, a model, a walk or a
            configurator.
        space: Space to move in.
        draws: Number of draws from a sampler.
        runs: Number of runs after which a search ends.

    Examples:
        >>> from paramhs.search import FixedRuns
        >>> from paramhs.testing import check_part
        >>> check_part(FixedRuns(10))
    """
    if isinstance(part, Step):
        part = OneParameter(part)
    if isinstance(part, Operator | Learner):
        check_operator(part, space, draws=draws)
        part = ParamHS(part)
    elif isinstance(part, Comparison):
        check_comparison(part)
        part = ParamHS(OneParameter(), part)
    elif isinstance(part, Model):
        check_model(part, space)
        part = ParamHS(Learned(model=part))
    else:
        part = ParamILS(walk=part) if isinstance(part, Walk) else part
        check_configurator(part, runs=runs)
    described = json.loads(json.dumps(description(part, "the part")))
    assert rebuilt(described) == part, "it cannot be rebuilt from its description"
