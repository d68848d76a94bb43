"""Conformance suites for parts of one's own, the same that hold our own parts.

>>> from paramhs import Several, Space
>>> from paramhs.testing import check_operator
>>> check_operator(Several(), Space({"x": range(5), "mode": ["a", "b"]}))

Each raises AssertionError with what is wrong. What is random is tested at an error rate of one in a
million, with streams that are the same each time. (Laws need scipy.)
"""

from paramhs.testing.comparisons import check_comparison
from paramhs.testing.configurators import check_configurator
from paramhs.testing.laws import check_operator, fits, p_value
from paramhs.testing.stores import check_store
from paramhs.testing.targets import check_target

__all__ = [
    "check_comparison",
    "check_configurator",
    "check_operator",
    "check_store",
    "check_target",
    "fits",
    "p_value",
]
