"""Past searches of other programs, stored as searches of paramhs."""

from pathlib import Path
from typing import TYPE_CHECKING

from paramhs.api.load import load
from paramhs.core.arguments import path_of
from paramhs.core.description import IMPORTED
from paramhs.core.errors import BadInput
from paramhs.procedures.recommendation import keep_ending
from paramhs.report.result import Result
from paramhs.search.record import Ending

if TYPE_CHECKING:
    from paramhs.formats.imports import Translated

NO_VERDICT = "the search was imported; `paramhs validate` or `validate` compares configurations."


def import_search(
    path: str | Path,
    store: str | Path,
    *,
    space: str | Path | None = None,
    study: str | None = None,
) -> Result:
    """Store a search that irace, SMAC3, SMAC 2 or Optuna has made.

    The store can be shown, reported, exported and used as `warm_start`. Configurations keep exactly
    their values. The store cannot be resumed: the other program would have to continue.

    Args:
        path: irace's log (irace.Rdata), SMAC3's output folder or its runhistory.json, a folder
            state-run of SMAC 2, or an SQLite database of Optuna.
        store: New file for the store.
        space: Parameter file, where SMAC's folder has none.
        study: Name of the study, where a database of Optuna has several.

    Returns:
        The search as a `Result`.

    Raises:
        BadInput: The file is no search of these programs, or the store exists.

    Examples:
        >>> import optuna, paramhs, tempfile
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> folder = tempfile.mkdtemp()
        >>> study = optuna.create_study(storage=f"sqlite:///{folder}/optuna.db")
        >>> study.optimize(lambda trial: trial.suggest_float("x", 0, 1) ** 2, n_trials=20)
        >>> result = paramhs.import_search(f"{folder}/optuna.db", f"{folder}/runs.sqlite")
        >>> len(result.runs)
        20
    """
    out = path_of(store, "store")
    if out.exists():
        raise BadInput(f"{out} exists; an import needs a new file")
    source = path_of(path, "path")
    from paramhs.formats.imports import read_search, translated  # only where they are needed

    search = read_search(source, None if space is None else path_of(space, "space"), study)
    _write(translated(search), search.program, search.seed, source, out)
    return load(out)


def notes_of(result: Result) -> list[str]:
    """Sentences about what an import left out or read differently; empty for other searches."""
    about = result.record.target.get(IMPORTED)
    return [str(note) for note in about.get("notes", ())] if isinstance(about, dict) else []


def _write(made: "Translated", program: str, seed: int, source: Path, out: Path) -> None:
    """Write the store; nothing remains of one that could not be written whole."""
    described = {
        "scenario": made.scenario.describe(),
        "target": {
            "kind": f"imported from {program}",
            IMPORTED: {"program": program, "file": source.name, "notes": [*made.notes]},
        },
        "configurator": {"kind": program},
        "seed": seed,
    }
    from paramhs.execution.storage.sqlite import SqliteStore  # sqlite3 only where it is needed

    opened = SqliteStore(out, made.scenario.space, described)
    try:
        for number, (run, ended) in enumerate(zip(made.runs, made.ended, strict=True)):
            opened.put_past(run, number, ended)
        for position, point in enumerate(made.trajectory):
            opened.record(position, point)
        opened.close()
        keep_ending(out, Ending(f"imported from {program}", NO_VERDICT))
    except BaseException:
        opened.close()
        out.unlink(missing_ok=True)
        raise
