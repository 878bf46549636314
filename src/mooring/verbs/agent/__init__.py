"""The verbs in which a model or another agent answers: a prompt goes in, events and an answer come out."""
