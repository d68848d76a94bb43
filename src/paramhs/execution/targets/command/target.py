"""A command as a target: the program, the reader of its output, and its limits."""

import contextlib
import hashlib
import math
import os
import shlex
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paramhs.core.answers import (
    NO_ANSWERS,
    TOLERANCE,
    Answer,
    agreement,
    is_answer,
    normal,
    shown,
)
from paramhs.core.errors import BadInput, TargetError
from paramhs.core.identity import Identity
from paramhs.core.runs import NO_INSTANCE, Instance, Run, Status, Task
from paramhs.core.space import Config
from paramhs.execution.file_digests import content_of
from paramhs.execution.supervisor import Clock, Command, Execute, Limits, Outcome
from paramhs.execution.supervisor.capture import GAP
from paramhs.execution.supervisor.orders import patience, too_much_memory
from paramhs.execution.targets.command.answers import (
    CODES,
    AnswerPattern,
    Conventions,
    Recogniser,
    Solved,
)
from paramhs.execution.targets.command.files import (
    files_around,
    files_of,
    not_looked_for,
    program_file,
)
from paramhs.execution.targets.command.readers import (
    Aborted,
    AclibLine,
    Nothing,
    Reader,
    Reading,
    is_linear,
    read_streams,
    texts_of,
)
from paramhs.execution.targets.command.template import Native, Template
from paramhs.execution.targets.supervised_target import KeptTarget

if TYPE_CHECKING:
    from paramhs.execution.supervisor.run_kinds import CommandJob

_OUTPUT_LENGTH = 4_000  # characters kept of a failed run's output; the end is most informative
_MESSAGE_LENGTH = 1_000  # characters of a message
_MAX_CHECKED_BYTES = 64 << 20  # bytes of output passed to a checker


class Problem(NamedTuple):
    """Value of an instance for a command."""

    path: str
    info: str = "0"
    """Rest of its line in a list of instances, for wrappers that receive it."""
    expected: Answer = ""
    """Right answer, if known."""

    def describe(self) -> dict[str, object]:
        """Describe what defines its runs and their judgement apart from its name."""
        return {} if self[1:] == ("0", "") else {"info": self.info, "expected": self.expected}


def file_of(instance: Instance) -> str:
    """Path of an instance's file, as it was given."""
    value = instance.value
    return value.path if isinstance(value, Problem) else str(value or instance.name)


