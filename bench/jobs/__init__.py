"""Fifteen jobs that people do with MCP servers, done with five command lines: what each needs, and what it says."""
