"""Comparisons, which decide between two configurations and how many runs that takes."""

from paramhs.search.comparison.comparison import Comparison
from paramhs.search.comparison.fixed_runs import FixedRuns
from paramhs.search.comparison.focused import Focused
from paramhs.search.comparison.fresh_runs import FreshRuns
from paramhs.search.comparison.growing import Growing

__all__ = ["Comparison", "FixedRuns", "Focused", "FreshRuns", "Growing"]
