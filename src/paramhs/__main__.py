"""`python -m paramhs` is `paramhs`."""

from paramhs.cli import main

main()
