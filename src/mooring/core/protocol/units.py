"""The unit that sizes are written in, and figures that several parts share."""

MIB = 1024 * 1024

BYTES_PER_TOKEN = 4
"""About how many bytes of text a model counts as one token."""

OFFER_LIFE = 30 * 24 * 3600.0
"""Seconds for which what a server offered is kept, however long the server says it may be."""
