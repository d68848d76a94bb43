"""Health of workers: is a crash the fault of the target or of the worker?

A crash alone does not show its cause, so the run is made once more by another worker. If it crashes
there too, the target is at fault, and the crash is a result like any other. If not, it counts
against the worker on which it crashed. A worker is excluded after several such failures in a row
without a successful run, or at once if it reports that it cannot make runs; its runs are then made
elsewhere.
"""

from dataclasses import dataclass, field

from paramhs.core.text.numbers import counted, printable

MAX_FAILURES = 3  # in a row that other workers did not have
_MAX_REASON = 300  # characters of a reason


@dataclass
class Record:
    """Statistics of one worker."""

    runs: int = 0
    """Number of runs made."""
    failed: int = 0
    """Number of failed runs."""
    alone: int = 0
    """Number of runs that failed only on this worker."""
    in_a_row: int = 0
    """Number of such failures since the last successful run."""
    aside: str = ""
    """Reason for its exclusion; empty if it is used."""


@dataclass
class Standing:
    """Statistics of all workers by address, and notices about them."""

    records: dict[str, Record] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    _heard: set[str] = field(default_factory=set)

    def of(self, worker: str) -> Record:
        """Record of a worker, created if missing."""
        return self.records.setdefault(worker, Record())

    def note_run(self, worker: str, failed: bool) -> None:
        """Count a run."""
        record = self.of(worker)
        record.runs += 1
        record.failed += failed
        if not failed:
            record.in_a_row = 0

    def note_failed_alone(self, worker: str, why: str) -> None:
        """Count a run that crashed here but succeeded elsewhere."""
        record = self.of(worker)
        record.alone += 1
        record.in_a_row += 1
        if record.in_a_row >= MAX_FAILURES:
            these = counted(record.in_a_row, "run")
            self.set_aside(worker, f"{these} failed only on it, most recently: {why}")

    def set_aside(self, worker: str, why: str) -> None:
        """Exclude a worker from further runs."""
        record = self.of(worker)
        if not record.aside:
            record.aside = printable(why)[:_MAX_REASON]
            self.say(f"worker {worker} is excluded: {record.aside}")

    def say(self, text: str) -> None:
        """Add a notice, unless it was given before."""
        if text not in self._heard:
            self._heard.add(text)
            self.notices.append(text)

    def take_notices(self) -> list[str]:
        """Return the notices that were not passed on yet."""
        notices, self.notices = self.notices, []
        return notices

    @property
    def aside(self) -> set[str]:
        """Addresses of excluded workers."""
        return {worker for worker, record in list(self.records.items()) if record.aside}

    def text(self, workers: int) -> str:
        """Summary for the live view, with the most failures first."""
        failing = [(r.alone, r.failed, w) for w, r in list(self.records.items()) if r.failed]
        worst = sorted(failing, reverse=True)[:3]
        parts = [counted(workers, "worker")]
        if self.aside:
            parts.append(f"{len(self.aside)} excluded")
        for alone, failed, worker in worst:
            only = f" ({alone} only there)" if alone else ""
            parts.append(f"{worker}: {failed} of {self.records[worker].runs} failed{only}")
        return "; ".join(parts)
