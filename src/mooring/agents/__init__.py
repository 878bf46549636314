"""An agent: a history and tools go in, a model answers and calls, turn events and a longer history come out."""
