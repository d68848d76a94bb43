"""Random circuits asked to output 1, similar to AClib's circuit-fuzz formulas.

A circuit grows by AND, OR and IFF gates over all earlier nodes, with operands negated by fair
coins, until every input is used. Gates whose value is unused are joined, two at random, until one
root is left. The formula is the circuit's Tseitin encoding, some random clauses of 2 to 6 literals
over all nodes, and a unit clause for the root.

AClib's ten formulas were made by FuzzSAT, with 100 inputs, and selected because a good solver
needed more than a second. Such a formula is larger than most, because some input happened to be
used very late, and has about five random clauses per input: with fewer there are many solutions,
with more none, and both are easy. Here those two numbers are drawn from the range of the ten
formulas instead.

Source: Brummayer, Lonsing, Biere, "Automated Testing and Debugging of SAT and QBF Solvers" (SAT
2010), for FuzzSAT; Tseitin (1968) for the encoding.
"""

from collections.abc import Iterator
from enum import Enum
from random import Random
from typing import NamedTuple

from paramhs.bundled.instances.dimacs import Formula
from paramhs.bundled.instances.limits import at_least, positive, sized
from paramhs.bundled.instances.random_ksat import random_clause, signed
from paramhs.core.random_streams import below

VARIABLES_PER_INPUT = (18.0, 96.0)  # AClib's ten: 1,799 to 9,611 variables for 100 inputs
EXTRA_PER_INPUT = (4.5, 6.6)  # AClib's ten: 453 to 650 random clauses
_LENGTHS = (2, 6)

Kind = Enum("Kind", ["AND", "OR", "IFF"])
_KINDS = tuple(Kind)


class Gate(NamedTuple):
    """A node of a circuit, with the two literals it combines."""

    kind: Kind
    left: int
    right: int


def circuit_fuzz(inputs: int, variables: int | None, extra: float | None, rng: Random) -> Formula:
    """Formula with at least `variables` variables and round(extra * inputs) random clauses.

    A missing number is drawn: variables log-uniform in 18 .. 96, random clauses uniform in 4.5 ..
    6.6, both per input. With `variables` 0 a circuit ends when every input is used.
    """
    at_least("inputs", inputs, 2)
    if variables is None:
        low, high = VARIABLES_PER_INPUT
        variables = int(inputs * low * (high / low) ** rng.random())
    used = inputs**1.5  # approximate number of nodes until every input is used
    sized(10 * max(at_least("variables", variables, 0), 3 * used))
    if extra is None:
        low, high = EXTRA_PER_INPUT
        extra = low + (high - low) * rng.random()
    sized(4 * positive("extra", extra) * inputs)
    gates = random_circuit(inputs, variables, rng)
    return _formula(inputs, gates, round(extra * inputs), rng)


def random_circuit(inputs: int, variables: int, rng: Random) -> list[Gate]:
    """Gates of a circuit with about `variables` nodes; the last gate is the root.

    Nodes are numbered from 1: the inputs, then the gates. There are many more than `variables` if
    an input is still unused by then.
    """
    gates: list[Gate] = []
    used = [False] * inputs
    unused_inputs = unused = inputs
    while unused_inputs or len(used) + unused - 1 < variables:  # joining adds unused - 1 gates
        gate = _random_gate(len(used), rng)
        for node in (abs(gate.left), abs(gate.right)):
            if not used[node - 1]:
                used[node - 1] = True
                unused -= 1
                unused_inputs -= node <= inputs
        gates.append(gate)
        used.append(False)
        unused += 1
    return gates + _joining([node for node, done in enumerate(used, 1) if not done], rng)


def _joining(unused: list[int], rng: Random) -> list[Gate]:
    """Gates that join the unused nodes, and each other, until one is left."""
    gates = []
    nodes = max(unused)  # the last node is always unused
    while len(unused) > 1:
        left, right = _take(unused, rng), _take(unused, rng)
        gates.append(_gate(left, right, rng))
        nodes += 1
        unused.append(nodes)
    return gates


def _take(nodes: list[int], rng: Random) -> int:
    """Remove and return a node drawn uniformly."""
    index = below(len(nodes), rng)
    nodes[index], nodes[-1] = nodes[-1], nodes[index]
    return nodes.pop()


def _random_gate(nodes: int, rng: Random) -> Gate:
    left = below(nodes, rng)
    right = (left + 1 + below(nodes - 1, rng)) % nodes
    return _gate(left + 1, right + 1, rng)


def _gate(left: int, right: int, rng: Random) -> Gate:
    kind = _KINDS[below(len(_KINDS), rng)]
    return Gate(kind, signed(left, rng), signed(right, rng))


def _formula(inputs: int, gates: list[Gate], extra: int, rng: Random) -> Formula:
    root = inputs + len(gates)
    clauses = [c for node, gate in enumerate(gates, inputs + 1) for c in _tseitin(node, gate)]
    low, high = _LENGTHS
    for _ in range(extra):
        length = min(low + below(high - low + 1, rng), root)
        clauses.append(random_clause(length, root, rng))
    return Formula(root, (*clauses, (root,)))


def _tseitin(node: int, gate: Gate) -> Iterator[tuple[int, ...]]:
    """Clauses that hold exactly if the node has the gate's value."""
    kind, left, right = gate
    if kind is Kind.AND:
        yield from ((-node, left), (-node, right), (node, -left, -right))
    elif kind is Kind.OR:
        yield from ((node, -left), (node, -right), (-node, left, right))
    else:
        yield from ((-node, -left, right), (-node, left, -right))
        yield from ((node, left, right), (node, -left, -right))
