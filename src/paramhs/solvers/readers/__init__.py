"""Readers of the lists of options that solvers print: one function for each format.

A reader is given the text and returns the options in the order of the list. What it cannot read is
`BadInput` with the number of the line and the line itself: an entry never falls back on a list of
names that was written down for another version.
"""

from collections.abc import Callable, Mapping, Sequence

from paramhs.solvers.options import Option
from paramhs.solvers.readers.cadical_help import read_cadical_help
from paramhs.solvers.readers.clasp_help import read_clasp_help
from paramhs.solvers.readers.cryptominisat_help import read_cryptominisat_help
from paramhs.solvers.readers.glpsol_help import read_glpsol_help
from paramhs.solvers.readers.json_records import read_json_records
from paramhs.solvers.readers.kissat_range import read_kissat_range
from paramhs.solvers.readers.minisat_help import read_minisat_help
from paramhs.solvers.readers.parameter_comments import read_parameter_comments
from paramhs.solvers.readers.z3_parameters import read_z3_parameters

READERS: Mapping[str, Callable[[str], Sequence[Option]]] = {
    "cadical-help": read_cadical_help,
    "clasp-help": read_clasp_help,
    "cryptominisat-help": read_cryptominisat_help,
    "glpsol-help": read_glpsol_help,
    "json-records": read_json_records,
    "kissat-range": read_kissat_range,
    "minisat-help": read_minisat_help,
    "parameter-comments": read_parameter_comments,
    "z3-parameters": read_z3_parameters,
}
"""Readers by the name that entries use."""
