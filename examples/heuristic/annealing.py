"""Simulated annealing for the travelling salesman: a heuristic in plain Python."""

import math
from random import Random

CITIES = 60
STEPS = 6_000


def tour(config, instance, seed):
    """The length of the best round trip through random cities; the instance is their seed."""
    rng = Random(seed)
    cities = points(instance)
    order = START[config["start"]](cities, rng)
    length = best = total(order, cities)
    heat = config["heat"] * length / CITIES
    cooling = config["cold"] ** (1 / STEPS) if config["cool"] else 1.0
    for _ in range(STEPS):
        changed = neighbour(order, config, rng)
        new = total(changed, cities)
        if new <= length or rng.random() < math.exp((length - new) / heat):
            order, length = changed, new
            best = min(best, length)
        heat *= cooling
    return best


def points(seed):
    """Cities in the unit square, as complex numbers."""
    rng = Random(seed)
    return [complex(rng.random(), rng.random()) for _ in range(CITIES)]


def total(order, cities):
    """The length of a round trip."""
    way = [cities[city] for city in order]
    return sum(map(abs, map(complex.__sub__, way, way[1:] + way[:1])))


def neighbour(order, config, rng):
    """Two cities swapped, a stretch reversed, or a short stretch moved elsewhere."""
    i, j = sorted((rng.randrange(CITIES), rng.randrange(CITIES)))
    if config["move"] == "swap":
        order = order[:]
        order[i], order[j] = order[j], order[i]
        return order
    if config["move"] == "reverse" or rng.random() >= config["shifts"]:
        return order[:i] + order[i : j + 1][::-1] + order[j + 1 :]
    end = min(i + 1 + rng.randrange(config["stretch"]), CITIES)
    rest = order[:i] + order[end:]
    place = rng.randrange(len(rest) + 1)
    return rest[:place] + order[i:end] + rest[place:]


def nearest_first(cities, rng):
    """Always on to the nearest city that is left."""
    left = set(range(CITIES))
    order = [rng.randrange(CITIES)]
    while left := left - {order[-1]}:
        order.append(min(left, key=lambda city: abs(cities[city] - cities[order[-1]])))
    return order


def shuffled(cities, rng):
    """Cities in a random order."""
    return rng.sample(range(CITIES), CITIES)


START = {"shuffled": shuffled, "nearest first": nearest_first}
