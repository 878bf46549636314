"""Attacks on the built product, through the doors that people use; `make attacks` prints what became of each."""
