"""The unit that sizes are written in, and a span of time that several parts share."""

MIB = 1024 * 1024

OFFER_LIFE = 30 * 24 * 3600.0
"""Seconds for which what a server offered is kept, however long the server says it may be."""
