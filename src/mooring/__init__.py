"""Mooring: every MCP server you have configured, in any coding tool, from one place."""
