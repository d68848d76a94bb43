"""SAPS, a local search for satisfiability whose parameters are worth tuning: a built-in target.

    tune(Saps(steps=10_000), SPACE, instances=["a.cnf", "b.cnf"], budget=500)

or in a scenario file `function = "paramhs.world.targets.saps:saps"`, with paths as instances.

Sources: Hutter, Tompkins, Hoos, "Scaling and Probabilistic Smoothing: Efficient Dynamic Local
Search for SAT", CP 2002; UBCSAT 1.1.0 (Tompkins, Hoos, SAT 2004), which the paper's scenario runs,
and which is followed where it differs.
"""

from paramhs.values.errors import BadInput

try:
    from paramhs.world.targets.saps.arrays import encoded
    from paramhs.world.targets.saps.solving import (
        SMOOTHINGS,
        Outcomes,
        Settings,
        Smoothing,
        flips,
        solve,
    )
    from paramhs.world.targets.saps.target import SPACE, Saps, saps
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
