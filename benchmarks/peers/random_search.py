"""Random search: uniformly random configurations, raced against the best so far.

The race is that of ROAR (Hutter, Hoos, Leyton-Brown, LION 5, 2011). Before each challenger the
incumbent gets one run more, on a pair of instance and seed that it has not met. The challenger is
run on the incumbent's pairs in a random order, on one, two, four ... of them, and leaves as soon as
its mean on those is worse. A challenger that stays to the end is the new incumbent.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.peers.client import BudgetSpent, Client
from paramhs.core.space import Config
from paramhs.core.space.from_description import space_of

Pair = tuple[int, int]


class Racing:
    """The best so far, and its costs by pair."""

    def __init__(self, client: Client, pairs: Iterator[Pair], best: Config, rng: Random) -> None:
        self.client = client
        self.pairs = pairs
        self.rng = rng
        self.best = best
        self.known: dict[Pair, float] = {}

    def intensify(self) -> None:
        """One run more of the best, where there are pairs left."""
        pair = next(self.pairs, None)
        if pair is not None:
            self.known[pair] = self.client.cost(self.best, *pair)

    def challenge(self, config: Config) -> None:
        """Race a configuration against the best."""
        order = self.rng.sample(list(self.known), len(self.known))
        costs: dict[Pair, float] = {}
        size = 1
        while len(costs) < len(order):
            for pair in order[len(costs) : len(costs) + size]:
                costs[pair] = self.client.cost(config, *pair)
            if sum(costs.values()) > sum(self.known[pair] for pair in costs):
                return
            size *= 2
        self.best, self.known = config, costs
        self.client.tell_incumbent(config)


def pairs(instances: int, deterministic: bool, rng: Random) -> Iterator[Pair]:
    """Each instance once before any comes again; only once where the seed changes nothing."""
    while True:
        for number in rng.sample(range(instances), instances):
            yield number, rng.randrange(1, 2**31)
        if deterministic:
            return


def main() -> None:
    job = json.loads(Path("job.json").read_text(encoding="utf-8"))
    space = space_of(json.loads(Path("space.json").read_text(encoding="utf-8")))
    rng = Random(job["seed"])
    order = pairs(job["instances"], job["deterministic"], rng)
    racing = Racing(Client(job["port"]), order, space.default, rng)
    try:
        while True:
            racing.intensify()
            racing.challenge(space.sample(rng))
    except BudgetSpent:
        pass


if __name__ == "__main__":
    main()
