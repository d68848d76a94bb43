"""How much is tried: enough in the suite; where the slow tests are run too, much more."""

import pytest
from hypothesis import HealthCheck, settings

large = False
"""Whether this is such a run."""

EXAMPLES = 16  # of a property that says nothing else


def configure(config: pytest.Config) -> None:
    """For the conftest of a folder: before any test is read.

    Properties are tried on the same examples every time, however slow the machine.
    """
    global large
    large = config.option.markexpr != "not slow"
    settings.register_profile(
        "paramhs",
        max_examples=of(EXAMPLES, 400),
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("paramhs")


def of(suite: int, all_tests: int) -> int:
    """The one number in the suite, the other in a large run."""
    return all_tests if large else suite


def examples(count: int, **more: object) -> settings:
    """Number of examples of a property in the suite."""
    return settings(max_examples=of(count, 16 * count), **more)


def slow(*values: object) -> object:
    """A parameter that only a large run has."""
    return pytest.param(*values, marks=pytest.mark.slow)
