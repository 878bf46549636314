"""The chat in plain lines: what a person types goes in, what happens comes out below it."""
