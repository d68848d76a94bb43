"""A command as the target: a program, what is read from it, and the limits it runs under."""

import contextlib
import hashlib
import math
import os
import re
import shlex
import shutil
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from paramhs.values.errors import BadInput, TargetError
from paramhs.values.runs import NO_INSTANCE, Run, Status, Target, Task
from paramhs.values.space import Config
from paramhs.world.targets.command.readers import (
    LINEAR,
    Aborted,
    Nothing,
    Reader,
    Reading,
    Unreadable,
    text_of,
)
from paramhs.world.targets.command.template import Template
from paramhs.world.targets.supervisor import Clock, Command, Execute, Limits, Outcome
from paramhs.world.targets.supervisor.capture import GAP
from paramhs.world.targets.supervisor.outcome import patience, too_much_memory

if TYPE_CHECKING:
    from paramhs.world.targets.supervisor.jobs import CommandJob

SAT_CODES = {10: "SAT", 20: "UNSAT"}
_DETAIL = 4_000  # characters of output that are kept of a run that failed: the end says most
_WHAT = 1_000  # characters of a message
_UNKNOWN = re.compile(rb"^(?:s UNKNOWN|INDETERMINATE)[ \t\r]*+$", re.MULTILINE)
_CERTIFICATE = 64 << 20  # bytes of output that a checker may be given
_OPEN_ALREADY = ("/dev/fd/", "/dev/std", "/proc/")
"""Names of what a process has open, which is not the same in two of them."""


class Problem(NamedTuple):
    """The value of an instance that a command is run on."""

    path: str
    info: str = "0"
    """What else its line in a list of instances says, for wrappers that are given it."""
    expected: str = ""
    """SAT or UNSAT, if that is known."""

    def describe(self) -> dict[str, object]:
        """What is known beside its name, by which its runs are given and judged."""
        return {} if self[1:] == ("0", "") else {"info": self.info, "expected": self.expected}


