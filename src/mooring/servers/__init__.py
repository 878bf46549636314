"""Servers: approved definitions go in, live connections that repair themselves come out."""
