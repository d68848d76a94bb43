"""Properties are tried on the same examples every time, however slow the machine; on many more of
them where the slow tests are run too."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("all", settings.get_profile("suite"), max_examples=400)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("suite" if config.option.markexpr == "not slow" else "all")
