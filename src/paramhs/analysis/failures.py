"""Failed runs grouped by what their configurations have in common.

A typing error in one value makes every run with it crash, and a search only learns to avoid it.
This module explains failures by an instance, by the value of one parameter (or a threshold if it is
ordered), or by two such conditions. The best such *clause* is chosen first, then the best for the
remaining failures (`failure_clauses`).
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from paramhs.analysis.failure_clauses import (
    MIN_FAILED_SHARE,
    OTHER_ERROR_SHARE,
    SIGNIFICANCE_LEVEL,
    Clause,
    ClauseTable,
    Seen,
    explanations,
    log_fisher,
)
from paramhs.core.errors import BadInput
from paramhs.core.runs import Run, Status
from paramhs.core.space import Space
from paramhs.core.text.numbers import counted


@dataclass(frozen=True)
class FailureGroup:
    """Failed runs with a common condition."""

    clause: str
    """The common condition; empty for failures without an explanation."""
    failed: int
    runs: int
    """Number of runs under the condition, failed or not."""
    others_failed: int
    others: int
    statuses: Mapping[str, int]
    """How the failed runs ended, with counts."""
    message: str
    """Error message of the last failed run, on one line."""
    p_value: float
    """Probability that chance produces such a clause, corrected for the number of clauses tried."""
    forbid: str = ""
    """The clause to forbid; empty if forbidding it is not the remedy."""

    @property
    def text(self) -> str:
        """One sentence about the group."""
        how = " or ".join(_VERBS.get(status, status) for status in self.statuses)
        if not self.clause:
            what = f"{counted(self.failed, 'run')} {how}, and no value explains"
            return f"{what} {'it' if self.failed == 1 else 'them'}{self._reason}"
        word = "on" if self.clause.startswith(_INSTANCE) else "with"
        with_it = f"{self.failed:,} of {counted(self.runs, 'run')} {word} {self.clause} {how}"
        return f"{with_it}, {self.others_failed:,} of {self.others:,} others{self._reason}"

    @property
    def _reason(self) -> str:
        return f": {self.message}" if self.message else ""

    @property
    def toml(self) -> str:
        """Line of a scenario file that forbids the clause."""
        return forbidden_line([self.forbid]) if self.forbid else ""

    @property
    def python(self) -> str:
        """Argument of `Space` that forbids the clause."""
        return f"forbidden={[self.forbid]!r}" if self.forbid else ""

    def __repr__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, object]:
        """Convert the group to JSON types."""
        return {**asdict(self), "text": self.text, "toml": self.toml, "python": self.python}


_INSTANCE = "instance "
_VERBS = {
    "crashed": "crashed",
    "unreadable": "gave no usable number",
    "wrong": "gave a wrong answer",
}


def forbidden_line(clauses: Sequence[str]) -> str:
    """Format the line of a scenario file that forbids these clauses."""
    return f"forbidden = [{', '.join(map(_toml, clauses))}]"


def _toml(text: str) -> str:
    """Quote a text for TOML; single quotes where possible, because they need no escapes."""
    plain = "'" not in text and text.isprintable()
    if plain:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def failure_groups(runs: Iterable[Run], space: Space) -> tuple[FailureGroup, ...]:
    """Group failed runs by explanation, the largest group first, unexplained ones last.

    A capped run neither failed nor succeeded, so it is not counted.
    """
    seen = Seen([run for run in runs if run.status is not Status.CAPPED])
    if not seen.failures:
        return ()
    groups = []
    for name, p_value in list(_bad_instances(seen)):
        here = Seen([run for run in seen.runs if run.task.instance == name])
        seen = Seen([run for run in seen.runs if run.task.instance != name])
        groups.append(_group(f"{_INSTANCE}{name}", p_value, here, seen))
    for clause, p_value in explanations(ClauseTable(seen, space)):
        here, seen = seen.parted(clause)
        group = _group(clause.text, p_value, here, seen)
        groups.append(_with_way_out(group, clause, space))
    groups.sort(key=lambda group: -group.failed)
    return (*groups, *_unexplained(seen))


def _group(clause: str, p_value: float, here: Seen, others: Seen) -> FailureGroup:
    return FailureGroup(
        clause,
        len(here.failures),
        here.count,
        len(others.failures),
        others.count,
        dict(Counter(run.status.value for run in here.failures)),
        here.failures[-1].reason,
        p_value,
    )


def _unexplained(left: Seen) -> Iterator[FailureGroup]:
    if left.failures:
        yield _group("", 1.0, left, Seen(()))


def _with_way_out(group: FailureGroup, clause: Clause, space: Space) -> FailureGroup:
    """Add the clause to forbid, if the default remains allowed and few good runs are lost."""
    if group.failed < MIN_FAILED_SHARE * group.runs:
        return group
    try:
        Space(space.parameters, conditions=space.conditions, forbidden=[clause.text])
    except BadInput:  # the clause forbids the default itself
        return group
    return replace(group, forbid=clause.text)


# Instances


def _bad_instances(seen: Seen) -> Iterator[tuple[str, float]]:
    """Yield instances on which nearly all runs fail while few fail elsewhere."""
    made = Counter(run.task.instance for run in seen.runs)
    failed = Counter(run.task.instance for run in seen.failures)
    for instance, count in failed.items():
        log_p = log_fisher(count, made[instance], failed.total(), len(seen.runs))
        corrected = min(1.0, math.exp(log_p) * len(made) / OTHER_ERROR_SHARE)
        if count >= MIN_FAILED_SHARE * made[instance] and corrected <= SIGNIFICANCE_LEVEL:
            yield instance.name, corrected
