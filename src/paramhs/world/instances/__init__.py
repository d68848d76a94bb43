"""Problem instances: formulas read from files, and families of generated instances."""
