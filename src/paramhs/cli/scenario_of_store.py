"""The scenario file of a store, found near it."""

from contextlib import suppress
from pathlib import Path

from paramhs.core.errors import BadInput, StoreError
from paramhs.formats.scenario import ScenarioFile, read_scenario
from paramhs.formats.scenario.near import scenario_of

_MAGIC = b"SQLite format 3\0"


def find_scenario(file: Path, store: Path | None, command: str) -> tuple[ScenarioFile, Path]:
    """Find a scenario and its store, given either; `command` is for messages."""
    if not _is_store(file):
        scenario_file = read_scenario(file)
        return scenario_file, store or scenario_file.store
    if not file.exists():
        raise StoreError(f"there is no store {file}")
    if store is not None:
        raise BadInput(f"{file} is itself a store; name the scenario, or omit --store")
    scenario_found = scenario_of(file)
    if scenario_found is not None:
        return scenario_found, file
    raise BadInput(
        f"no scenario near {file} names it as its store; name the scenario:"
        f" paramhs {command} SCENARIO --store {file}"
    )


def _is_store(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC
    return path.suffix == ".sqlite"
