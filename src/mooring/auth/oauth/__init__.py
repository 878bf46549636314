"""OAuth 2.1 as MCP uses it, without I/O: what to send, what to expect, and what to refuse."""
