"""The run supervisor: limits that hold for a run and for every process it starts.

Each job slot has a *keeper*, a small process that starts the run, watches it and ends it. On Linux
a keeper is a child subreaper: everything the run starts remains below it, even after setsid or when
orphaned, so "end the run" reaches every process, and the resources of all are counted when they are
reaped. A keeper ends its run when paramhs disappears, for whatever reason.

    paramhs          requests, with a number and a deadline      pool.py, keeper_channel.py
      warden         inherits and ends what a keeper leaves      warden.py
        keeper       starts, watches, ends and reads runs        keeper.py, run_kinds.py
          the run    a program, or a worker with a function

A run that damages its keeper hurts only itself: a lost keeper is replaced, the run is made once
more, and then it counts as crashed.

On other systems (macOS) orphans leave the tree and cannot be reached; everything else holds there
too.
"""

from paramhs.execution.supervisor.orders import Clock, Command, Execute, Limits, Outcome

__all__ = ["Clock", "Command", "Execute", "Limits", "Outcome"]
