"""GitHub Copilot as a backend: its program, started by our guard, and what it says as the events of a turn."""
