import pytest

from tests.support import scale


def pytest_configure(config: pytest.Config) -> None:
    scale.configure(config)
