"""A command line as a target, given in Python."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paramhs.core.answers import TOLERANCE
from paramhs.core.costs import CostMetric
from paramhs.core.errors import BadInput
from paramhs.core.runs import Instance
from paramhs.core.space import Space
from paramhs.execution.supervisor import Clock
from paramhs.execution.targets.command import (
    CommandTarget,
    Expected,
    Native,
    Reader,
    Recogniser,
    Solved,
    Style,
    Template,
    named_readers,
    problem_of,
    reader_of_costs,
    recogniser_from,
    solved_from,
)


@dataclass(frozen=True)
class Command:
    """A command line with placeholders, as in a scenario file: `{instance}`, `{seed}`, `{cutoff}`,
    parameters by their names, and `{params}` for all others, written as `style` shows.

    `read` names the part of the output that is the quality: "last number", "aclib", "irace", or a
    reader, such as `Pattern(r"cost: (\\S+)")` or `JsonLine("result.cost")`; where only the runtime
    counts, nothing needs to be read. Standard output is searched first, then standard error.

    Answers (`sat`, `unsat`, an optimal value) are recognised by convention and compared with the
    default's; `answer` says what they are otherwise: `{"regex": ...}` or `{"json": ...}`. `solved`
    are the exit codes or the answers of a run that did its work (`[0, 10]`, `["sat", "unsat"]`), or
    `{"regex": ...}`. `expected` are right answers: one for all instances, a dictionary by
    instance, or a file of lines `instance answer`. Numbers are the same up to `answer_tolerance`.
    `numbers` are written "shortest" (1e-05) or "decimal" (0.00001); `{params}` leaves out
    `selectors`, parameters that only decide which others are active; `{changed}` is `{params}`
    without the values that are the defaults. No shell reads it.

    Args:
        text: The command line, with `{instance}`, `{seed}`, `{cutoff}`, `{params}` and `{NAME}` for
            each parameter.
        read: Part of the output that is the quality: "last number", "aclib", "aclib2", "irace",
            "time", or a reader such as `Pattern` or `JsonLine`. For several costs, a dictionary
            with a reader for each cost that is read, by its name.
        solved: Exit codes or answers of a run that did its work, or `{"regex": ...}`.
        style: How `{params}` writes a parameter.
        booleans: What is written for true and for false.
        switches: Text before the value of single parameters.
        numbers: How numbers are written: 1e-05 ("shortest") or 0.00001 ("decimal").
        selectors: Parameters that `{params}` does not write.
        native: How the program's own users write a configuration, for `Result.native`:
            `{"line": "name = value"}` or `{"command": "solver {changed}"}`.
        folder: Working directory.
        clock: Which time counts and is limited.
        wall_limit: With `clock="cpu"`: seconds that may pass.
        grace: Seconds between SIGTERM and SIGKILL.
        checker: Command that reads the output and ends with 0 if the answer is right.
        answer: Where the answer is: `{"regex": ...}` or `{"json": ...}`.
        expected: Right answers: one for all instances, by name, or a file.
        answer_tolerance: Relative difference up to which two numbers are the same answer.

    Examples:
        >>> import paramhs
        >>> solver = paramhs.Command("echo {x} {instance}", read=paramhs.Pattern(r"^(\\S+)"))
        >>> paramhs.tune(solver, {"x": range(5)}, instances=["a", "b"], budget=20).best["x"]
        0
    """

    text: str
    read: str | Reader | Mapping[str, str | Reader] | None = None
    solved: Sequence[int] | Sequence[str] | Mapping[str, str] | None = None
    style: str = "-name value"
    booleans: tuple[str, str] | None = None
    switches: Mapping[str, str] | None = None
    numbers: Literal["shortest", "decimal"] = "shortest"
    selectors: Sequence[str] = ()
    native: Mapping[str, str] | None = None
    folder: str | Path = "."
    clock: Clock = "cpu"
    wall_limit: float | None = None
    grace: float = 1.0
    checker: str | None = None
    answer: Mapping[str, str] | Recogniser | None = None
    expected: str | float | Mapping[str, str | float] | Path | None = None
    answer_tolerance: float = TOLERANCE

    def target(self, space: Space, metric: CostMetric, memory: float | None) -> CommandTarget:
        """Build the target for these parameters.

        Args:
            space: Space of configurations.
            metric: Cost of a run.
            memory: Memory limit in bytes; None for none.

        Returns:
            The target.
        """
        decimal, selectors = self.numbers == "decimal", tuple(sorted(self.selectors))
        style = Style(self.style, self.booleans, self.switches, decimal, selectors)
        return CommandTarget(
            Template(self.text, space, style),
            Path(os.path.abspath(self.folder)),
            self._reader(metric),
            Solved() if self.solved is None else solved_from(self.solved),
            self.clock,
            math.inf if memory is None else memory,
            self.wall_limit,
            self.grace,
            Template(self.checker, space, style, whole=False) if self.checker else None,
            needs_number=metric.needs_quality,
            recogniser=recogniser_from(self.answer),
            answer_tolerance=self.answer_tolerance,
            native=None if self.native is None else Native(**self.native),
            timed=metric.needs_runtime,
        )

    def with_expected(self, instances: Sequence[Instance]) -> tuple[Instance, ...]:
        """Attach the expected answers to the instances.

        Args:
            instances: Problems to run on.

        Returns:
            The same instances with their answers.
        """
        if self.expected is None:
            return tuple(instances)
        found = Expected.of(self.expected)
        return tuple(
            Instance(i.name, problem_of(i)._replace(expected=found.answer(i.name)))
            for i in instances
        )

    def _reader(self, metric: CostMetric) -> Reader:
        if self.read is None and metric.needs_quality:
            raise BadInput('a command needs a reader for its output, such as read="last number"')
        named = named_readers(metric.needs_quality)
        read = "time" if self.read is None else self.read
        if isinstance(read, Mapping):
            last = {"last number": named["last number"]}
            by_name = {name: _chosen_reader(one, last) for name, one in read.items()}
            return reader_of_costs(by_name, metric.reports)
        return reader_of_costs(_chosen_reader(read, named), metric.reports)


def _chosen_reader(read: str | Reader, named: Mapping[str, Reader]) -> Reader:
    if not isinstance(read, str):
        return read
    if read not in named:
        known = ", ".join(map(repr, named))
        raise BadInput(f"read must be one of {known} or a reader, not {read!r}")
    return named[read]