@dataclass(frozen=True)
class CommandTarget(KeptTarget):
    """Runs a command for each task.

    `solved` defines solved runs, and `recogniser` finds their answers. `clock` says which time
    counts and what the cutoff limits; with processor time, `wall_limit` ends runs that sleep.
    """

    template: Template
    folder: Path
    reader: Reader = Nothing()
    solved: Solved = Solved()
    clock: Clock = "cpu"
    memory: float = math.inf
    wall_limit: float | None = None
    grace: float = 1.0
    checker: Template | None = None
    needs_number: bool = True
    """Whether a run without a quality has failed."""
    cutoff_digits: int | None = None
    """Decimal places to which the cutoff is rounded up for the command; None for all."""
    recogniser: Recogniser = Conventions()
    answer_tolerance: float = TOLERANCE
    native: Native | None = None
    """How the program's own users write a configuration."""
    timed: bool = False
    """Whether runtime is the cost, so that a run without the requested answer is unsolved."""

    needs_keeper = True
    runs_on_files = True

    def __call__(self, task: Task) -> Run:
        """Run a task under its own keeper; for many runs, a persistent keeper is cheaper."""
        from paramhs.execution.supervisor.pool import Supervised

        with contextlib.closing(Supervised(self, 1)) as kept:
            return kept(task)

    def __post_init__(self) -> None:
        self.check_here()

    def check_here(self) -> None:
        """Reject a command whose program does not exist on this machine."""
        for template in (self.template, self.checker):
            if template is not None:
                _check_program(template.words[0], self.folder)

    @property
    def name(self) -> str:
        """The command as the user wrote it."""
        return self.template.text

    @property
    def source(self) -> str:
        """Digest of all files named by the command and the checker."""
        digest = hashlib.sha256()
        for path in files_of(self.template, self.checker, self.folder).values():
            content = content_of(path)
            digest.update((content.digest if content else "").encode())
        return digest.hexdigest()[:16]

    def identity(self) -> Identity:
        """Files named by the command and the checker."""
        files = files_of(self.template, self.checker, self.folder)
        return Identity({}, files, not_looked_for(self.template, self.checker))

    def instance_file(self, instance: Instance) -> str:
        """Path that the command receives for an instance."""
        path = file_of(instance)
        built = (os.path.join(self.folder, file) for file in files_around(self.template, path))
        return next(filter(os.path.isfile, built), os.path.join(self.folder, path))

    @property
    def is_told_cutoff(self) -> bool:
        """Whether the cutoff is part of the command."""
        return "cutoff" in self.template.uses

    @property
    def uses_seed(self) -> bool:
        """Whether the command receives a seed; if not, it is treated as deterministic."""
        return "seed" in self.template.uses

    def describe(self) -> dict[str, object]:
        """Describe in JSON types what defines the answers."""
        return {
            "command": self.template.text,
            "reader": repr(self.reader),
            "solved": self.solved.describe(),
            "clock": self.clock,
            "memory": None if math.isinf(self.memory) else self.memory,
            "wall_limit": self.wall_limit,
            "grace": self.grace,
            "style": repr(self.template.style),
            "checker": self.checker and self.checker.text,
            **({} if self.cutoff_digits is None else {"cutoff_digits": self.cutoff_digits}),
            **({"answer": repr(self.recogniser)} if self.declares_answer else {}),
            **({} if self.native is None else {"native": asdict(self.native)}),
        }

    def located(self, path: str) -> str:
        """File of an instance, relative to the command's working folder."""
        return os.path.join(self.folder, path)

    @property
    def declares_answer(self) -> bool:
        """Whether the user defined how to find the answer."""
        return not isinstance(self.recogniser, Conventions)

    def job(self) -> "CommandJob":
        """Work of the command's keeper."""
        from paramhs.execution.supervisor.run_kinds import (
            CommandJob,  # only where processes are used
        )

        return CommandJob(self.read)

    def words(self, task: Task) -> tuple[str, ...]:
        """Argument vector of a task."""
        return self.template.filled(task.config, self._own(task))

    def _own(self, task: Task) -> Mapping[str, str]:
        if self.cutoff_digits is None or math.isinf(task.cutoff):
            return _own(task)
        step = 10**self.cutoff_digits
        return _own(task._replace(cutoff=math.ceil(task.cutoff * step) / step))

    def shown(self, task: Task) -> str:
        """Command line of a task, ready to paste into a shell."""
        return shlex.join(self.words(task))

    def _command(self, words: tuple[str, ...], **more: Any) -> Command:
        """Build a request with the program's full path, to save a search on every run."""
        program = words[0]
        if os.sep not in program:
            program = program_file(program, self.folder) or program
        return Command((program, *words[1:]), str(self.folder), **more)

    def command_line(self, config: Config) -> str:
        """Command line of a configuration, with INSTANCE, SEED etc. in place of the values."""
        return self.template.line(config)

    def limits(self, cutoff: float) -> Limits:
        """Limits of a run with this cutoff.

        A wrapper whose time is trusted stops its program by itself, and needs some time of its own.
        """
        if self.reader.believed:
            cutoff = 1.1 * cutoff + 1.0
        if self.clock == "wall":
            return Limits(cutoff, memory=self.memory, grace=self.grace)
        wall = patience(cutoff) if self.wall_limit is None else self.wall_limit
        return Limits(wall, cutoff, self.memory, self.grace, "cpu")

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task under a keeper, read its output, and check its answer."""
        kept = _MAX_CHECKED_BYTES if self.checker else Command._field_defaults["kept"]
        slow = (
            not is_linear(self.reader)
            or isinstance(self.recogniser, AnswerPattern)
            or self.solved.regex is not None
        )
        command = self._command(self.words(task), kept=kept, read=slow)
        outcome = execute(command, self.limits(task.cutoff))
        run = self.judged(task, outcome)
        if run.status is Status.OK and self.checker is not None:
            return self._check(run, outcome, execute)
        return run

    def judged(self, task: Task, outcome: Outcome) -> Run:
        """Judge the outcome of a command for its task."""
        seconds = outcome.seconds(self.clock)
        if outcome.trouble:
            return Run(task, Status.CRASHED, seconds, None, outcome.trouble[:_MESSAGE_LENGTH])
        if outcome.limit == "memory":
            what = _detail(too_much_memory(self.memory), outcome)
            return Run(task, Status.CRASHED, seconds, None, what)
        try:
            reading = self.reading(outcome)
        except Aborted as error:
            raise TargetError(f"{error}\nThe call was {self.shown(task)}") from None
        except TimeoutError as error:
            reading = Reading(problem=str(error))
        if outcome.limit or reading.status == "timeout":
            return self._stopped(task, outcome, reading)
        return self._finished(task, outcome, reading)

    def read(self, output: str, errors: str) -> Reading:
        """Read a run's output: number, answer, and whether it counts as solved."""
        reading = read_streams(self.reader, output, errors)
        answer = reading.answer
        if answer is None and not (isinstance(self.reader, AclibLine) and reading.status):
            answer = self.recogniser.find(output)
            answer = self.recogniser.find(errors) if answer is None else answer
        return reading._replace(answer=answer, solved=self.solved.matches(output, errors))

    def reading(self, outcome: Outcome) -> Reading:
        """Return what the keeper has read, or read the output now."""
        if isinstance(outcome.reading, Exception):
            raise outcome.reading
        reading: Reading = outcome.reading or self.read(*texts_of(outcome))
        if reading.answer is None and self.solved.codes and outcome.code in self.solved.codes:
            return reading._replace(answer=CODES.get(outcome.code or 0))
        return reading

    def _finished(self, task: Task, outcome: Outcome, reading: Reading) -> Run:
        """Judge a run that ended by itself: failed, wrong, unsolved, unreadable, late or ok."""
        seconds = outcome.seconds(self.clock) if reading.time is None else reading.time
        run = Run(task, Status.OK, seconds, reading.quality, "", reading.answer, reading.others)
        failed = self._failure(outcome, reading)
        if failed and self._gave_up(task, outcome, reading):
            return self._stopped(task, outcome, reading)
        if failed:
            return run._replace(status=Status.CRASHED, detail=_detail(failed, outcome))
        wrong = self._wrong(task, reading)
        if wrong:
            return run._replace(status=Status.WRONG, detail=_detail(wrong, outcome))
        unsolved = self._unsolved(task, reading)
        if unsolved and self.is_told_cutoff:  # it may have respected the cutoff
            return run._replace(status=Status.TIMEOUT, detail=_detail(unsolved, outcome))
        if unsolved:
            return run._replace(status=Status.UNSOLVED, detail=_detail(unsolved, outcome))
        if reading.problem or (self.needs_number and reading.quality is None):
            why = f": {reading.problem}" if reading.problem else ""
            what = f"exit code {outcome.code}, but no number was read{why}"
            return run._replace(status=Status.UNREADABLE, detail=_detail(what, outcome))
        return run._replace(status=Status.TIMEOUT) if seconds > task.cutoff else run

    def _failure(self, outcome: Outcome, reading: Reading) -> str:
        if reading.status == "crashed":
            return "the target reported a crash"
        if reading.status or self.solved.accepts_code(outcome.code, reading.answer):
            return ""
        if outcome.code is not None and outcome.code < 0:
            return f"it died of signal {-outcome.code}"
        ends = f"(expected {self.solved.codes_text})"
        return f"exit code {outcome.code} {ends}"

    def _gave_up(self, task: Task, outcome: Outcome, reading: Reading) -> bool:
        """Whether a solver respected its own limit instead of failing."""
        if reading.status or outcome.code is None or outcome.code < 0:
            return False
        return outcome.wall >= task.cutoff or reading.answer in NO_ANSWERS

    def _wrong(self, task: Task, reading: Reading) -> str:
        """Explain why the answer is wrong; empty if it is not known to be."""
        if reading.status == "wrong":
            return "WRONG ANSWER, reported by the target itself"
        expected, answer = _expected(task), reading.answer
        if expected == "" or answer is None or not is_answer(answer):
            return ""
        if agreement(answer, expected, self.answer_tolerance) != "contradiction":
            return ""
        right = f"{task.instance.name} is {shown(expected)}"
        return f"WRONG ANSWER: {shown(answer)}, but {right}"

    def _unsolved(self, task: Task, reading: Reading) -> str:
        """Explain why a run that ended normally is unsolved; empty if it is solved."""
        answer, expected = reading.answer, _expected(task)
        said = "nothing recognised" if answer is None else shown(answer)
        if not reading.solved:
            return f"not solved: nothing in its output matches {self.solved.regex!r}"
        if self.solved.answers and not self._is_listed(answer):
            listed = ", ".join(map(shown, self.solved.answers))
            return f"not solved: the answer is {said}; expected {listed}"
        if not self.timed or (reading.status and answer is None):
            return ""
        awaited = expected != "" or self.declares_answer
        if answer in NO_ANSWERS or (answer is None and awaited):
            return f"it ended without an answer: found {said}"
        weaker = (
            answer is not None
            and expected != ""
            and (agreement(answer, expected, self.answer_tolerance) == "weaker")
        )
        return f"it only answered {said}; {shown(expected)} is known" if weaker else ""

    def _is_listed(self, answer: Answer | None) -> bool:
        return answer is not None and any(
            agreement(answer, one, self.answer_tolerance) == "same" for one in self.solved.answers
        )

    def _stopped(self, task: Task, outcome: Outcome, reading: Reading) -> Run:
        seconds = outcome.seconds(self.clock) if reading.time is None else reading.time
        idle = outcome.limit == "wall" and self.clock == "cpu"
        what = "stopped at the limit on wall time" if idle else "stopped at the cutoff"
        if not outcome.limit:
            what = "it gave up"
        if math.isfinite(task.cutoff):
            seconds = max(seconds, task.cutoff)
        return Run(
            task, Status.TIMEOUT, seconds, reading.quality, what, reading.answer, reading.others
        )

    def _check(self, run: Run, outcome: Outcome, execute: Execute) -> Run:
        """Pass the output to the checker; exit code 0 means that the answer is right."""
        assert self.checker is not None  # noqa: S101 -- for the type checker
        if GAP in outcome.output:
            return run._replace(status=Status.CRASHED, detail="its output is too long to check")
        words = self.checker.filled(run.task.config, _own(run.task))
        command = self._command(words, given=outcome.output)
        limits = Limits(max(10 * run.task.cutoff, 60.0), memory=self.memory)
        check = execute(command, limits)
        if check.trouble or (check.code or 0) < 0 or check.code in (126, 127):
            why = check.trouble or _detail(f"exit code {check.code}", check)
            raise TargetError(f"the checker {shlex.join(words)} does not work: {why}")
        if check.limit:
            what = _detail(f"the checker {shlex.join(words)} reached its limit", check)
            return run._replace(status=Status.CRASHED, detail=what)
        if check.code == 0:
            return run
        exit_code = f"exit code {check.code}"
        what = _detail(
            f"WRONG ANSWER, reported by the checker {shlex.join(words)} ({exit_code})", check
        )
        return run._replace(status=Status.WRONG, detail=what)


