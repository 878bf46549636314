"""`python -m mooring.testing FAULT [SIZE]`."""

from mooring.testing.faults import main

main()
