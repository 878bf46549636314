"""The verbs of `mooring sessions`, one file each."""
