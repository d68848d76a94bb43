"""The catalogue of solvers: what can be tuned in each, read from the installed version."""

from paramhs.solvers.derive import Derived
from paramhs.solvers.entry import Entry, entry_of, names
from paramhs.solvers.installation import Installation, find
from paramhs.solvers.solver import Solver, get

__all__ = ["Derived", "Entry", "Installation", "Solver", "entry_of", "find", "get", "names"]
