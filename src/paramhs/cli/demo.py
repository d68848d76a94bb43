"""The embedded example: the mutation rate of the (1+1) EA on LeadingOnes."""

from paramhs.costs import Quality
from paramhs.driver import Watcher
from paramhs.targets.leading_ones import SPACE, leading_ones
from paramhs.tuning import Result, tune

METRIC = Quality(maximise=True)
RUNS = 20_000

INTRODUCTION = """\
The (1+1) EA flips each of 50 bits with probability chi / 50 and keeps what is
not worse. Which of 50 values of chi reaches the most leading ones in 2,500
steps? The best known is chi = 1.6; the default is the middle of the range.
"""


def run(watcher: Watcher, seed: int) -> Result:
    """Tune it."""
    return tune(leading_ones, SPACE, budget=RUNS, cost=METRIC, seed=seed, watcher=watcher)
