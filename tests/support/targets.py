"""Functions to tune that are importable, so that any process can run them."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paramhs.core.random_streams import stream
from paramhs.core.runs import Run, Status, Target, Task
from paramhs.core.space import Space, Value

SPACE = Space({"x": range(20), "mode": ["a", "b", "c"], "rate": (0.5, 2.5)})


def noisy(config: Mapping[str, Value], instance: object, seed: int) -> float:
    """A function of its arguments alone: a distance and noise."""
    noise = stream(seed, repr(sorted(config.items())), repr(instance)).random()
    return abs(config.get("x", 0) - 13) + ("abc".index(config.get("mode", "a"))) + 4 * noise


def noisy_with_pauses(config: Mapping[str, Value], instance: object, seed: int) -> float:
    """Answer after some milliseconds that differ from run to run."""
    time.sleep(0.003 * stream(seed, "pause", repr(config)).random())
    return noisy(config, instance, seed)


def noisy_in_time(config: Mapping[str, Value], instance: object, seed: int) -> float:
    """Answer after the number of seconds in the environment."""
    time.sleep(float(os.environ.get("PAUSE", "0")))
    return noisy(config, instance, seed)


def forking(config: Mapping[str, Value]) -> float:
    """The child returns as well, a little later and something else."""
    child = os.fork()
    if child == 0:
        time.sleep(0.02 * (config["x"] % 3))
        return 1000 + config["x"]
    if config["x"] % 2:
        os.waitpid(child, 0)
    return config["x"]


def failing_by_default(config: Mapping[str, Value]) -> float:
    raise ZeroDivisionError("no answer today")


def distance(config: Mapping[str, Value]) -> float:
    return abs(config["x"] - 13)


def spawning(config: Mapping[str, Value], instance: str, seed: int) -> None:
    """Start a process of another session, write its pid where the instance says, and wait."""
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    Path(instance).write_text(str(child.pid))
    time.sleep(600)


@dataclass
class Quadratic(Target):
    """A target of one's own: a dataclass, so that its runs can be stored."""

    best: int

    def __call__(self, task: Task) -> Run:
        quality = (task.config["x"] - self.best) ** 2 + task.seed % 3
        return Run(task, Status.OK, 0.01, float(quality))
