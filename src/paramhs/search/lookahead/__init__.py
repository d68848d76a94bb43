"""Looking ahead: the runs that a search will probably ask for."""
