"""A laboratory: real solvers, tables of their runs, and surrogates on which a search is quick."""
