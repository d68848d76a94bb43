"""Conformance suites for custom parts, the same that check the built-in ones.

    >>> from paramhs import Space
    >>> from paramhs.search import SeveralParameters
    >>> from paramhs.testing import check_operator
    >>> check_operator(SeveralParameters(), Space({"x": range(5), "mode": ["a", "b"]}))

Each raises AssertionError with what is wrong. Random behaviour is tested at an error rate of one in
a million, with streams that are the same each time. (Laws need scipy.)
"""

from paramhs.testing.comparisons import check_comparison
from paramhs.testing.configurators import check_configurator
from paramhs.testing.laws import check_operator, fits, p_value
from paramhs.testing.models import check_model
from paramhs.testing.parts import check_part
from paramhs.testing.stores import check_store
from paramhs.testing.targets import check_target

__all__ = [
    "check_comparison",
    "check_configurator",
    "check_model",
    "check_operator",
    "check_part",
    "check_store",
    "check_target",
    "fits",
    "p_value",
]
