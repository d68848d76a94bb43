"""Colouring of random graphs so that no edge joins two vertices of one colour.

Variable colours * (v - 1) + c means that vertex v has colour c. Each vertex has some colour; having
more than one is harmless. Large graphs have a 3-colouring below an average degree of about 4.69 and
none above, and are hardest there; for 4 colours at about 8.9, for 5 at about 13.7.

Source: Cheeseman, Kanefsky, Taylor, "Where the Really Hard Problems Are" (IJCAI 1991); the
thresholds: Zdeborova, Krzakala, "Phase Transitions in the Coloring of Random Graphs" (2007).
"""

from random import Random

from paramhs.bundled.instances.dimacs import Formula
from paramhs.bundled.instances.limits import at_least, positive, sized
from paramhs.core.errors import BadInput
from paramhs.core.random_streams import below


def colouring(vertices: int, degree: float, colours: int, rng: Random) -> Formula:
    """Colouring of a uniform graph with round(vertices * degree / 2) edges."""
    at_least("vertices", vertices, 2)
    at_least("colours", colours, 1)
    sized(vertices * colours * (positive("degree", degree) + colours))
    edges = _edges(vertices, round(vertices * degree / 2), rng)
    clauses = [tuple(_variable(v, c, colours) for c in range(colours)) for v in range(vertices)]
    for left, right in edges:
        for c in range(colours):
            clauses.append((-_variable(left, c, colours), -_variable(right, c, colours)))
    return Formula(vertices * colours, tuple(clauses))


def _variable(vertex: int, colour: int, colours: int) -> int:
    return vertex * colours + colour + 1


def _edges(vertices: int, count: int, rng: Random) -> list[tuple[int, int]]:
    most = vertices * (vertices - 1) // 2
    if count > most:
        raise BadInput(f"{vertices} vertices have at most {most:,} edges, not {count:,}")
    edges: dict[tuple[int, int], None] = {}
    while len(edges) < count:
        left = below(vertices, rng)
        right = (left + 1 + below(vertices - 1, rng)) % vertices
        edges[min(left, right), max(left, right)] = None
    return list(edges)
