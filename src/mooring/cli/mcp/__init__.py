"""The verbs of `mooring mcp`, one file each: a name and options go in, lines or JSON come out."""
