"""Text in, plain data that knows its lines out; and text edited so that every other byte stays as it was."""
