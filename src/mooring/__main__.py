"""`python -m mooring`."""

from mooring.cli import main

main()
