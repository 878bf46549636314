"""How to talk to each API: a request for a model becomes the body of one over HTTP, and its events become a reply."""
