"""The allowed part of a space as boxes, for spaces in which nearly everything is forbidden.

Where one configuration in a million is allowed, drawing until one is takes forever. So the space is
halved again and again, along parameters of a clause that is still open. A box in which a forbidden
clause holds everywhere is dropped; one in which no clause can hold is kept whole. The boxes that
are kept are disjoint. So drawing one in proportion to its size, and a configuration in it, is the
same law as drawing configurations until one is allowed.

Source: branch and prune (Van Hentenryck, McAllester, Kapur, SIAM Journal on Numerical Analysis 34,
1997), on lists of values instead of real numbers.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf, prod
from typing import NamedTuple

from paramhs.core.random_streams import Rng, below
from paramhs.core.space.conditions.bounds import EITHER, FALSE, TRUE, Bounds, Truths, bounds
from paramhs.core.space.conditions.expressions import Expression, Test, names
from paramhs.core.space.parameters import Parameter

_MAX_TESTS = 50_000  # tests of a clause on a box before the search is given up

Box = tuple[range, ...]
"""Indices of each parameter."""


class _Clause(NamedTuple):
    """A forbidden clause."""

    truths: Bounds
    test: Test
    among: tuple[int, ...]
    """Positions of the parameters that decide it, directly or through conditions."""


class Clauses:
    """Forbidden clauses of a space, for boxes of configurations.

    Args:
        parameters: The parameters of the space.
        conditions: Their conditions, parents before their children.
        forbidden: The forbidden clauses.
        tests: The same, as tests of one index for each parameter.
    """

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        conditions: Mapping[str, Expression],
        forbidden: Sequence[Expression],
        tests: Sequence[Test],
    ) -> None:
        position = {name: i for i, name in enumerate(parameters)}
        self._levels = [p.levels for p in parameters.values()]
        above: dict[str, set[str]] = {}
        for name, condition in conditions.items():
            parents = set(names(condition))
            above[name] = parents.union(*(above.get(parent, set()) for parent in parents))
        self._conditions = [
            (position[name], bounds(condition, parameters, position))
            for name, condition in conditions.items()
        ]
        self._clauses = []
        for clause, test in zip(forbidden, tests, strict=True):
            direct = set(names(clause))
            among = direct.union(*(above.get(name, set()) for name in direct))
            self._clauses.append(
                _Clause(
                    bounds(clause, parameters, position),
                    test,
                    tuple(sorted(position[name] for name in among)),
                )
            )

    def boxes(self, most: float = inf) -> list[Box] | None:
        """Disjoint boxes of everything that is allowed.

        Args:
            most: Largest number of assignments in all of them.

        Returns:
            The boxes; None if there are more assignments, or if finding them takes too long.
        """
        whole = tuple(range(levels) for levels in self._levels)
        stack, found, size, tests = [(whole, self._clauses)], [], 0, 0
        while stack:
            box, clauses = stack.pop()
            tests += len(clauses)
            if tests > _MAX_TESTS:
                return None
            still_open = self._open(box, clauses)
            if still_open is None:
                continue
            if still_open:
                stack += [(half, still_open) for half in _halves(box, still_open)]
                continue
            found.append(box)
            size += prod(map(len, box))
            if size > most:
                return None
        return found

    def _open(self, box: Box, clauses: Sequence[_Clause]) -> list[_Clause] | None:
        """Clauses that may hold in a box; None if one holds everywhere."""
        active = [TRUE] * len(box)
        for position, truths in self._conditions:
            active[position] = truths(box, active)
        still_open = []
        for clause in clauses:
            found = _truths(clause, box, active)
            if found == TRUE:
                return None
            if found == EITHER:
                still_open.append(clause)
        return still_open


def _truths(clause: _Clause, box: Box, active: Sequence[Truths]) -> Truths:
    """Possible truth values of a clause; one where all parameters that decide it are fixed."""
    found = clause.truths(box, active)
    if found == EITHER and all(len(box[at]) == 1 for at in clause.among):
        return TRUE if clause.test([values[0] for values in box]) else FALSE
    return found


def _halves(box: Box, clauses: Sequence[_Clause]) -> Iterator[Box]:
    """Both halves of a box, the upper one first, along the longest range of the easiest clause."""
    easiest = min(clauses, key=lambda clause: sum(len(box[at]) > 1 for at in clause.among))
    longest = max(easiest.among, key=lambda at: len(box[at]))
    middle = len(box[longest]) // 2
    for half in (box[longest][middle:], box[longest][:middle]):
        yield (*box[:longest], half, *box[longest + 1 :])


class DrawnBoxes:
    """Uniform draws from disjoint boxes.

    Args:
        boxes: At least one box.
    """

    def __init__(self, boxes: Sequence[Box]) -> None:
        self._boxes = boxes
        self._sums = list(accumulate(prod(map(len, box)) for box in boxes))

    def draw(self, rng: Rng) -> list[int]:
        """Draw one index for each parameter."""
        box = self._boxes[bisect_right(self._sums, below(self._sums[-1], rng))]
        return [values[below(len(values), rng)] for values in box]
