"""Changes of a program or of instances, detected or accepted in a store."""

from collections.abc import Mapping
from pathlib import Path

from paramhs.core.errors import StoreError
from paramhs.execution.storage import SEARCH
from paramhs.execution.storage.connections import reading
from paramhs.execution.storage.identities import ACCEPTED, compare, refusal, when
from paramhs.execution.storage.records import fact, run_counts
from paramhs.execution.subject import Subject


def check_search(store: Path, subject: Subject, accept: bool) -> None:
    """Reject a verdict or simplification of a search that was made with something else."""
    if accept or not store.exists() or store.stat().st_size == 0:
        return
    with reading(store) as db:
        compared, _ = compare(db, SEARCH, subject)
        runs = run_counts(db).get(SEARCH)
        if compared.changes or (runs and not compared.rows):
            raise StoreError(refusal(store, compared, not compared.rows))


def accepted_changes(path: Path) -> tuple[str, ...]:
    """Sentences about the changes that a user accepted in any record of a store."""
    if not path.exists() or path.stat().st_size == 0:
        return ()
    with reading(path) as db:
        entries = [entry for name in run_counts(db) for entry in fact(db, name, ACCEPTED) or []]
    return tuple(dict.fromkeys(map(_sentence, entries)))


def _sentence(entry: Mapping[str, object]) -> str:
    at, changed = entry["at"], entry["changed"]
    if not isinstance(at, int | float) or not isinstance(changed, list):
        raise ValueError("an accepted change without a time or a text")
    return f"Changed, and accepted on {when(at)}: {'; '.join(map(str, changed))}."
