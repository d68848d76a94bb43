"""Scenario files: TOML, or those of AClib, ParamILS, SMAC and irace; every error with its line."""

from pathlib import Path

from paramhs.faces.scenario_file.aclib import read_aclib
from paramhs.faces.scenario_file.building import Parsed, ScenarioFile, build, build_space
from paramhs.faces.scenario_file.initial import read_configs
from paramhs.faces.scenario_file.irace import is_irace, read_irace_scenario
from paramhs.faces.scenario_file.models import seconds
from paramhs.faces.scenario_file.source import Source, parse_toml, read_text, toml_lines
from paramhs.values.space.formats import SpaceFile

__all__ = ["ScenarioFile", "read_configs", "read_scenario", "read_scenario_space", "seconds"]


def read_scenario(path: Path) -> ScenarioFile:
    """Read a scenario file; `BadInput` lists all that is wrong with it."""
    text = read_text(path)
    kind = path.suffix.lower()
    if kind != ".toml" and is_irace(text):
        return build(read_irace_scenario(path, text))
    if kind == ".txt":
        return build(read_aclib(path, text))
    return build(_parsed(path, text))


def read_scenario_space(path: Path) -> SpaceFile:
    """Read the space alone of a scenario in TOML; neither target nor instances need be there."""
    return build_space(_parsed(path, read_text(path)))


def _parsed(path: Path, text: str) -> Parsed:
    return Parsed(parse_toml(path, text), Source(path, toml_lines(text)), [path.parent])
