"""A way to a server goes in, a live connection comes out."""
