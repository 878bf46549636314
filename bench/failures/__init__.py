"""What five clients make of servers that fail: `make failures` writes docs/clients.md."""
