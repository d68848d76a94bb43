"""Pages of searches that never were: any scenario, any runs, without a target."""

import math
from collections.abc import Callable, Iterable
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from random import Random

from paramhs.analysis.verdict import NoVerdict, verdict
from paramhs.core.costs import CostMetric, Quality, score
from paramhs.core.runs import Instance, Pair, Point, Run, Status, Task
from paramhs.core.scenario import Scenario
from paramhs.core.space import Config, Space
from paramhs.report.page import PageOptions, drawn_page
from paramhs.report.result import Result
from paramhs.search.history import History
from paramhs.search.record import Record

Answer = Callable[[Config, Pair, Random], tuple[Status, float, float | None]]
"""How a run ends, how long it takes, what it reports."""

MEAN = Quality()
SPACE = Space({"x": (0.0, 1.0), "k": (1, 9), "mode": ["slow", "fast"]})
NONE = NoVerdict("none", "none was made.")
HEADINGS = [
    "Result",
    "How sure",
    "Changes that matter",
    "Importance of parameters",
    "Course of the search",
    "Instances",
    "Failures",
]
HOSTILE = [
    "<script>document.title='run'</script>",
    "\"'><img src=x onerror=alert(1)>",
    "x" * 200,
    "\u202egnorts\u202c \u05d0\u05d1\u05d2",
    "a\x1b[31m\ufffe\x00b]]>&amp;{{7*7}}",
]


def plain(config: Config, pair: Pair, rng: Random) -> tuple[Status, float, float | None]:
    """A cost that falls as the first parameter rises."""
    return Status.OK, 0.01, 2.0 - config.indices[0] / 64 + rng.random()


def made(
    answer: Answer = plain,
    *,
    space: Space = SPACE,
    instances: Iterable[str] = "abcdefgh",
    metric: CostMetric = MEAN,
    cutoff: float = math.inf,
    configs: int = 20,
    races: int = 3,
    judged: bool = True,
    **more: object,
) -> Result:
    """Result of a search that ran some configurations, each on a few pairs."""
    rng = Random(1)
    scenario = Scenario(space, tuple(map(Instance, instances)), metric, cutoff)
    history = History(scenario, 0)
    met = [space.default, *dict.fromkeys(space.sample(rng) for _ in range(configs))]
    pairs = [Pair(i, seed) for seed in range(races) for i in scenario.instances][:3000]

    def run(config: Config, pair: Pair) -> Run:
        task = Task(config, *pair, cutoff)
        return Run(task, *answer(config, pair, rng))

    points = []
    for config in met:
        for pair in pairs[: max(3, len(pairs) // 4)] if config != met[-1] else pairs:
            history.add(run(config, pair))
        if config in (met[0], met[-1]):
            costs = list(history.costs(config).values())
            cost = metric.shown(score(costs)) if costs else None
            points.append(Point(config, len(history.runs), 1.0, cost, len(costs)))
    sides = [[run(config, pair) for pair in pairs] for config in (met[0], met[-1])]
    found = {
        "store": Path("runs.sqlite"),
        "verdict": verdict(*sides, metric, "test instances") if judged and sides[0] else NONE,
    }
    written = {f.name for f in fields(Record)} & more.keys()
    facts = {"target": {"function": "a target"}, "target_time": 1.0}
    facts |= {name: more.pop(name) for name in written}
    record = Record(history, **{"trajectory": points, **facts})
    return Result(record, **{**found, **more})


def html(result: Result, **options: object) -> str:
    return drawn_page(result, PageOptions(**options)).html


class Outline(HTMLParser):
    """The elements of a page; those that must be closed are."""

    EMPTY = ("meta", "br", "wbr", "circle", "path", "rect")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.headings: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in self.EMPTY or tag in ("circle", "path", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
