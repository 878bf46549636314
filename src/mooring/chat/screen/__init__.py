"""The chat on a whole screen: events of a conversation go in, lines of a terminal come out."""
