"""The run supervisor: limits that hold for a run and for every process it starts.

Each job slot has a *keeper*, a small process that starts the run, watches it and ends it. On Linux
a keeper is a child subreaper: whatever the run starts stays below it, also what called setsid or
was orphaned, so "end the run" can mean every process of it, and the resources of all are counted
when they are reaped. A keeper ends its run when paramhs is gone, however it went.

Elsewhere (macOS) orphans leave the tree and are beyond reach; the rest holds there, too.
"""

from paramhs.world.targets.supervisor.outcome import Clock, Command, Execute, Limits, Outcome

__all__ = ["Clock", "Command", "Execute", "Limits", "Outcome"]
