"""GitHub Copilot as a backend: its program, started by our guard, and what it says as the events of a turn."""

from mooring.backends.copilot.backend import CopilotBackend, open_copilot

__all__ = ["CopilotBackend", "open_copilot"]
