"""Who decides in a conversation what is called: a request and tools go in, calls and words come out."""
