"""Exact laws: how long a search takes, and on what landscapes."""
