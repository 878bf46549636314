"""AGENTS.md, CLAUDE.md and what they import: a folder goes in, what the files say comes out, each with its origin."""
