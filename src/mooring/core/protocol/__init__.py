"""What MCP carries, as values: tools, results, content, limits and how connections end."""
