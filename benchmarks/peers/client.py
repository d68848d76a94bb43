"""A search's line to the evaluator; it needs nothing but Python, so that any environment has it.

A request is one line of words with tabs between them, and so is the answer.

    run 3 17 alpha=1.3 rho=0.8      the cost on training instance 3 with seed 17, or: stop
    incumbent alpha=1.3 rho=0.8     ok
"""

import socket
from collections.abc import Mapping


class BudgetSpent(Exception):
    """No more runs."""


class Client:
    """Asks for runs, and says which configuration is the best so far."""

    def __init__(self, port: int) -> None:
        self._line = socket.create_connection(("127.0.0.1", port)).makefile("rw", encoding="utf-8")

    def cost(self, values: Mapping[str, object], instance: int, seed: int) -> float:
        """What a run costs; `BudgetSpent` if there are no more."""
        answer = self._asked("run", str(instance), str(seed), *_pairs(values))
        if answer == "stop":
            raise BudgetSpent
        return float(answer)

    def tell_incumbent(self, values: Mapping[str, object]) -> None:
        """The best from now on."""
        self._asked("incumbent", *_pairs(values))

    def _asked(self, *words: str) -> str:
        self._line.write("\t".join(words) + "\n")
        self._line.flush()
        return self._line.readline().strip()


def _pairs(values: Mapping[str, object]) -> list[str]:
    return [f"{name}={_written(value)}" for name, value in values.items()]


def _written(value: object) -> str:
    """As scenarios write it; a truth value may be numpy's."""
    text = str(value)
    return text.lower() if text in ("True", "False") else text
