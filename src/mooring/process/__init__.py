"""Programs that are never left behind: a command and an environment go in, pipes and an exit come out."""
