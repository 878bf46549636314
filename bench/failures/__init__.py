"""What five clients make of servers that fail: `make failures` writes docs/results/clients.md."""
