"""The MCP methods in both eras of the protocol: a transport goes in; tools, resources and results come out."""
