"""Exact laws: outcomes of comparisons, hitting times of searches, and shapes of landscapes."""
