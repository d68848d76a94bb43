"""Step-by-step execution of a generator of requests."""

from collections.abc import Generator, Sequence
from typing import Generic, TypeVar

from paramhs.core.errors import BadInput
from paramhs.core.runs import Run
from paramhs.core.text.quoting import short

Request = TypeVar("Request")
Result = TypeVar("Result")


class Dialogue(Generic[Request, Result]):
    """A search or a comparison, driven one request at a time.

    `request` is what it waits for, and None once it has ended with the `result`.
    """

    request: Request | None
    result: Result

    def __init__(self, requests: Generator[Request, Sequence[Run], Result]) -> None:
        self._requests = checked(requests)
        self.advance()

    def advance(self, runs: Sequence[Run] = ()) -> Request | None:
        """Answer the current request with its runs, if it asked for any; return the next one."""
        try:
            self.request = self._requests.send(runs) if runs else next(self._requests)
        except StopIteration as end:
            self.request, self.result = None, end.value
        return self.request

    def close(self) -> None:
        """End the generator early."""
        self._requests.close()


def checked(
    requests: Generator[Request, Sequence[Run], Result],
) -> Generator[Request, Sequence[Run], Result]:
    """Reject the result of a method that should have been a generator function."""
    if not isinstance(requests, Generator):
        raise BadInput(
            "the methods search, start and better must be generators, with a yield in them;"
            f" one of them returned {short(requests)}"
        )
    return requests
