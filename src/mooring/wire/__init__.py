"""Talking to one server: bytes go in and out; tools, results and typed errors come out."""
