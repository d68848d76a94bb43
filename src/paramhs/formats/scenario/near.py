"""The scenario file that a store belongs to, found beside it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.formats.scenario import ScenarioFile, read_scenario

_SCENARIOS = ("*.toml", "*.txt")


def scenario_of(store: Path) -> ScenarioFile | None:
    """Scenario with the store's name, or that names the store as its own; None if none is near."""
    for path in _scenarios_near(store):
        with suppress(BadInput):
            found = read_scenario(path)
            if path.stem == store.stem or found.store.resolve() == store.resolve():
                return found
    return None


def _scenarios_near(store: Path) -> Iterator[Path]:
    """Scenario files in the folder of a store and the one above, those with its name first."""
    folder = store.absolute().parent
    found = [
        path for f in (folder, folder.parent) for p in _SCENARIOS for path in sorted(f.glob(p))
    ]
    yield from sorted(found, key=lambda path: path.stem != store.stem)
