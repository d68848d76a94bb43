"""Searches of spaces in which nearly everything is forbidden.

python -m benchmarks.overhead.forbidden

Five parameters of 51 values, 345 million combinations, and clauses that leave few of them. Printed
is how many configurations a search of at most 100 runs tried, and the processor time it took in
all, in milliseconds.
"""

import time
from collections.abc import Mapping

from paramhs import tune
from paramhs.core.space import Integer, Space

NAMES = "abcde"
TOTAL = " + ".join(NAMES)
CLAUSES = {
    "two, by equalities": ["a > 0 and a < 50", "b != a", "c != b", "d != c", "e != d"],
    "two, by a sum": [f"{TOTAL} > 0 and {TOTAL} < 250"],
    "seven": [f"{TOTAL} > 1 and {TOTAL} < 250"],
    "51 that are equal": ["b != a", "c != b", "d != c", "e != d"],
    "141 of squares": ["a * a + b * b != c * c", "d != 0", "e != 0"],
}


def cost(config: Mapping[str, int]) -> int:
    """Zero at the default."""
    return sum(config.values())


def main() -> None:
    print(f"{'allowed':24} {'counted':>8} {'tried':>6} {'ms':>6}")
    tune(cost, Space({"a": Integer(0, 9)}), budget=5)  # imports
    for name, clauses in CLAUSES.items():
        begun = time.process_time()
        space = Space({k: Integer(0, 50, default=0) for k in NAMES}, forbidden=clauses)
        found = tune(cost, space, budget=100, seed=1)
        spent = 1000 * (time.process_time() - begun)
        print(f"{name:24} {space.size()!s:>8} {len(found.history.configs):>6} {spent:>6.0f}")


if __name__ == "__main__":
    main()
