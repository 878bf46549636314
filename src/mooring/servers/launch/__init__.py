"""Launching: an approved definition goes in, a command to start or an endpoint to reach comes out.

Nothing in here knows of servers, sessions or hosts.
"""
