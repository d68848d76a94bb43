"""What it costs to keep a run: /bin/true under a keeper, beside a bare spawn of the same command.

Both are measured in turns in the same run, so that what else the machine does falls on both.
"""

import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paramhs.core.runs import NO_INSTANCE, Run, Status, Task
from paramhs.core.space import Space
from paramhs.execution.supervisor.pool import Supervised
from paramhs.execution.targets.command import CommandTarget, Style, Template

ROUNDS = 40
RUNS = 10  # of each kind, in each round
SPACE = Space({"x": range(10)})
TRUE = "/bin/true" if os.path.exists("/bin/true") else "/usr/bin/true"
TASK = Task(SPACE.default, NO_INSTANCE, 1, 10.0)


def bare() -> None:
    words = [TRUE, "-x", "4"]
    subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def target() -> CommandTarget:
    template = Template(f"{TRUE} {{params}}", SPACE, Style())
    return CommandTarget(template, Path("/"), memory=1e9, needs_number=False)


def spawning(jobs: int) -> tuple[float, float]:
    """Seconds for a supervised run and for a bare one, with `jobs` runs at a time."""
    supervised = Supervised(target(), jobs)

    def kept() -> None:
        run: Run = supervised(TASK)
        assert run.status is Status.OK, run.detail

    with ThreadPoolExecutor(jobs) as pool:
        for action in (kept, bare):
            _per_run(pool, jobs, action)
        rounds = [(_per_run(pool, jobs, kept), _per_run(pool, jobs, bare)) for _ in range(ROUNDS)]
    supervised.close()
    kept_times, bare_times = zip(*rounds, strict=True)
    return min(kept_times), min(bare_times)  # the least disturbed


def _per_run(pool: ThreadPoolExecutor, jobs: int, action: Callable[[], None]) -> float:
    """Seconds that a thread needs for a run, while as many others do the same."""

    def several() -> None:
        for _ in range(RUNS):
            action()

    start = time.perf_counter()
    for future in [pool.submit(several) for _ in range(jobs)]:
        future.result()
    return (time.perf_counter() - start) / RUNS
