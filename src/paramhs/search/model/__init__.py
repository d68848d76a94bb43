"""Models learned from a history: which values of which parameters cost less."""
