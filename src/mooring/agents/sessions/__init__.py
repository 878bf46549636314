"""Conversations on disk: what is said and done goes in as it happens, and comes out so that it can go on."""
