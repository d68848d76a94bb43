"""Two real cases with two costs: a compressor's size and time, and a heuristic's length and moves.

Times are processor times of the compressor's process, on held-out instances the least of three;
distances of the heuristic are counted, so a busy machine changes nothing there.
"""

import math
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramhs.core.errors import CannotRun
from paramhs.core.random_streams import stream
from paramhs.core.space import Categorical, Integer, Real, Space

MIN_BYTES, MAX_BYTES = 60_000, 260_000
TRAINING_COUNT, TEST_COUNT = 5, 12


@dataclass(frozen=True)
class Case:
    """A function with two costs, and its instances."""

    name: str
    space: Space
    costs: tuple[str, str]
    function: Callable[[Mapping[str, Any], Any, int], tuple[float, float]]
    training: Sequence[Any]
    test: Sequence[Any]
    repeats: int = 1
    """Held-out runs of each point on each instance, of which the least of each cost counts."""


ZSTD = Space(
    {
        "strategy": Integer(1, 9, default=2),
        "wlog": Integer(10, 21, default=18),
        "hlog": Integer(6, 20, default=17),
        "clog": Integer(6, 20, default=16),
        "slog": Integer(1, 9, default=1),
        "mml": Integer(3, 7, default=5),
        "tlen": Integer(0, 512, default=0),
    }
)
"""Advanced parameters of zstd; the default is near its level 3 for files of this size."""


def compressed(config: Mapping[str, Any], file: str, seed: int) -> tuple[float, float]:
    """Size in bytes and processor time in milliseconds of one compression."""
    program = shutil.which("zstd")
    if program is None:
        raise CannotRun("there is no zstd here; apt-get install zstd")
    advanced = ",".join(f"{name}={value}" for name, value in config.items())
    words = [program, "-q", "-c", "--single-thread", f"--zstd={advanced}", file]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        size = len(process.stdout.read())
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = code
    if code:
        raise RuntimeError(f"zstd ended with {code} for {advanced}")
    return float(size), 1000 * (used.ru_utime + used.ru_stime)


def zstd() -> Case:
    """Modules of Python's standard library, compressed by zstd."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(
        str(path)
        for path in (*folder.glob("*.py"), *folder.glob("*/*.py"))
        if path.parent.name not in ("site-packages", "dist-packages")
        and MIN_BYTES <= path.stat().st_size <= MAX_BYTES
    )
    chosen = _drawn(files, "zstd")
    return Case("zstd", ZSTD, ("size", "milliseconds"), compressed, *chosen, repeats=3)


ANNEALING = Space(
    {
        "moves": Integer(300, 20_000, log=True, default=3_000),
        "hot": Real(0.01, 10.0, log=True, default=1.0),
        "cold": Real(1e-4, 1.0, log=True, default=0.1),
        "move": Categorical(["swap", "reverse", "insert"], default="swap"),
        "reach": Real(0.02, 1.0, log=True, default=1.0),
        "start": Categorical(["random", "nearest"], default="random"),
    }
)


def annealed(config: Mapping[str, Any], instance: int, seed: int) -> tuple[float, float]:
    """Length of a round trip by simulated annealing, and the number of distances computed."""
    rng = stream(instance, "cities")
    cities = [(rng.random(), rng.random()) for _ in range(40 + instance % 40)]
    rng = stream(seed, "annealing", instance)
    count, work = len(cities), 0
    tour = list(range(count))
    if config["start"] == "random":
        rng.shuffle(tour)
    else:
        left = set(tour[1:])
        tour = tour[:1]
        while left:
            work += len(left)
            last = cities[tour[-1]]
            tour.append(min(left, key=lambda city: math.dist(last, cities[city])))
            left.remove(tour[-1])
    edge = sum(math.dist(cities[tour[k - 1]], cities[tour[k]]) for k in range(count)) / count
    hot = config["hot"] * edge
    cooling = (min(1.0, config["cold"]) ** (1 / config["moves"])) if config["moves"] else 1.0
    reach = max(1, int(config["reach"] * (count - 1)))
    length = _length(cities, tour)
    best = length
    for _ in range(config["moves"]):
        first = int(rng.random() * count)
        second = (first + 1 + int(rng.random() * reach)) % count
        first, second = sorted((first, second))
        if first == second or second - first == count - 1:
            continue
        gain, cost = _gain(cities, tour, first, second, config["move"])
        work += cost
        if gain >= 0 or rng.random() < math.exp(gain / hot):
            _apply(tour, first, second, config["move"])
            length -= gain
            best = min(best, length)
        hot *= cooling
    return best, float(work)


def _length(cities: Sequence[tuple[float, float]], tour: Sequence[int]) -> float:
    return sum(math.dist(cities[tour[k - 1]], cities[tour[k]]) for k in range(len(tour)))


def _apply(tour: list[int], first: int, second: int, move: str) -> None:
    if move == "swap":
        tour[first], tour[second] = tour[second], tour[first]
    elif move == "reverse":
        tour[first : second + 1] = tour[first : second + 1][::-1]
    else:
        tour.insert(first, tour.pop(second))


def _gain(
    cities: Sequence[tuple[float, float]], tour: list[int], first: int, second: int, move: str
) -> tuple[float, int]:
    """How much shorter the tour becomes, and the number of distances that takes."""
    count = len(tour)
    before, after = tour[first - 1], tour[(second + 1) % count]
    a, b = tour[first], tour[second]

    def far(x: int, y: int) -> float:
        return math.dist(cities[x], cities[y])

    if move == "reverse":
        return far(before, a) + far(b, after) - far(before, b) - far(a, after), 4
    if move == "insert":
        beside = tour[second - 1]
        old = far(before, a) + far(beside, b) + far(b, after)
        return old - far(before, b) - far(b, a) - far(beside, after), 6
    if second == first + 1:
        return far(before, a) + far(b, after) - far(before, b) - far(a, after), 4
    right, left = tour[first + 1], tour[second - 1]
    old = far(before, a) + far(a, right) + far(left, b) + far(b, after)
    return old - far(before, b) - far(b, right) - far(left, a) - far(a, after), 8


def annealing() -> Case:
    """Round trips through 40 to 79 cities, by simulated annealing."""
    training, test = _drawn(list(range(200)), "annealing")
    return Case("annealing", ANNEALING, ("length", "distances"), annealed, training, test)


def _drawn(things: Sequence[Any], name: str) -> tuple[list[Any], list[Any]]:
    some = list(things)
    stream(0, "fronts", name).shuffle(some)
    if len(some) < TRAINING_COUNT + TEST_COUNT:
        raise CannotRun(f"{name}: only {len(some)} instances")
    return some[:TRAINING_COUNT], some[TRAINING_COUNT : TRAINING_COUNT + TEST_COUNT]


CASES = {"zstd": zstd, "annealing": annealing}
