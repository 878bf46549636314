"""The tools of a conversation: what servers offer goes in, what a model or a person is shown and can call comes out."""
