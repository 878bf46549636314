"""What can be typed behind `/mcp`: a verb and its words go in, lines of text come out."""
