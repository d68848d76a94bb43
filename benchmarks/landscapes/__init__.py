"""Landscapes of single parameters of real solvers, and the operators that suit them."""
