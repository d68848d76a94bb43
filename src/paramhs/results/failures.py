"""Failed runs, grouped by what their configurations have in common.

A typo in one value makes every run with it crash, and a search only learns to avoid it. Here the
failures are explained by an instance, by the value of one parameter (or, where it is ordered, by
its values from one on), or by those of two: the *clause* that says it best is taken, then the best
for what is left (`clauses` says how).
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from paramhs.results.clauses import (
    ALWAYS,
    OTHER,
    SIGNIFICANT,
    Clause,
    ClauseTable,
    Seen,
    explanations,
    log_fisher,
)
from paramhs.values.errors import BadInput
from paramhs.values.runs import Run
from paramhs.values.space import Space
from paramhs.values.wording import counted


@dataclass(frozen=True)
class FailureGroup:
    """Failed runs with something in common."""

    clause: str
    """What their configurations have in common; empty of those that nothing explains."""
    failed: int
    runs: int
    """How many there are under the clause, failed or not."""
    others_failed: int
    others: int
    statuses: Mapping[str, int]
    """How they ended, and how often."""
    message: str
    """What the last of them said, on one line."""
    p_value: float
    """How likely chance would do as much, given how many clauses were tried."""
    forbid: str = ""
    """The clause to forbid; empty where that is not the way out."""

    @property
    def text(self) -> str:
        """A sentence."""
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
        """The line for a scenario file that forbids it; beside others in one that has such."""
        return forbidden_line([self.forbid]) if self.forbid else ""

    @property
    def python(self) -> str:
        """The argument of `Space` that forbids it."""
        return f"forbidden={[self.forbid]!r}" if self.forbid else ""

    def to_json(self) -> dict[str, object]:
        """The same in JSON types."""
        return {**asdict(self), "text": self.text, "toml": self.toml, "python": self.python}


_INSTANCE = "instance "
_VERBS = {"crashed": "crashed", "wrong": "gave a wrong answer"}


def forbidden_line(clauses: Sequence[str]) -> str:
    """The line of a scenario file that forbids these."""
    return f"forbidden = [{', '.join(map(_toml, clauses))}]"


def _toml(text: str) -> str:
    """A text in TOML: between single quotes where that is enough, as nothing is escaped there."""
    plain = "'" not in text and text.isprintable()
    if plain:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def failure_groups(runs: Iterable[Run], space: Space) -> tuple[FailureGroup, ...]:
    """Failed runs by what explains them, the largest group first; what nothing explains last."""
    seen = Seen(list(runs))
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
    """With the clause to forbid, if that leaves the default and loses little else."""
    if group.failed < ALWAYS * group.runs:
        return group
    try:
        Space(space.parameters, conditions=space.conditions, forbidden=[clause.text])
    except BadInput:  # the default itself
        return group
    return replace(group, forbid=clause.text)


# Instances.


def _bad_instances(seen: Seen) -> Iterator[tuple[str, float]]:
    """Those on which nearly everything fails and elsewhere little does."""
    made = Counter(run.task.instance for run in seen.runs)
    failed = Counter(run.task.instance for run in seen.failures)
    for instance, count in failed.items():
        log_p = log_fisher(count, made[instance], failed.total(), len(seen.runs))
        corrected = min(1.0, math.exp(log_p) * len(made) / OTHER)
        if count >= ALWAYS * made[instance] and corrected <= SIGNIFICANT:
            yield instance.name, corrected
