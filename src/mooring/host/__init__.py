"""Many servers as one: what `mooring.open` was given goes in; tools, calls and events of all servers come out."""
