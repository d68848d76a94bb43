"""What every entry of the catalogue of solvers is held to."""
