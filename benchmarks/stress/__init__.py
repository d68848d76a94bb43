"""Hostile programs, kills, faults of a cluster and fuzzed inputs."""
