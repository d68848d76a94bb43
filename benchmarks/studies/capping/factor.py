"""Which factor for aggressive capping: `python -m benchmarks.studies.capping.factor`.

Races between two configurations drawn at random, one being the incumbent with all its runs, by the
default comparison. For each rule: of the challengers that are better (by PAR10 over all instances),
the share that lose; and the time that the runs of all challengers took, both beside preserving
capping.
"""

import argparse
from dataclasses import dataclass
from random import Random

from benchmarks.studies.capping.collect import FAMILIES
from benchmarks.studies.capping.replaying import Replayed, replayed, scenario, space
from paramhs.core.capping import Capping, Kind
from paramhs.core.random_streams import stream
from paramhs.core.runs import Asking
from paramhs.core.space import Config
from paramhs.search.comparison import Growing
from paramhs.search.history import History


@dataclass(frozen=True)
class Rule(Capping):
    """A factor of the form base + scale / pairs ** power."""

    kind: Kind = "aggressive"
    base: float = 1.0
    scale: float = 0.0
    power: float = 1.0

    def times(self, pairs: int) -> float:
        """The factor on this number of pairs."""
        return self.base + self.scale / pairs**self.power

    def __str__(self) -> str:
        if not self.scale:
            return f"{self.base:g}"
        under = "n" if self.power == 1 else "sqrt(n)"
        return f"{self.base:g} + {self.scale:g} / {under}"


RULES = [
    Rule(base=1.5),
    Rule(base=2),
    Rule(base=3),
    Rule(scale=2),
    Rule(scale=4),
    Rule(scale=8),
    Rule(scale=16),
    Rule(scale=1, power=0.5),
    Rule(scale=2, power=0.5),
    Rule(scale=4, power=0.5),
]


class Races:
    """Races of one family, the same ones for each rule."""

    def __init__(self, target: Replayed, races: int) -> None:
        self.target = target
        self.numbers = range(target.family.instances)
        configs = list(space(target.family).configs())
        rng = stream(0, "factor", target.family.name)
        self.drawn = [(*_two(configs, rng), seed) for seed in range(races)]
        self.costs = {config: target.cost(config, self.numbers) for config in configs}

    def lost_and_seconds(self, rule: Capping) -> tuple[float, float]:
        """Share of the better challengers that lose, and mean time of all challengers.

        The incumbent's runs are made first and not counted.
        """
        timed = scenario(self.target.family, self.numbers, rule)
        lost = better = 0
        seconds = 0.0
        for challenger, incumbent, seed in self.drawn:
            history = History(timed, seed)
            list(self._answered(history.ask((incumbent, history.pairs(0, len(self.numbers))))))
            begun = len(history.runs)
            (won,) = self._answered(Growing().better(history, challenger, incumbent))
            seconds += sum(run.runtime for run in history.runs[begun:])
            if self.costs[challenger] < self.costs[incumbent]:
                better += 1
                lost += not won
        return lost / better, seconds / len(self.drawn)

    def _answered(self, asking: Asking) -> list[bool]:
        """What is decided, given the runs that are asked for."""
        try:
            request = next(asking)
            while True:
                request = asking.send([self.target(task) for task in request.tasks])
        except StopIteration as end:
            return [end.value]


def _two(configs: list[Config], rng: Random) -> tuple[Config, Config]:
    """Two different ones."""
    first = int(rng.random() * len(configs))
    second = int(rng.random() * (len(configs) - 1))
    return configs[first], configs[second + (second >= first)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=1000)
    races = [Races(replayed(family), parser.parse_args().races) for family in FAMILIES.values()]
    names = [family for family in FAMILIES for _ in range(2)]
    print("| factor on n pairs |", " | ".join(f"{name}" for name in names), "|")
    print("|---|" + "---|" * len(names))
    for rule in (Capping(), Capping("preserving"), *RULES):
        cells = [
            f"{100 * lost:.1f} % lost | {seconds:.2f} s"
            for lost, seconds in (family.lost_and_seconds(rule) for family in races)
        ]
        name = rule if isinstance(rule, Rule) else rule.kind
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
