"""Finds the tools for a request: words go in, tools come out, the best first."""
