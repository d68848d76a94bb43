"""Which of two configurations is better, and how many runs that takes."""

from paramhs.comparison.contest import Comparison, Contest
from paramhs.comparison.fixed_runs import FixedRuns
from paramhs.comparison.fresh_runs import FreshRuns
from paramhs.comparison.growing import Growing

__all__ = ["Comparison", "Contest", "FixedRuns", "FreshRuns", "Growing"]
