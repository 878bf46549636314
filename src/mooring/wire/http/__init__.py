"""The transports over HTTP, streamable and SSE: an address goes in; whole messages come out, within budgets."""
