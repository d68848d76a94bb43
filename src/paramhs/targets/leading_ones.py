"""The (1+1) EA on LeadingOnes: a target whose best parameter is known.

Started at a uniformly random string of n bits, each step flips every bit with probability chi / n
and keeps the result unless it has fewer leading ones. The answer is the number of leading ones
after `steps` steps, to be maximised.

Source: the LeadingOnes scenario of Hall, Oliveto, Sudholt (PPSN 2020).
"""

import math
from collections.abc import Mapping

from paramhs.seeds import stream
from paramhs.space import Real, Space, Value

BITS = 50
STEPS = 2500
BEST_CHI = 1.6

SPACE = Space({"chi": Real(0.6, 25.1, levels=50)})
"""The paper's 50 mutation rates."""


def leading_ones(config: Mapping[str, Value], seed: int) -> float:
    """The final fitness of one run."""
    return simulate(float(config["chi"]), BITS, STEPS, seed)


def simulate(chi: float, n: int, steps: int, seed: int) -> int:
    """Bit by bit, but from flip to flip: gaps between flipped bits are geometric.

    A step whose first flip hits a leading one is rejected whatever the others do, so they are not
    drawn. Needs 0 < chi < n.
    """
    draw = stream(seed, "leading ones").random
    scale = 1.0 / math.log1p(-chi / n)
    bits = [draw() < 0.5 for _ in range(n)]
    fitness = _leading(bits, 0)
    for _ in range(steps):
        if fitness == n:
            return n
        position = int(math.log(1.0 - draw()) * scale)
        if position < fitness:
            continue
        while position < n:
            bits[position] = not bits[position]
            position += 1 + int(math.log(1.0 - draw()) * scale)
        fitness = _leading(bits, fitness)
    return fitness


def _leading(bits: list[bool], known: int) -> int:
    while known < len(bits) and bits[known]:
        known += 1
    return known
