"""The life of a warden: the parent of one keeper, which makes up for what a run does to it.

A run can do to its parent what it likes: they belong to the same user. A keeper that is killed
would leave its run without a parent and without limits; one that is stopped (SIGSTOP cannot be
refused) would leave them without limits, and for ever if paramhs were killed next. So between
paramhs and each keeper stands a warden that does nothing but wait. As a subreaper it inherits what
a dead keeper leaves and ends it, by descent, whatever those processes did to their environment. It
kills a keeper that remains stopped while the warden itself is not: whoever stops everything stops
the warden, too, and then nothing happens until both go on.

A run that kills its warden only makes the keeper leave, which ends the run. Only a run that kills
both at once and has cleared its environment gets away.
"""

import os
import signal

import psutil

from paramhs.world.targets.supervisor.reaper import Abandoned, Reaper
from paramhs.world.targets.supervisor.stopwatch import STEP, Stopwatch
from paramhs.world.targets.supervisor.tree import state

KEEPER_KILLED, KEEPER_STOPPED = 3, 4
"""How a warden ends whose keeper did not leave by itself."""
_STOPPED = 3.0  # seconds that a keeper may be stopped, over its life, while its warden is not


class Warden(Reaper):
    """Watches over a keeper."""

    def __init__(self, keeper: int) -> None:
        super().__init__()
        self._keeper = keeper
        self._stopped = 0.0

    def serve(self, paramhs: int) -> int:
        """Wait until the keeper is gone, end what it left, and say how it went."""
        try:
            self.leave_with(paramhs)
            if os.getppid() != paramhs:
                self.leave()
            return self._watch()
        except Abandoned:
            return 0
        finally:
            self.end()

    def _watch(self) -> int:
        watch = Stopwatch()
        self.reap()
        while self._keeper not in self.ended:
            before = watch.look()
            stopped = state(self._keeper) == psutil.STATUS_STOPPED
            self.wait(STEP if stopped else None)  # also a stop, and its end, is a SIGCHLD
            if stopped:
                self._stopped += watch.look() - before
            if self._stopped > _STOPPED:
                os.kill(self._keeper, signal.SIGKILL)
                return KEEPER_STOPPED
        return 0 if self.ended[self._keeper] == 0 else KEEPER_KILLED
