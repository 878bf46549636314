"""The verbs of `mooring secret`, one file each: names go in, and never a value comes out."""
