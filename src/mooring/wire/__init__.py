"""Talking to one server: a configured command or address goes in, MCP messages and the fate of its process come out."""
