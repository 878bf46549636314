"""Who decides in a conversation which tools to call: a request and tools go in, calls and an answer come out."""
