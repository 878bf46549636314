"""What can be called: the tools of all servers go in, a unique name for each, and what it costs to show, comes out."""
