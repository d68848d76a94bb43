"""SAPS, a local search for satisfiability with parameters to tune: the built-in target.

    tune(Saps(steps=10_000), SPACE, instances=["a.cnf", "b.cnf"], budget=500)

or in a scenario file `function = "paramhs.bundled.saps:saps"`, with paths as instances.

Sources: Hutter, Tompkins, Hoos, "Scaling and Probabilistic Smoothing: Efficient Dynamic Local
Search for SAT", CP 2002; UBCSAT 1.1.0 (Tompkins, Hoos, SAT 2004), which the paper's scenario runs,
and which is followed where it differs.
"""

from paramhs.core.errors import BadInput

try:
    from paramhs.bundled.saps.arrays import encoded
    from paramhs.bundled.saps.solving import (
        SMOOTHINGS,
        Outcomes,
        Settings,
        Smoothing,
        flips,
        solve,
    )
    from paramhs.bundled.saps.target import SPACE, Saps, saps
except ModuleNotFoundError as missing:
    raise BadInput(f'SAPS needs {missing.name}: pip install "paramhs[landscape]"') from missing

__all__ = [
    "SMOOTHINGS",
    "SPACE",
    "Outcomes",
    "Saps",
    "Settings",
    "Smoothing",
    "encoded",
    "flips",
    "saps",
    "solve",
]
