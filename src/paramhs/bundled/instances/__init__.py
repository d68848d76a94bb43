"""Problem instances: formulas read from files, and generated families."""
