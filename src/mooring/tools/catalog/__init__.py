"""What can be called: the tools of all servers go in, one shown name for each comes out, and what it costs."""
