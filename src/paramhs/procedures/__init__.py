"""Procedures that make runs: validate, simplify, check, try values."""
