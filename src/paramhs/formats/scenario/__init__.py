"""Scenario files in TOML and those of AClib, ParamILS, SMAC and irace; errors name the line."""

from pathlib import Path

from paramhs.formats.scenario.aclib import read_aclib
from paramhs.formats.scenario.build import Parsed, ScenarioFile, build, build_space
from paramhs.formats.scenario.initial import read_configs
from paramhs.formats.scenario.irace import is_irace, read_irace_scenario
from paramhs.formats.scenario.source_map import Source, parse_toml, read_text, toml_lines
from paramhs.formats.space_files import SpaceFile

__all__ = ["ScenarioFile", "read_configs", "read_scenario", "read_scenario_space"]


def read_scenario(path: Path) -> ScenarioFile:
    """Read a scenario file.

    Raises:
        BadInput: The message lists every problem in the file.
    """
    text = read_text(path)
    kind = path.suffix.lower()
    if kind != ".toml" and is_irace(text):
        return build(read_irace_scenario(path, text))
    if kind == ".txt":
        return build(read_aclib(path, text))
    return build(_parsed(path, text))


def read_scenario_space(path: Path) -> SpaceFile:
    """Read only the space of a TOML scenario; its target and instances need not exist."""
    return build_space(_parsed(path, read_text(path)))


def _parsed(path: Path, text: str) -> Parsed:
    return Parsed(parse_toml(path, text), Source(path, toml_lines(text)), [path.parent])
