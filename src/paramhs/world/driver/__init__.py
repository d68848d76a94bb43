"""The one loop that touches the world: search x target x store x budget x executor.

loop.py             answers the search: from the store where it can, by a run where it must
  session.py        the search, its request, and the answers it has had
  flights.py        the runs in flight, and the executor that makes them
  budget.py         when to stop
  default_trial.py  whether the target is broken
  interrupts.py     Ctrl-C
  watcher.py        who is told of all that
"""

from paramhs.world.driver.budget import Budget, Later
from paramhs.world.driver.flights import Inline, Runner
from paramhs.world.driver.interrupts import INTERRUPTED, STOPPING
from paramhs.world.driver.loop import Driver
from paramhs.world.driver.session import Session
from paramhs.world.driver.watcher import Watcher

__all__ = [
    "INTERRUPTED",
    "STOPPING",
    "Budget",
    "Driver",
    "Inline",
    "Later",
    "Runner",
    "Session",
    "Watcher",
]
