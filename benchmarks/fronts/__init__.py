"""Searches with two costs, beside Optuna's and SMAC3's."""
