"""Programs that never outlive us: a command and an environment go in, pipes and an exit come out."""
