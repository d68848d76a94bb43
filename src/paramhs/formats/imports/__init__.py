"""Past searches of other configurators: irace, SMAC3, SMAC 2 and Optuna.

A reader turns a file or folder into an `OtherSearch`: a space, and runs with the values, instances,
seeds and costs that were stored. `translation` makes a scenario and runs of paramhs of it, whose
configurations have exactly the values of the original.
"""

from pathlib import Path

from paramhs.core.errors import BadInput
from paramhs.core.text.numbers import printable
from paramhs.formats.imports.irace_log import is_r_data, read_irace_log
from paramhs.formats.imports.optuna_study import is_sqlite, read_optuna
from paramhs.formats.imports.other_search import OtherRun, OtherSearch, Step
from paramhs.formats.imports.smac2_folder import is_smac2, read_smac2
from paramhs.formats.imports.smac3_folder import is_smac3, read_smac3
from paramhs.formats.imports.translation import Translated, translated

__all__ = ["OtherRun", "OtherSearch", "Step", "Translated", "read_search", "translated"]

_EXPECTED = (
    "expected irace's log (irace.Rdata), SMAC3's output folder or its runhistory.json, a folder"
    " state-run of SMAC 2, or a database of Optuna"
)


def read_search(path: Path, space: Path | None = None, study: str | None = None) -> OtherSearch:
    """Read the search that another program has stored.

    Args:
        path: File or folder of the search.
        space: Parameter file, where the folder has none.
        study: Name of the study, where a database of Optuna has several.
    """
    if not path.exists():
        raise BadInput(f"{printable(str(path))} does not exist; {_EXPECTED}")
    if study is not None and not (path.is_file() and is_sqlite(path)):
        raise BadInput("study names a study of a database of Optuna, and this is none")
    if is_smac3(path):
        return read_smac3(path, space)
    if is_smac2(path):
        return read_smac2(path, space)
    if path.is_file() and space is not None:
        raise BadInput("space is for SMAC only; this file knows its own parameters")
    if path.is_file() and is_sqlite(path):
        return read_optuna(path, study)
    if path.is_file() and is_r_data(path):
        return read_irace_log(path)
    raise BadInput(f"{printable(str(path))} is no search of another program; {_EXPECTED}")
