"""Other configurators, on the same real targets and with the same number of runs."""
