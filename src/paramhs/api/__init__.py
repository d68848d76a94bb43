"""How people reach it: Python, scenario files, the command line."""
