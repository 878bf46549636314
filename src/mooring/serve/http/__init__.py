"""Clients over streamable HTTP: requests to one address go in, messages and streams of messages come out."""
