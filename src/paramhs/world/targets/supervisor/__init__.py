"""The run supervisor: limits that hold for a run and for every process it starts.

Each job slot has a *keeper*, a small process that starts the run, watches it and ends it. On Linux
a keeper is a child subreaper: whatever the run starts stays below it, also what called setsid or
was orphaned, so "end the run" can mean every process of it, and the resources of all are counted
when they are reaped. A keeper ends its run when paramhs is gone, however it went.

    paramhs          asks, with a number and a deadline       supervised.py
      warden         inherits and ends what a keeper leaves   warden.py
        keeper       starts, watches, ends, reads             keeper.py, jobs.py
          the run    a program, or a worker with a function

What a run does to its keeper is the run's failure and nobody else's: a keeper that is lost is
replaced, the run is made once more, and then it has crashed.

Elsewhere (macOS) orphans leave the tree and are beyond reach; the rest holds there, too.
"""

from paramhs.world.targets.supervisor.outcome import Clock, Command, Execute, Limits, Outcome

__all__ = ["Clock", "Command", "Execute", "Limits", "Outcome"]
