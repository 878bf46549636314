"""Command files and skills: a folder goes in, what can be typed behind a slash comes out, and how it is filled in."""
