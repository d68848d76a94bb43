"""Scenario files: TOML, or AClib's scenario.txt; checked as a whole, every error with its line."""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from paramhs.faces.scenario_file.aclib import read_aclib
from paramhs.faces.scenario_file.building import Builder, ScenarioFile
from paramhs.faces.scenario_file.models import File, seconds
from paramhs.faces.scenario_file.places import Places, TomlPlaces, line_of
from paramhs.values.errors import BadInput

__all__ = ["ScenarioFile", "line_of", "read_scenario", "seconds"]


def read_scenario(path: Path) -> ScenarioFile:
    """Read a scenario file; `BadInput` lists all that is wrong with it."""
    text = _text_of(path)
    if path.suffix.lower() == ".txt":
        said, places, folders = read_aclib(path, text)
        return _built(said, places, folders)
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: {error}") from None
    return _built(parsed, TomlPlaces(path, text), [path.parent])


def _built(parsed: dict[str, object], places: Places, folders: list[Path]) -> ScenarioFile:
    try:
        file = File.model_validate(parsed)
    except ValidationError as error:
        rest = Builder(places, folders).problems_of(parsed)
        raise BadInput("\n".join([places.explained(error), *rest])) from None
    return Builder(places, folders).built(file)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"cannot read {path}: it is not UTF-8 text ({error})") from None
