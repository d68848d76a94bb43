"""Judgement of runs by their answers: which are solved, and which are wrong.

The reference for an instance is the default's answer there or, where the default gave none, the
first answer seen. A reference never changes. A run that contradicts it is wrong.

Where time is the cost, a run that ended without an answer (`unknown`, or nothing although the
default has answered, or another configuration while the default never ended) is unsolved and costs
as much as a time-out. A target that receives its cutoff may have respected it: such a run timed
out, or was capped if its cutoff was smaller.

A judgement is final: judging a run again changes nothing, so runs are stored as they were judged.
"""

from collections.abc import Sequence
from copy import copy

from paramhs.core.answers import Answer, agreement, is_answer, shown
from paramhs.core.runs import Instance, Run, Status, Task
from paramhs.core.scenario import Scenario, plain_name
from paramhs.core.space import Config

_WRONG = "WRONG ANSWER: "
_DEFAULT = "the default"


def contradicts_another(run: Run) -> bool:
    """Whether a run is wrong only because another non-default configuration answered first.

    Either answer may be the right one.
    """
    if run.status is not Status.WRONG or run.answer is None:
        return False
    start = f"{_WRONG}{shown(run.answer)} on {run.task.instance.name}, where "
    return run.detail.startswith(start) and not run.detail.startswith(f"{start}{_DEFAULT} answered")


class Judge:
    """References of one search, and the status of runs that follows from them."""

    def __init__(self, scenario: Scenario, baseline: Config) -> None:
        self.baseline = baseline
        """Configuration whose answers are the references."""
        self._timed = scenario.cost.needs_runtime
        self._tolerance = scenario.answer_tolerance
        self._expected = scenario.expected
        self._cutoff = scenario.cutoff
        self._references: dict[Instance, tuple[Answer, Config]] = {}
        self._met: set[Instance] = set()
        """Instances on which the baseline has run."""
        self._answered = self._baseline_answered = self._baseline_silent = False
        """Whether any configuration has answered, whether the baseline has, and whether the
        baseline has ended well without an answer."""
        self.tells_cutoff = False
        """Whether the target receives the cutoff of each run."""
        self.relabelled: list[Run] = []
        """Runs whose status was changed, until they are collected."""

    def __call__(self, run: Run) -> Run:
        """Return the run with the status that follows from its answer."""
        if run.status is not Status.OK:
            return run
        status, why = self._status(run)
        if status is Status.OK:
            return run
        judged = run._replace(status=status, detail=why)
        self.relabelled.append(judged)
        return judged

    def _status(self, run: Run) -> tuple[Status, str]:
        right = self._right(run.task.instance) if self._expected else None
        if not is_answer(run.answer):
            awaited = self._expects or right is not None
            if not self._timed or (run.answer is None and not awaited):
                return Status.OK, ""
            what = "nothing that is recognised" if run.answer is None else shown(run.answer)
            return self._unanswered(run), f"it ended without an answer: it said {what}"
        if right is not None and run.answer is not None:
            return self._against(right, run.answer, run.task.instance.name)
        reference = self._references.get(run.task.instance)
        if reference is None or run.answer is None:
            return Status.OK, ""
        expected, config = reference
        found = agreement(run.answer, expected, self._tolerance)
        who = _DEFAULT if config == self.baseline else str(config)
        where = f"on {run.task.instance.name}, where {who} answered {shown(expected)}"
        if found == "contradiction":
            return Status.WRONG, f"{_WRONG}{shown(run.answer)} {where}"
        if found == "weaker" and self._timed:
            return Status.UNSOLVED, f"it only answered {shown(run.answer)} {where}"
        return Status.OK, ""

    def _right(self, instance: Instance) -> Answer | None:
        """Known right answer of an instance."""
        name = instance.name
        return self._expected.get(name, self._expected.get(plain_name(name)))

    def _against(self, right: Answer, answer: Answer, name: str) -> tuple[Status, str]:
        """Status of an answer where the right one is known."""
        found = agreement(answer, right, self._tolerance)
        if found == "contradiction":
            return (
                Status.WRONG,
                f"{_WRONG}{shown(answer)}, but {plain_name(name)} is {shown(right)}",
            )
        if found == "weaker" and self._timed:
            return Status.UNSOLVED, f"it only answered {shown(answer)}; {shown(right)} is known"
        return Status.OK, ""

    @property
    def _expects(self) -> bool:
        """Whether a solved run must have an answer.

        Where the baseline always reaches the cutoff, this follows from the answers of others.
        """
        return self._baseline_answered or (self._answered and not self._baseline_silent)

    def _unanswered(self, run: Run) -> Status:
        """Status of a run without an answer; a target that knows its cutoff may need more time."""
        if not self.tells_cutoff:
            return Status.UNSOLVED
        return Status.CAPPED if run.task.cutoff < self._cutoff else Status.TIMEOUT

    def note(self, run: Run) -> None:
        """Record a judged run, as far as it is known."""
        is_baseline = run.task.config == self.baseline
        if is_baseline and run.status is not Status.CAPPED:
            self._met.add(run.task.instance)
        if run.status is Status.OK and run.answer is None:
            self._baseline_silent |= is_baseline
        if run.answer is None or run.status is not Status.OK or not is_answer(run.answer):
            return
        self._answered = True
        self._baseline_answered |= is_baseline
        self._references.setdefault(run.task.instance, (run.answer, run.task.config))

    def unmet(self, tasks: Sequence[Task]) -> list[Task]:
        """Runs of the baseline to make first, so that each task has a reference.

        None while no run has ever answered.
        """
        if not self._references:
            return []
        own = {task.instance for task in tasks if task.config == self.baseline}
        missing: dict[Instance, Task] = {}
        for task in tasks:
            if task.instance not in self._met and task.instance not in own:
                first = task._replace(config=self.baseline, cutoff=self._cutoff)
                missing.setdefault(task.instance, first)
        return [*missing.values()]

    def copy(self) -> "Judge":
        """Independent copy of this judge."""
        other = copy(self)
        other._references, other._met = {**self._references}, {*self._met}
        other.relabelled = []
        return other
