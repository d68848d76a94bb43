"""Coverage of the intervals of the verdict, by simulation."""
