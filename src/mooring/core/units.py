"""The one unit that sizes are written in."""

MIB = 1024 * 1024
