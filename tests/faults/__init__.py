"""The table of faults: each promise, what happened just now, and what other clients did with the same fault."""
