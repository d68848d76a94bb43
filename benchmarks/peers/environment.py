"""Where the peers are installed: in a folder of their own, never beside paramhs."""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FOLDER = ROOT / ".venv-peers"
PYTHON = FOLDER / "bin" / "python"
SPARKLE = "SparkleAI==0.9.3.2"
"""The package that has ParamILS's source in it."""
PARAMILS = FOLDER / "paramils2.3.8-source" / "param_ils_2_3_run.rb"


def set_up() -> None:
    """Make what is not there."""
    if not PYTHON.exists():
        venv.create(FOLDER, with_pip=True)
    _pip("install", "--quiet", "--requirement", str(HERE / "requirements.txt"))
    if not PARAMILS.exists():
        _unpack_paramils()


def _pip(*words: str) -> None:
    subprocess.run([str(PYTHON), "-m", "pip", *words], check=True)


def _unpack_paramils() -> None:
    _pip("download", "--quiet", "--no-deps", "--dest", str(FOLDER), SPARKLE)
    (wheel,) = FOLDER.glob("sparkleai-*.whl")
    archive = "sparkle/Components/paramils2.3.8-source.tgz"
    with (
        zipfile.ZipFile(wheel) as package,
        package.open(archive) as stream,
        tarfile.open(fileobj=stream) as source,
    ):
        source.extractall(FOLDER, filter="data")
    wheel.unlink()


def versions() -> str:
    """What is here, for the record."""
    words = [str(PYTHON), "-m", "pip", "freeze"]
    frozen = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    wanted = ("smac", "optuna", "configspace")
    lines = [line for line in frozen.splitlines() if line.lower().startswith(wanted)]
    return ", ".join([f"Python {sys.version.split()[0]}", *lines])
