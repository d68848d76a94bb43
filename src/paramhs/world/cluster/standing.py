"""Which workers can be trusted: a crash of the target, or of the worker?

A run that crashes says nothing about whose fault that is. So it is made once more by another
worker. If it crashes there, too, it is the target's, and a result like any other. If it does not,
it is held against the worker that it crashed on; after some such failures without any run between
that ended well, or at once if the worker itself says that it cannot make runs, it is set aside: it
is given nothing more, and what it was given is made elsewhere.
"""

from dataclasses import dataclass, field

from paramhs.values.wording import counted, printable

TOO_MANY = 3  # failures in a row that others did not have
_LONGEST = 300  # characters of a reason


@dataclass
class Record:
    """What is known of one worker."""

    runs: int = 0
    """How many it has made."""
    failed: int = 0
    """How many of those failed."""
    alone: int = 0
    """How many of those did not fail elsewhere."""
    in_a_row: int = 0
    """Of these, since the last run that ended well."""
    aside: str = ""
    """Why it is given no more runs; empty if it is given some."""


@dataclass
class Standing:
    """What is known of all workers, by address; what is to be said about them."""

    records: dict[str, Record] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    _heard: set[str] = field(default_factory=set)

    def of(self, worker: str) -> Record:
        """Its record, begun if there is none."""
        return self.records.setdefault(worker, Record())

    def note_run(self, worker: str, failed: bool) -> None:
        """It has made a run."""
        record = self.of(worker)
        record.runs += 1
        record.failed += failed
        if not failed:
            record.in_a_row = 0

    def note_failed_alone(self, worker: str, why: str) -> None:
        """What crashed there went well elsewhere."""
        record = self.of(worker)
        record.alone += 1
        record.in_a_row += 1
        if record.in_a_row >= TOO_MANY:
            these = counted(record.in_a_row, "run")
            self.set_aside(worker, f"{these} failed there and nowhere else, the last: {why}")

    def set_aside(self, worker: str, why: str) -> None:
        """Give it nothing more."""
        record = self.of(worker)
        if not record.aside:
            record.aside = printable(why)[:_LONGEST]
            self.say(f"worker {worker} is set aside: {record.aside}")

    def say(self, text: str) -> None:
        """What the user should know, each thing once."""
        if text not in self._heard:
            self._heard.add(text)
            self.notices.append(text)

    def take_notices(self) -> list[str]:
        """What was not passed on yet."""
        notices, self.notices = self.notices, []
        return notices

    @property
    def aside(self) -> set[str]:
        """Workers that are given nothing more."""
        return {worker for worker, record in list(self.records.items()) if record.aside}

    def text(self, workers: int) -> str:
        """How it stands, for the live view: failures by worker, the worst first."""
        failing = [(r.alone, r.failed, w) for w, r in list(self.records.items()) if r.failed]
        worst = sorted(failing, reverse=True)[:3]
        parts = [counted(workers, "worker")]
        if self.aside:
            parts.append(f"{len(self.aside)} set aside")
        for alone, failed, worker in worst:
            only = f" ({alone} only there)" if alone else ""
            parts.append(f"{worker}: {failed} of {self.records[worker].runs} failed{only}")
        return "; ".join(parts)
