"""The chat: what a person types goes in, what happens is shown. Nothing here decides what may be called."""
