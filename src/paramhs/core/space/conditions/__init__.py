"""Conditions and forbidden combinations of parameters."""
