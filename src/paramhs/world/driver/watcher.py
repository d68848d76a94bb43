"""Who is told what happens while a search is at work."""

from typing import TYPE_CHECKING

from paramhs.values.runs import Point

if TYPE_CHECKING:
    from paramhs.world.driver.loop import Driver


class Watcher:
    """Callbacks: is called while a search is at work, and the base class does nothing.

    Subclass it, define the methods that you need, and give an instance to `tune(watcher=...)`:

        class Stopwatch(paramhs.Watcher):
            def improved(self, driver, point):
                print(f"{driver.wall_time:.0f} s: {point.config}")

    They are called in the thread that called `tune`, between two runs, so the search waits for
    them; what they raise ends it (stored runs are safe). What they do cannot change the search.
    The driver has, to be read: `taken` (runs asked for), `new_runs`, `wall_time`, `jobs`, `budget`,
    `stopped`, `session.incumbent`, `session.trajectory` and the whole `history`. The verdict that
    follows a search has a driver of its own, whose `purpose` is "verdict".
    """

    def started(self, driver: "Driver") -> None:
        """The driver is about to begin."""

    def ran(self, driver: "Driver") -> None:
        """A run was answered, from the store or by the target."""

    def improved(self, driver: "Driver", point: Point) -> None:
        """There is a new incumbent."""

    def notice(self, text: str) -> None:
        """Something that the user should know."""

    def interrupting(self, text: str) -> None:
        """The search will stop soon. Called inside a signal handler, which may have interrupted
        a print: what it writes must not go through a buffer."""

    def ended(self, driver: "Driver") -> None:
        """The driver is done; `driver.stopped` says why."""
