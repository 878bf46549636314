"""What the screen of a chat costs: programs at pseudo-terminals, their keys and frames, and what they take for them."""
