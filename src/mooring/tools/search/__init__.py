"""Which tools serve a request: words go in, tools come out, best first."""
