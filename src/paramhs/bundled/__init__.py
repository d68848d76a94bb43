"""Bundled content: SAPS and instance generators."""
