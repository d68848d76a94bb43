"""The files that `paramhs init` writes."""
