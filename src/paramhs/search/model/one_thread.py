"""Linear algebra on a single thread.

The matrices of a model are small: more threads make them slower, up to twenty times, and take
processor time from the measured runs. The limit holds inside the model alone, so a target in the
same process keeps its threads.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

import numpy as np  # noqa: F401 -- its libraries must be loaded before they are looked for
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that BLAS uses one thread while it runs."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
