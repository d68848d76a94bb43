"""`python -m paramhs` is `paramhs`."""

from paramhs.faces.cli import main

main()
