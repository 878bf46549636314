"""Credentials: a name goes in, and the secret that the person keeps under it comes out."""
