"""A small local search for SAT: flip a variable of a false clause until nothing is false."""

import argparse
import random


def read(path):
    """The clauses of a DIMACS file, as lists of numbers."""
    numbers = []
    with open(path) as file:
        for line in file:
            if line[:1] not in "cp":
                numbers += map(int, line.split())
    clauses, clause = [], []
    for number in numbers:
        if number:
            clause.append(number)
        else:
            clauses.append(clause)
            clause = []
    return clauses


def search(clauses, noise, pick, tabu, flips, rng):
    """The fewest clauses that were false at any time."""
    variables = max(abs(x) for clause in clauses for x in clause)
    value = [rng.random() < 0.5 for _ in range(variables + 1)]
    flipped = [-tabu - 1] * (variables + 1)
    inside = [[c for c in clauses if v in map(abs, c)] for v in range(variables + 1)]
    best = len(clauses)

    def holds(x):
        return value[abs(x)] == (x > 0)

    def breaks(x):
        """How many clauses only the literal of x's variable makes true."""
        true = x if holds(x) else -x
        return sum(true in c and sum(map(holds, c)) == 1 for c in inside[abs(x)])

    for flip in range(flips):
        false = [clause for clause in clauses if not any(map(holds, clause))]
        best = min(best, len(false))
        if not false:
            break
        clause = rng.choice(false)
        variable = abs(rng.choice(clause))
        if pick == "best" and rng.random() >= noise:
            free = [x for x in clause if flip - flipped[abs(x)] > tabu] or clause
            variable = abs(min(free, key=breaks))
        value[variable] = not value[variable]
        flipped[variable] = flip
    return best


def main():
    """Read the arguments, search, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", type=float, default=0.9)
    parser.add_argument("--pick", choices=["random", "best"], default="random")
    parser.add_argument("--tabu", type=int, default=0)
    parser.add_argument("--flips", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("file")
    given = parser.parse_args()
    fewest = search(
        read(given.file),
        given.noise,
        given.pick,
        given.tabu,
        given.flips,
        random.Random(given.seed),
    )
    print(f"false clauses: {fewest}")


if __name__ == "__main__":
    main()
