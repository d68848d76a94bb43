"""Exact laws: who wins, how long a search takes, and on what landscapes."""
