"""Execution: targets, storage, workers, and the driver loop; the only layer with side effects."""
