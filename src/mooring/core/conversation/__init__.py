"""What happens in a conversation, as values: calls, events, turns, questions, verdicts and outcomes."""
