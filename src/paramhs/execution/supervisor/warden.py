"""The warden: parent of one keeper that repairs the damage a run does to it.

A run can do anything to its parent, because they belong to the same user. A killed keeper would
leave its run without a parent and without limits. A stopped one (SIGSTOP cannot be ignored) would
leave it without limits, and for ever if paramhs were killed next. So between paramhs and each
keeper there is a warden that only waits. As a subreaper it inherits what a dead keeper leaves and
ends it, by descent, whatever those processes did to their environment. It kills a keeper that
remains stopped while the warden itself is not: a stop of everything also stops the warden, and
then nothing happens until both continue.

A run that kills its warden only makes the keeper leave, which ends the run. Only a run that kills
both at once and has cleared its environment escapes.
"""

import os
import signal

import psutil

from paramhs.execution.supervisor.reaper import Abandoned, Reaper
from paramhs.execution.supervisor.stopwatch import STEP, Stopwatch
from paramhs.execution.supervisor.tree import state

KEEPER_KILLED_CODE, KEEPER_STOPPED_CODE = 3, 4
"""Exit codes of a warden whose keeper did not leave by itself."""
_MAX_STOPPED_SECONDS = 3.0  # for which a keeper may be stopped in total while its warden is not


class Warden(Reaper):
    """Watches one keeper."""

    def __init__(self, keeper: int) -> None:
        super().__init__()
        self._keeper = keeper
        self._stopped = 0.0

    def serve(self, paramhs: int) -> int:
        """Wait until the keeper is gone, end what it left, and return how it ended."""
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
            self.wait(STEP if stopped else None)  # a stop and its end are a SIGCHLD as well
            if stopped:
                self._stopped += watch.look() - before
            if self._stopped > _MAX_STOPPED_SECONDS:
                os.kill(self._keeper, signal.SIGKILL)
                return KEEPER_STOPPED_CODE
        return 0 if self.ended[self._keeper] == 0 else KEEPER_KILLED_CODE
