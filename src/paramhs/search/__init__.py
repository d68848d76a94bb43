"""How to search: operators, comparisons, configurators. No clock, no file, no process."""
