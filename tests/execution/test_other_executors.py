"""Executors of other packages: the code of docs/how-to/executors.md, where they are installed."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.children import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "executors.md"
SCRIPTS = dict(re.findall(r"^```python\n# (\w+)\.py\n(.*?)^```$", PAGE.read_text(), re.M | re.S))
PACKAGES = {
    "with_loky": "loky",
    "with_mpi": "mpi4py",
    "with_ray": "ray",
    "with_joblib": "joblib",
}
ON_MPI = ["mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
# Open MPI refuses to start as root, as in a container, and on fewer cores than processes.
ALLOWED = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def test_every_script_of_the_page_is_run():
    assert SCRIPTS.keys() == PACKAGES.keys() | {"bench"}


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKAGES)
def test_a_script_of_the_page_finds_the_best_configuration(name, tmp_path):
    if importlib.util.find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} is not installed")
    if name == "with_mpi" and shutil.which("mpiexec") is None:
        pytest.skip("there is no mpiexec")
    for script, code in SCRIPTS.items():
        tmp_path.joinpath(f"{script}.py").write_text(code)
    words = ON_MPI if name == "with_mpi" else [sys.executable]
    # Into files: what an executor leaves behind would keep a pipe open.
    with open(tmp_path / "out", "w+") as out, open(tmp_path / "errors", "w+") as errors:
        subprocess.run(
            [*words, f"{name}.py"],
            cwd=tmp_path,
            env={**os.environ, **ALLOWED, "PYTHONPATH": str(tmp_path)},
            stdout=out,
            stderr=errors,
            timeout=5 * PATIENCE,
            check=False,
        )
        printed, said = (file.seek(0) or file.read() for file in (out, errors))
    if "timed out during startup" in said:  # Ray's own limit, on a busy machine
        pytest.skip("Ray did not start in time")
    assert printed.strip().endswith("x=3"), said
