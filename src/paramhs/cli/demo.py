"""The embedded example: the mutation rate of the (1+1) EA on LeadingOnes."""

from pathlib import Path

from paramhs.costs import Quality
from paramhs.driver import Watcher
from paramhs.errors import BadInput
from paramhs.targets.leading_ones import SPACE, leading_ones
from paramhs.tuning import Result, tune

METRIC = Quality(maximise=True)
RUNS = 20_000

INTRODUCTION = """\
The (1+1) EA flips each of 50 bits with probability chi / 50 and keeps what is
not worse. Which of 50 values of chi reaches the most leading ones in 2,500
steps? The best known is chi = 1.6; the default is the middle of the range.
"""

SCENARIO = """\
# A scenario: what to tune, on what, and for how long.   paramhs tune {folder}/scenario.toml
function = "target:leading_ones"   # module:function, looked for beside this file
cost = "maximise"                  # or "minimise", "runtime", ...
seed = 0
jobs = 1

[space.chi]
type = "real"                      # or "integer", "ordinal", "categorical", "boolean"
low = 0.6
high = 25.1
levels = 50

[budget]
runs = 20000                       # and/or target_time = "10 min", wall_time = "1 h"

[configurator]
name = "paramhs"                   # or "paramrls", "paramils", "random"
"""

TARGET = '''\
"""The function to tune: it takes a configuration and a seed and returns a number."""

from random import Random


def leading_ones(config, seed):
    """Leading ones that the (1+1) EA has after 2,500 steps on 50 bits."""
    rng = Random(seed)
    rate = config["chi"] / 50
    bits = [rng.random() < 0.5 for _ in range(50)]
    fitness = leading(bits)
    for _ in range(2500):
        child = [bit != (rng.random() < rate) for bit in bits]
        if leading(child) >= fitness:
            bits, fitness = child, leading(child)
    return fitness


def leading(bits):
    return bits.index(False) if False in bits else len(bits)
'''


def run(watcher: Watcher, seed: int) -> Result:
    """Tune it."""
    return tune(leading_ones, SPACE, budget=RUNS, cost=METRIC, seed=seed, watcher=watcher)


def write(folder: Path) -> list[Path]:
    """Put the example into a folder, as files to start from; never over what is there."""
    files = {"scenario.toml": SCENARIO.format(folder=folder), "target.py": TARGET}
    paths = [folder / name for name in files]
    for path in paths:
        if path.exists():
            raise BadInput(f"{path} exists already; give another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, files.values(), strict=True):
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write into {folder}: {error.strerror}") from None
    return paths
