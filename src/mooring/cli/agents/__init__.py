"""The verbs of `mooring agents`, one file each."""
