"""Stored searches read back as the `Result` that `tune` returned, or would return now."""

from pathlib import Path

from paramhs.analysis.capping_savings import saved
from paramhs.formats.space_objects import AnySpace, space_from
from paramhs.procedures.recommendation import is_running, outcome
from paramhs.report.result import Result


def load(path: str | Path, *, space: AnySpace | None = None) -> Result:
    """Load the result of a search from its store, also while the search is running.

    The store is not changed, and the target need not be installed. The result shows the store at
    the moment of the call; load it again to see the progress of a running search.

    Args:
        path: The store that was given to `tune`, such as "runs.sqlite".
        space: The space of the search, as for `tune`. Needed only where its values are objects such
            as `None` or functions and the target is run again: a store has their names.

    Returns:
        What `tune` returned, or would return now. Its instances have names only.

    Raises:
        StoreError: The file is not the store of a search.

    Examples:
        >>> import paramhs, tempfile
        >>> store = tempfile.mkdtemp() + "/runs.sqlite"
        >>> found = paramhs.tune(lambda c: c["x"], {"x": range(9)}, budget=20, store=store)
        >>> paramhs.load(store).best == found.best
        True
    """
    from paramhs.execution.storage.load import (  # sqlite3 only where it is needed
        read_record,
        uncollected,
    )

    store = Path(path)
    given = None if space is None else space_from(space)
    running = is_running(store)
    with uncollected():
        record = read_record(store, given)
        verdict = outcome(record, store, running=running)
        return Result(record, verdict, store, saved(record.runs), running)
