"""Claude Code as a backend: its program, started by our guard, and what it says as the events of a turn."""

from mooring.backends.claude.opening import open_claude

__all__ = ["open_claude"]
