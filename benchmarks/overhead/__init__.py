"""What paramhs itself costs: a run, a proposal, a page, a store, a step of SAPS."""
