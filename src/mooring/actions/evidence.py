"""What is known of a server that could not be connected: why, what its process was not given, and what it wrote."""

from mooring.display.text import safe
from mooring.errors import MOST_NAMED, MooringError, ServerDied, ServerError


def describe_failed_connection(name: str, error: ServerError) -> str:
    """That a server could not be connected, and why."""
    return f'Failed to connect to "{safe(name)}": {safe(str(error).removeprefix(f"{name}: "))}'


def describe_withheld(error: MooringError) -> str:
    """The variables that a server's process was not given and may need; empty if that cannot be why it failed."""
    # Once a server takes calls it has what it needs to start, and some messages name the variables themselves.
    if not isinstance(error, ServerError) or error.stage == "call" or "not given" in str(error):
        return ""
    names = ", ".join(error.withheld[:MOST_NAMED])
    return f"It was not given {names}" if names else ""


def list_output(error: MooringError) -> list[str]:
    """What a server's process wrote last, marked as its own words."""
    # The message of a server that died already ends with its last line.
    is_told = isinstance(error, ServerDied) and len(error.stderr) == 1
    if is_told or not isinstance(error, ServerError):
        return []
    return [f"| {line}" for line in error.stderr]
