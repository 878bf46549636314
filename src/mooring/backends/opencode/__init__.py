"""OpenCode as a backend: in goes what the person says, out come turn events, by way of the server that it brings."""
