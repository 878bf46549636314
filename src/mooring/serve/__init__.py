"""The other side of the wire: requests of MCP clients go in, what all servers answer comes out, as from one server."""
