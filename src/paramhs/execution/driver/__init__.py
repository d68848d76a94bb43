"""The driver: the one loop with side effects, over search, target, store, budget and executor.

loop.py             answers the search: from the store where possible, else by a run
  session.py        the search, its request, and the answers so far
  in_flight.py      the runs being made, and the executor that makes them
  lookahead.py      runs that idle workers make early
  budget.py         when to stop
  broken_target.py  whether the default fails or solves nothing
  signals.py        Ctrl-C
  callbacks.py      notifications of watchers
"""

from paramhs.execution.driver.budget import Budget, Later
from paramhs.execution.driver.callbacks import Progress, Watcher
from paramhs.execution.driver.in_flight import Inline, Runner, Workers
from paramhs.execution.driver.lookahead import LookAhead
from paramhs.execution.driver.loop import Driver
from paramhs.execution.driver.session import Session
from paramhs.execution.driver.signals import INTERRUPTED, STOPPING

__all__ = [
    "INTERRUPTED",
    "STOPPING",
    "Budget",
    "Driver",
    "Inline",
    "Later",
    "LookAhead",
    "Progress",
    "Runner",
    "Session",
    "Watcher",
    "Workers",
]
