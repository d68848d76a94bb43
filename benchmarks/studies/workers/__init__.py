"""How many workers a search keeps busy, in virtual time."""