def _own(task: Task) -> Mapping[str, str]:
    """Values of the placeholders that are not parameters."""
    problem = problem_of(task.instance)
    return {
        "instance": problem.path,
        "info": problem.info,
        "seed": str(task.seed),
        "cutoff": _seconds(task.cutoff),
        "config_id": str(zlib.crc32(task.config.key.encode()) % (2**31 - 1) + 1),
        "instance_id": str(zlib.crc32(task.instance.name.encode()) % (2**31 - 1) + 1),
    }


def _seconds(cutoff: float) -> str:
    """Format seconds; whole ones without a decimal point, which many programs require."""
    if math.isinf(cutoff):
        return "1e9"
    return str(int(cutoff)) if cutoff == int(cutoff) else repr(float(cutoff))


def problem_of(instance: Instance) -> Problem:
    """Return the instance in the form that a command uses."""
    value = instance.value
    if isinstance(value, Problem):
        return value
    return Problem("" if instance == NO_INSTANCE else str(value or instance.name))


def _expected(task: Task) -> Answer:
    """Right answer of a task's instance; an empty text if unknown."""
    expected = problem_of(task.instance).expected
    return expected if expected == "" else normal(expected)


def _detail(what: str, outcome: Outcome) -> str:
    """Describe a failure, with the last output."""
    parts = [what[:_MESSAGE_LENGTH]]
    for name, data in (("output", outcome.output), ("errors", outcome.errors)):
        text = data[-_OUTPUT_LENGTH:].decode("utf-8", "replace").strip()
        if text:
            parts.append(f"its last {name}:\n{text[-_OUTPUT_LENGTH // 2 :]}")
    return "\n".join(parts)


def _check_program(word: str, folder: Path) -> None:
    if "{" in word:
        return
    path = program_file(word, folder)
    if path is None:
        where = f"in {folder}" if os.sep in word else "on the PATH"
        raise BadInput(f"there is no program {word} {where}")
    if os.path.isdir(path):
        raise BadInput(f"{word} is a folder, not a program")
    if not os.access(path, os.X_OK):
        raise BadInput(
            f"{word} may not be executed: chmod +x {path}, or name its interpreter before it"
        )
