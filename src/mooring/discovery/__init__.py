"""Configuration files go in; every definition of a server, and every problem, comes out. Nothing is started."""
