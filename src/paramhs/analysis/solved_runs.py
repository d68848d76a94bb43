"""Solved runs, failed runs, and a summary of the answers of a search.

Every view (terminal, page, JSON, notebook) uses this module, so no two of them disagree.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from paramhs.core.answers import is_answer, shown
from paramhs.core.costs import CostMetric
from paramhs.core.description import IMPORTED
from paramhs.core.runs import FAILURES, TIMEOUTS, Run, Status
from paramhs.core.scenario import plain_name
from paramhs.core.space import Config
from paramhs.core.text.numbers import counted
from paramhs.search.history import History
from paramhs.search.judge import contradicts_another

NO_ANSWER = "answer: none recognised; exit code 0 alone counts as solved"
NONE_RETURNED = "answer: none returned; a call that ends counts as solved"

_GIVES_UP = "A configuration that gives up at once would win"
_MAX_ANSWERS = 8  # distinct answers counted separately
_MAX_NAMES = 5  # instances named in a message


def has_failed(run: Run, metric: CostMetric) -> bool:
    """Whether a run failed, by its status or because it has no usable cost."""
    return run.status in FAILURES or math.isinf(metric.of(run)[0])


def failed_by_config(history: History) -> Counter[Config]:
    """Number of failed runs of each configuration."""
    metric = history.scenario.cost
    ended = (run for run in history.runs if run.status is not Status.CAPPED)
    return Counter(run.task.config for run in ended if has_failed(run, metric))


def is_solved(run: Run, metric: CostMetric) -> bool:
    """Whether a run gave the requested result; where time counts, within the cutoff."""
    late = run.status is Status.TIMEOUT and not metric.needs_runtime
    return (run.status is Status.OK or late) and not has_failed(run, metric)


def unsolved_default(runs: Sequence[Run], metric: CostMetric) -> str:
    """Warning that none of these runs of the default was solved; empty otherwise."""
    ended = [run for run in runs if run.status is not Status.CAPPED]
    if not ended or any(is_solved(run, metric) for run in ended):
        return ""
    return (
        f"the default solved none of its {counted(len(ended), 'run')}, so no gain over it can be"
        " measured: use easier instances or a longer cutoff"
    )


def is_late(run: Run) -> bool:
    """Whether a run counts as a time-out: it reached the cutoff, or ended without an answer."""
    return run.status in TIMEOUTS


def exit_code_alone(cost: CostMetric, target: Mapping[str, Any]) -> str:
    """Message saying that the exit code alone decides what is solved; empty otherwise.

    This matters where time is the cost and the user has not defined a solved run. `target` is the
    description of the target. Wrappers of other tools report how a run ended, and a checker
    examines each answer.
    """
    if not cost.needs_runtime or not target or IMPORTED in target:
        return ""
    if "command" not in target:
        return NONE_RETURNED
    told = any(target.get(name) for name in ("solved", "answer", "checker"))
    wrapped = str(target.get("reader", "")).startswith(("AclibLine", "IraceLine"))
    return "" if told or wrapped else NO_ANSWER


@dataclass(frozen=True)
class Answers:
    """Answers given by the runs of a search."""

    counts: Mapping[str, int]
    """Number of runs by answer: each text, and all numbers as "a number"."""
    none: int
    """Number of uncapped runs without an answer."""
    unsolved: int
    """Number of runs that ended without the requested answer."""
    default_runs: int
    references: int
    """Number of runs of the default made only to obtain reference answers."""
    warning: str
    """Warning if the default solved nothing, or if no answer was recognised; else empty."""
    disagreements: Sequence[str]
    """Sentences about instances whose answers contradict each other without one from the default.
    """

    @property
    def lines(self) -> list[str]:
        """Sentences for people, the same in every view; empty without answers."""
        return [*self.warnings, *([f"answers: {self.text}"] if self.text else [])]

    @property
    def warnings(self) -> list[str]:
        """Warnings a reader needs before believing the result."""
        return [*([self.warning] if self.warning else []), *self.disagreements]

    @property
    def text(self) -> str:
        """Number of runs by answer, and the number of reference runs of the default."""
        if not self.counts:
            return ""
        parts = [f"{count:,} {answer}" for answer, count in self.counts.items()]
        none = [f"{counted(self.none, 'run')} without"] if self.none else []
        unsolved = [f"{counted(self.unsolved, 'run')} unsolved"] if self.unsolved else []
        of_default = (
            [f"default: {counted(self.default_runs, 'run')}, of which {self.references:,} to have"
             " its answers"]
            if self.references
            else []
        )  # fmt: skip
        return "; ".join([", ".join(parts), *none, *unsolved, *of_default])

    def to_json(self) -> dict[str, object]:
        """Convert the summary to JSON types."""
        return {**asdict(self), "disagreements": list(self.disagreements)}


NO_ANSWERS = Answers({}, 0, 0, 0, 0, "", ())


def answers_of(history: History, fact: str) -> Answers:
    """Summarise the answers of a search; `fact` is the result of `exit_code_alone`."""
    runs = [run for run in history.runs if run.status is not Status.CAPPED]
    given = [run for run in runs if run.answer is not None]
    scenario = history.scenario
    default = [run for run in history.runs if run.task.config == scenario.space.default]
    nothing = _warning(fact) if not given and any(run.status is Status.OK for run in runs) else ""
    unsolved = unsolved_default(default, scenario.cost)
    return Answers(
        _counted(given),
        len(runs) - len(given),
        sum(run.status is Status.UNSOLVED for run in runs),
        len(default),
        history.references,
        " ".join(filter(None, (unsolved and f"warning: {unsolved}.", nothing))),
        tuple(_disagreements(given)),
    )


def _warning(fact: str) -> str:
    if fact == NONE_RETURNED:
        return f"{fact}: return paramhs.Answered(answer) to have answers compared."
    how = "say what an answer is with `answer` or `solved` (see `paramhs check`)."
    return f"{fact}. {_GIVES_UP}: {how}" if fact else ""


def _counted(runs: Iterable[Run]) -> dict[str, int]:
    """Number of runs by answer, the most frequent first."""
    texts = Counter(r.answer if isinstance(r.answer, str) else "a number" for r in runs)
    named = texts.most_common(_MAX_ANSWERS)
    others = texts.total() - sum(count for _, count in named)
    return {**dict(named), **({"something else": others} if others else {})}


def _disagreements(runs: Sequence[Run]) -> Iterator[str]:
    disputed = list(dict.fromkeys(run.task.instance for run in runs if contradicts_another(run)))
    for instance in disputed[:_MAX_NAMES]:
        here = [r for r in runs if r.task.instance == instance and is_answer(r.answer)]
        configs: dict[Config, None] = {run.task.config: None for run in here}
        said = dict.fromkeys(shown(run.answer) for run in here if run.answer is not None)
        answers = ", ".join([*said][:_MAX_NAMES])
        yield (
            f"{counted(len(configs), 'configuration')} disagree on instance"
            f" {plain_name(instance.name)}: {answers}; the first answer was taken as correct"
            " because the default gave none; set `expected`"
        )
    if len(disputed) > _MAX_NAMES:
        more = counted(len(disputed) - _MAX_NAMES, "more instance")
        yield f"configurations disagree on {more}"