@dataclass(frozen=True)
class CommandTarget(Target):
    """Runs a command for each task.

    `solved` are the exit codes of a run that did what it should. `clock` says which time counts
    and what the cutoff limits; with processor time, `wall_limit` ends runs that sleep.
    """

    template: Template
    folder: Path
    reader: Reader = Nothing()
    solved: tuple[int, ...] = (0,)
    clock: Clock = "cpu"
    memory: float = math.inf
    wall_limit: float | None = None
    grace: float = 1.0
    checker: Template | None = None
    needs_number: bool = True
    """Whether a run without a quality has failed."""
    cutoff_digits: int | None = None
    """To how many digits after the point the cutoff is rounded up for the command; None: none."""

    needs_keeper = True
    runs_on_files = True

    def __call__(self, task: Task) -> Run:
        """Run a task under a keeper of its own; many runs are cheaper under one that stays."""
        from paramhs.world.targets.supervisor.supervised import Supervised

        with contextlib.closing(Supervised(self, 1)) as kept:
            return kept(task)

    def __post_init__(self) -> None:
        self.check_here()

    def check_here(self) -> None:
        """Refuse what has no program on this machine."""
        for template in (self.template, self.checker):
            if template is not None:
                _check_program(template.words[0], self.folder)

    @property
    def name(self) -> str:
        """The command, as it was written."""
        return self.template.text

    @property
    def source(self) -> str:
        """A digest of all files that the command and the checker name, to notice a change."""
        digest = hashlib.sha256()
        for template in filter(None, (self.template, self.checker)):
            program = _program(template.words[0], self.folder)
            for name in (program or "", *(str(self.folder / w) for w in template.words[1:])):
                if name.startswith(_OPEN_ALREADY) or not os.path.isfile(name):
                    continue  # reading a pipe would wait for ever
                with contextlib.suppress(OSError, ValueError), open(name, "rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()[:16]

    @property
    def uses_seed(self) -> bool:
        """Whether the command is given a seed; if not, it is taken to be deterministic."""
        return "seed" in self.template.uses

    def describe(self) -> dict[str, object]:
        """What defines its answers, in JSON types."""
        return {
            "command": self.template.text,
            "reader": repr(self.reader),
            "solved": list(self.solved),
            "clock": self.clock,
            "memory": None if math.isinf(self.memory) else self.memory,
            "wall_limit": self.wall_limit,
            "grace": self.grace,
            "style": repr(self.template.style),
            "checker": self.checker and self.checker.text,
            **({} if self.cutoff_digits is None else {"cutoff_digits": self.cutoff_digits}),
        }

    def job(self) -> "CommandJob":
        """What a keeper runs."""
        from paramhs.world.targets.supervisor.jobs import (
            CommandJob,  # only where processes are used
        )

        return CommandJob(self.reader.read)

    def words(self, task: Task) -> tuple[str, ...]:
        """The argument vector of a task."""
        return self.template.filled(task.config, self._own(task))

    def _own(self, task: Task) -> Mapping[str, str]:
        if self.cutoff_digits is None or math.isinf(task.cutoff):
            return _own(task)
        step = 10**self.cutoff_digits
        return _own(task._replace(cutoff=math.ceil(task.cutoff * step) / step))

    def shown(self, task: Task) -> str:
        """The command line, ready to paste into a shell."""
        return shlex.join(self.words(task))

    def _command(self, words: tuple[str, ...], **more: Any) -> Command:
        """A command whose program is looked up, so that the system need not do it every time."""
        program = words[0]
        if os.sep not in program:
            program = _program(program, self.folder) or program
        return Command((program, *words[1:]), str(self.folder), **more)

    def command_line(self, config: Config) -> str:
        """The command line of a configuration, with INSTANCE, SEED and such where those go."""
        return self.template.line(config)

    def limits(self, cutoff: float) -> Limits:
        """What a run with this cutoff may use.

        A wrapper whose time is believed stops its program itself, and needs time of its own.
        """
        if self.reader.believed:
            cutoff = 1.1 * cutoff + 1.0
        if self.clock == "wall":
            return Limits(cutoff, memory=self.memory, grace=self.grace)
        wall = patience(cutoff) if self.wall_limit is None else self.wall_limit
        return Limits(wall, cutoff, self.memory, self.grace, "cpu")

    def run(self, task: Task, execute: Execute) -> Run:
        """Run a task under a keeper, read what it printed, and check its answer."""
        kept = _CERTIFICATE if self.checker else Command._field_defaults["kept"]
        slow = not isinstance(self.reader, LINEAR)
        command = self._command(self.words(task), kept=kept, read=slow)
        outcome = execute(command, self.limits(task.cutoff))
        run = self.judged(task, outcome)
        if run.status is Status.OK and self.checker is not None:
            return self._check(run, outcome, execute)
        return run

    def judged(self, task: Task, outcome: Outcome) -> Run:
        """What the outcome of a command means for its task."""
        seconds = outcome.seconds(self.clock)
        if outcome.trouble:
            return Run(task, Status.CRASHED, seconds, None, outcome.trouble[:_WHAT])
        if outcome.limit == "memory":
            what = _detail(too_much_memory(self.memory), outcome)
            return Run(task, Status.CRASHED, seconds, None, what)
        try:
            reading = self._reading(outcome)
        except Aborted as error:
            raise TargetError(f"{error}\nThe call was {self.shown(task)}") from None
        except (Unreadable, TimeoutError) as error:
            if outcome.limit:
                return self._stopped(task, outcome, Reading())
            why = self._bad_exit(outcome) or str(error)
            return Run(task, Status.CRASHED, seconds, None, _detail(why, outcome))
        if outcome.limit or reading.status == "timeout":
            return self._stopped(task, outcome, reading)
        return self._finished(task, outcome, reading)

    def _reading(self, outcome: Outcome) -> Reading:
        """What the keeper has read, or what can be read now."""
        if isinstance(outcome.reading, Exception):
            raise outcome.reading
        reading: Reading = outcome.reading or self.reader.read(text_of(outcome))
        return reading

    def _finished(self, task: Task, outcome: Outcome, reading: Reading) -> Run:
        seconds = outcome.seconds(self.clock) if reading.time is None else reading.time
        problem = self._problem(outcome, reading)
        if problem and self._gave_up(task, outcome, reading):
            return self._stopped(task, outcome, reading)
        if problem:
            detail = _detail(problem, outcome)
            return Run(task, Status.CRASHED, seconds, reading.quality, detail)
        wrong = _wrong(task, outcome, reading)
        if wrong:
            return Run(task, Status.WRONG, seconds, reading.quality, _detail(wrong, outcome))
        late = seconds > task.cutoff
        return Run(task, Status.TIMEOUT if late else Status.OK, seconds, reading.quality)

    def _problem(self, outcome: Outcome, reading: Reading) -> str:
        if reading.status == "crashed":
            return "the target says that it crashed"
        if not reading.status and self._bad_exit(outcome):
            return self._bad_exit(outcome)
        if self.needs_number and reading.quality is None:
            return "it gave no number"
        return ""

    def _gave_up(self, task: Task, outcome: Outcome, reading: Reading) -> bool:
        """Whether a solver has obeyed a limit of its own rather than failed."""
        if reading.status or outcome.code is None or outcome.code < 0:
            return False
        return outcome.wall >= task.cutoff or bool(_UNKNOWN.search(outcome.output))

    def _bad_exit(self, outcome: Outcome) -> str:
        if outcome.code in self.solved:
            return ""
        wanted = ", ".join(map(str, self.solved))
        if outcome.code is not None and outcome.code < 0:
            return f"it died of signal {-outcome.code}"
        return f"exit code {outcome.code}; a run that did its work ends with {wanted}"

    def _stopped(self, task: Task, outcome: Outcome, reading: Reading) -> Run:
        seconds = outcome.seconds(self.clock) if reading.time is None else reading.time
        idle = outcome.limit == "wall" and self.clock == "cpu"
        what = "stopped: too much time passed" if idle else "stopped at the cutoff"
        if not outcome.limit:
            what = "it gave up"
        if math.isfinite(task.cutoff):
            seconds = max(seconds, task.cutoff)
        return Run(task, Status.TIMEOUT, seconds, reading.quality, what)

    def _check(self, run: Run, outcome: Outcome, execute: Execute) -> Run:
        """Give the output to the checker: exit code 0 means right."""
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
        what = _detail(f"WRONG ANSWER, says the checker {shlex.join(words)} ({exit_code})", check)
        return run._replace(status=Status.WRONG, detail=what)


def _own(task: Task) -> Mapping[str, str]:
    """What the placeholders stand for that are no parameters."""
    problem = problem_of(task)
    return {
        "instance": problem.path,
        "info": problem.info,
        "seed": str(task.seed),
        "cutoff": _seconds(task.cutoff),
        "config_id": str(zlib.crc32(task.config.key.encode()) % (2**31 - 1) + 1),
        "instance_id": str(zlib.crc32(task.instance.name.encode()) % (2**31 - 1) + 1),
    }


def _seconds(cutoff: float) -> str:
    """Whole seconds without a point: many programs read no other."""
    if math.isinf(cutoff):
        return "1e9"
    return str(int(cutoff)) if cutoff == int(cutoff) else repr(float(cutoff))


def problem_of(task: Task) -> Problem:
    """The instance of a task, as a command has it."""
    value = task.instance.value
    if isinstance(value, Problem):
        return value
    return Problem("" if task.instance == NO_INSTANCE else str(value or task.instance.name))


def _wrong(task: Task, outcome: Outcome, reading: Reading) -> str:
    """What is wrong with the answer, if anything is known to be."""
    if reading.status == "wrong":
        return "WRONG ANSWER, says the target itself"
    expected = problem_of(task).expected
    answer = reading.verdict or SAT_CODES.get(outcome.code or 0, "")
    if expected and answer and answer != expected:
        return f"WRONG ANSWER: {answer}, but {task.instance.name} is {expected}"
    return ""


def _detail(what: str, outcome: Outcome) -> str:
    """What went wrong, and the last output."""
    parts = [what[:_WHAT]]
    for name, data in (("output", outcome.output), ("errors", outcome.errors)):
        text = data[-_DETAIL:].decode("utf-8", "replace").strip()
        if text:
            parts.append(f"its last {name}:\n{text[-_DETAIL // 2 :]}")
    return "\n".join(parts)


@cache
def _program(word: str, folder: Path) -> str | None:
    """The file that a first word means; what was installed beside Python is found, too."""
    if os.sep in word:
        path = folder / word
        return str(path) if os.path.exists(path) else None
    beside = os.path.dirname(sys.executable)
    return shutil.which(word, path=f"{os.environ.get('PATH', '')}{os.pathsep}{beside}")


def _check_program(word: str, folder: Path) -> None:
    if "{" in word:
        return
    path = _program(word, folder)
    if path is None:
        where = f"in {folder}" if os.sep in word else "on the PATH"
        raise BadInput(f"there is no program {word} {where}")
    if os.path.isdir(path):
        raise BadInput(f"{word} is a folder, not a program")
    if not os.access(path, os.X_OK):
        raise BadInput(
            f"{word} may not be executed: chmod +x {path}, or name its interpreter before it"
        )
