"""Sub-agents: a task goes in by the tool `Agent`, another conversation works on it, and its answer comes out."""
